"""A turn that cannot hurt, with real processes: hooks, kept work, a removal after death, by plain Celery workers."""

import os
import subprocess
import sys

import psycopg
import pytest

from tests.e2e.conftest import MakeFleet
from tests.e2e.fleet import AGENT, Fleet
from tests.e2e.launcher import ORCHESTRATOR
from tests.waiting import until

pytestmark = pytest.mark.e2e

HOOKS = {
    "after_create": "echo created >> ../../hooks.txt",
    "before_run": "echo half done > half.txt; echo before >> ../../hooks.txt",
    "after_run": "echo after >> ../../hooks.txt",
    "before_remove": "ls >> ../../removed.txt",
}


@pytest.mark.proves("HK-01", "HK-04", "HK-09", "WS-11", "WS-12", "FS-31")
def test_a_card_closed_in_mid_turn_loses_its_workspace_and_no_work(make_fleet: MakeFleet) -> None:
    """The agent dies, the hooks run, the half-done file is in a commit that the card names, the worktree is gone."""
    fleet = make_fleet(1, steps=600, hooks=HOOKS)
    fleet.worker()
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3, timeout_seconds=30, what="an agent in mid-turn")
    fleet.drag(1, "Done")
    until(lambda: not fleet.agents(1), timeout_seconds=20, what="the agent's death")
    until(lambda: not list((fleet.folder / "workspaces").glob("T-*")), timeout_seconds=30, what="the workspace gone")
    assert (fleet.folder / "hooks.txt").read_text().split() == ["created", "before", "after"]
    assert "half.txt" in (fleet.folder / "removed.txt").read_text()
    [kept] = fleet.git("for-each-ref", "--format=%(refname)", "refs/stationkeeper/kept").split()
    assert fleet.git("show", f"{kept}:half.txt") == "half done"
    until(lambda: kept in fleet.card_text(1), what="the card names it")
    assert "stationkeeper/" in fleet.git("branch", "--list", "stationkeeper/*")
    assert fleet.state(1) == "Done"


def typed(fleet: Fleet, *words: str) -> tuple[int, str]:
    """A command of ours, typed in the fleet's folder; its exit code and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", "from orchestrator.cli.app import main; main()", *words],
        cwd=fleet.folder,
        env=fleet.environment({"USER": os.environ.get("USER", "robin")}),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).strip()


@pytest.mark.proves("SR-06", "RT-11", "S2")
def test_a_drained_worker_hands_its_turn_back_and_takes_no_more(make_fleet: MakeFleet) -> None:
    """The command ends when the worker is idle; the worker lives, and another one goes on as the same attempt."""
    fleet = make_fleet(1, steps=150)
    first = fleet.worker("w1")
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3, timeout_seconds=30, what="an agent in mid-turn")
    code, said = typed(fleet, "drain", "-m", "deploy")
    assert (code, said.endswith("drained; it takes no turn until it is restarted")) == (0, True)
    assert (first.poll(), fleet.agents(1)) == (None, [])
    assert "since" in next(line for line in typed(fleet, "status")[1].splitlines() if line.startswith("workers"))
    fleet.worker("w2")
    until(lambda: fleet.state(1) == "In Review", timeout_seconds=120, what="the card in review")
    assert (fleet.count(1, "start"), "attempt 2" in fleet.log("w2")) == (2, False)
    assert typed(fleet, "drain", "--worker", "nobody")[0] == 1


@pytest.mark.proves("CL-09", "FS-61")
def test_a_person_stops_an_agent_by_a_command(make_fleet: MakeFleet) -> None:
    """`hold --stop`: its processes are dead within seconds, and nothing starts until `release`."""
    fleet = make_fleet(1, steps=600)
    fleet.worker()
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3, timeout_seconds=30, what="an agent in mid-turn")
    assert typed(fleet, "hold", "T-1", "--stop", "-m", "it runs in circles")[0] == 0
    until(lambda: not fleet.agents(1), timeout_seconds=20, what="the agent's death")
    assert "it runs in circles" in typed(fleet, "explain", "T-1")[1]
    assert typed(fleet, "release", "T-1")[0] == 0
    until(lambda: fleet.count(1, "start") == 2, timeout_seconds=30, what="the next agent")


@pytest.mark.proves("SR-06", "RT-11")
def test_an_agent_that_is_deaf_is_handed_back_by_a_launcher_too(make_fleet: MakeFleet) -> None:
    """It heeds neither SIGINT nor SIGTERM: the launcher waits for as long as its worker needs to end it and say so."""
    fleet = make_fleet(1, steps=6_000)
    (fleet.folder / "agent.sh").write_text("trap '' INT TERM\n" + AGENT)
    with (fleet.folder / "up.log").open("wb") as log:
        words = [*ORCHESTRATOR, "up", "--slots", "1"]
        fleet.processes["up"] = subprocess.Popen(
            words, cwd=fleet.folder, env=fleet.environment({}), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    until(lambda: fleet.count(1, "step") > 3, timeout_seconds=90, what="an agent in mid-turn")
    fleet.processes["up"].terminate()
    assert fleet.processes["up"].wait(60) == 0
    with psycopg.connect(fleet.database_url.replace("+psycopg", "")) as look:
        ended = look.execute("select status, stop_reason from turn").fetchall()
    assert (ended, fleet.agents(1)) == ([("cancelled", "deploy")], [])
