"""A worker, and a whole system, as pid 1 of a container: nobody else is there to reap, and its end is everybody's."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.e2e.conftest import MakeFleet
from tests.e2e.fleet import AGENT, Fleet
from tests.e2e.hosts import Host
from tests.e2e.launcher import ORCHESTRATOR
from tests.waiting import until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

UNSHARE = ("unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc")
# What `docker stop` gives a container unless it is told otherwise; Compose gives ours more.
GRACE_SECONDS = 10

# Names its session, and leaves a process behind that is nobody's child, and one that ends as such.
TALKER = r"""
echo '{"type":"session","session":"s-1"}'
(setsid sleep 0.2 &) ; (setsid sleep 600 &)
"""
PROGRAMS = {
    "worker": [sys.executable, "-m", "celery", "-A", "orchestrator", "worker", "--loglevel=info"],
    "up": [*ORCHESTRATOR, "up", "--slots", "2"],
}


@pytest.fixture(params=PROGRAMS)
def container(request: pytest.FixtureRequest, make_fleet: MakeFleet) -> tuple[Fleet, Host]:
    """A program of ours as pid 1 of a pid namespace, with an agent at work in it."""
    if subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not make a pid namespace")
    fleet = make_fleet(1, steps=600)
    (fleet.folder / "agent.sh").write_text(TALKER + AGENT)
    with (fleet.folder / "one.log").open("wb") as log:
        process = subprocess.Popen(
            [*UNSHARE, *PROGRAMS[request.param]],
            cwd=fleet.folder,
            env=fleet.environment({}),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    fleet.processes["one"] = process
    if request.param == "worker":
        fleet.beat()
    until(lambda: fleet.count(1, "step") > 3, timeout_seconds=90, what="an agent in mid-turn")
    return fleet, Host("one", process)


def states(host: Host) -> dict[int, str]:
    """Each process of the container, with the kernel's letter: Z is one that ended and that nobody has reaped."""
    found = {}
    for pid in host.pids():
        try:
            found[pid] = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue  # reaped just now
    return found


def supervisor(host: Host) -> int:
    """The supervisor of the turns in it, as numbered out here."""
    [found] = [pid for pid in host.pids() if b"supervise" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return found


def turns(fleet: Fleet) -> list[tuple[object, ...]]:
    """How each turn ended, and the session that the next one would go on with."""
    with psycopg.connect(fleet.database_url.replace("+psycopg", "")) as look:
        return look.execute(
            "select turn.status, turn.stop_reason, item.session from turn join item on item.key = turn.item_key"
            " order by turn.fence"
        ).fetchall()


@pytest.mark.proves("SR-06", "RT-11", "H5", "S3")
def test_pid_one_reaps_what_is_left_and_hands_its_turns_back(container: tuple[Fleet, Host]) -> None:
    """A killed supervisor leaves its agents to pid 1: none stays a zombie. SIGTERM ends all of it in time."""
    fleet, host = container
    os.kill(supervisor(host), signal.SIGKILL)
    until(lambda: fleet.count(1, "start") == 2, timeout_seconds=60, what="a second agent, under a new supervisor")
    until(lambda: "Z" not in states(host).values(), timeout_seconds=60, what="no zombie")
    seen = fleet.count(1, "step")
    until(lambda: fleet.count(1, "step") > seen + 3, timeout_seconds=30, what="the second agent in mid-turn")
    inside = host.pids()
    os.kill(host.first, signal.SIGTERM)
    assert host.process.wait(GRACE_SECONDS) == 0
    assert [pid for pid in inside if Path(f"/proc/{pid}").exists()] == []
    assert turns(fleet)[-1] == ("cancelled", "deploy", "s-1")
    assert fleet.count(1, "end") == 0
