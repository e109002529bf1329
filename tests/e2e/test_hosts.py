"""Two hosts of real workers, each in namespaces and on a disk of its own, and a real remote repository between them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.e2e.fleet import Fleet
from tests.e2e.hosts import Hosts, git, why_not
from tests.waiting import until

pytestmark = pytest.mark.e2e

BRANCH = "stationkeeper/T-1"


@pytest.fixture
def hosts(tmp_path: Path, database_url: str, redis_url: str) -> Iterator[Hosts]:
    """A board of one card, served from a desk; hosts are started by the test."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    fleet = Fleet(tmp_path / "fleet", database_url, redis_url, steps=5, remote="$PUSH_URL")
    fleet.folder.mkdir()
    found = Hosts(fleet, tmp_path / "remote.git")
    found.set_up(1)
    yield found
    found.close()


def rows(hosts: Hosts, sql: str) -> list[tuple[object, ...]]:
    """What the database says."""
    with psycopg.connect(hosts.fleet.database_url.replace("postgresql+psycopg", "postgresql")) as connection:
        return connection.execute(sql).fetchall()  # type: ignore[call-overload,no-any-return]


def held(hosts: Hosts) -> list[tuple[object, ...]]:
    """The kinds and reasons of the holds that stand."""
    return rows(hosts, "select kind, reason from hold where lifted_at is null")


def release(hosts: Hosts) -> None:
    """A person types the command."""
    command = [sys.executable, "-c", "from orchestrator.cli.app import main; main()", "release", "T-1"]
    environment = hosts.fleet.environment({"USER": os.environ.get("USER", "robin")})
    subprocess.run(command, cwd=hosts.fleet.folder, env=environment, check=True, capture_output=True, timeout=60)


def reviewed(hosts: Hosts, times: int) -> bool:
    """Whether the card is in review after so many turns that were done."""
    [(done,)] = rows(hosts, "select count(*) from turn where status = 'succeeded'")
    return done == times and hosts.fleet.state(1) == "In Review"


def of_hours(fleet: Fleet) -> None:
    """Let an agent work for as long as anything else in a test takes."""
    fleet.steps = 6_000
    (fleet.folder / "WORKFLOW.md").write_text(fleet._workflow())


def let_the_next_be_quick(fleet: Fleet) -> None:
    """A new script beside the one that an agent reads still."""
    script = fleet.folder / "agent.sh"
    draft = script.with_suffix(".new")
    draft.write_text("STEPS=20\n" + script.read_text())
    draft.replace(script)


@pytest.mark.proves("H6", "WS-13", "TW-15", "FS-32")
def test_turns_follow_their_work_and_go_on_elsewhere_when_its_host_is_gone(hosts: Hosts) -> None:
    """The second turn meets the first one's folder; the third finds it gone, and begins from the pushed commit."""
    fleet = hosts.fleet
    first = hosts.start("alpha")
    hosts.serve()
    until(lambda: reviewed(hosts, 1), timeout_seconds=60, what="the first turn's end")
    pushed = hosts.pushed(BRANCH)
    assert pushed == git(fleet.folder / "disk-alpha" / "repo", "rev-parse", BRANCH)
    hosts.start("beta")
    fleet.drag(1, "To Do")
    until(lambda: reviewed(hosts, 2), timeout_seconds=60, what="the second turn's end")
    assert rows(hosts, "select host, for_host from turn order by fence") == [("alpha", None), ("alpha", "alpha")]
    first.die()
    fleet.drag(1, "To Do")
    until(lambda: reviewed(hosts, 3), timeout_seconds=90, what="the third turn's end")
    assert rows(hosts, "select host from turn where status = 'succeeded' order by fence")[2:] == [("beta",)]
    assert held(hosts) == []
    there = fleet.folder / "disk-beta" / "repo"
    assert git(there, "merge-base", pushed, BRANCH) == pushed
    seen = "".join(path.read_text() for path in fleet.folder.glob("seen-*"))
    assert "STATIONKEEPER_TURN" in seen
    assert str(hosts.remote) not in seen
    assert "PUSH_URL" not in seen


@pytest.mark.proves("H6", "WS-13")
def test_work_in_a_shared_root_is_bound_to_no_host(hosts: Hosts) -> None:
    """Killed in mid-turn: another host goes on in the same folder, half-done file and all, and cleans it in the end."""
    fleet = hosts.fleet
    fleet.shared = True
    of_hours(fleet)
    first = hosts.start("alpha")
    hosts.serve()
    until(lambda: fleet.count(1, "step") > 3, timeout_seconds=60, what="an agent in mid-turn")
    hosts.start("beta")
    place = fleet.folder / "workspaces" / "T-1"
    (place / "half.txt").write_text("half done\n")
    let_the_next_be_quick(fleet)
    first.die()
    until(lambda: reviewed(hosts, 1), timeout_seconds=90, what="the other host's work")
    assert rows(hosts, "select host, for_host from turn order by fence") == [("alpha", None), ("beta", None)]
    assert rows(hosts, "select 1 from hold") == []
    assert git(hosts.remote, "show", f"{BRANCH}:half.txt") == "half done"
    fleet.drag(1, "Done")
    until(lambda: not place.exists(), timeout_seconds=60, what="the workspace gone")
    assert hosts.pushed(BRANCH) == git(fleet.folder / "repo", "rev-parse", BRANCH)


@pytest.mark.proves("H6")
def test_work_on_a_host_that_died_is_held_until_a_person_lets_it_go(hosts: Hosts) -> None:
    """Killed in mid-turn: the hold names host, folder and branch, on the card too; released, another host begins."""
    fleet = hosts.fleet
    of_hours(fleet)
    first = hosts.start("alpha")
    hosts.serve()
    until(lambda: fleet.count(1, "step") > 3, timeout_seconds=60, what="an agent in mid-turn")
    hosts.start("beta")
    first.die()
    until(lambda: held(hosts), timeout_seconds=60, what="the hold")
    place = f"{fleet.folder}/workspaces/T-1 on branch {BRANCH}"
    assert held(hosts) == [("work_left", f"work that is not pushed lies on alpha in {place}, and that host is silent")]
    until(lambda: "work_left" in fleet.card_text(1), timeout_seconds=30, what="the word on the card")
    assert fleet.count(1, "start") == 1
    release(hosts)
    until(lambda: fleet.count(1, "start") == 2, timeout_seconds=60, what="a start on the other host")
    began = rows(hosts, "select host from turn where host is not null order by fence")
    assert began == [("alpha",), ("beta",)]


@pytest.mark.proves("H5", "H6", "CL-05")
def test_a_host_frozen_past_its_lease_changes_nothing_when_it_thaws(hosts: Hosts) -> None:
    """All its processes stop at once. Thawed, its agent is stopped and killed; the remote keeps the new owner's work.

    Which of its processes runs first is the kernel's to say: what an agent may write until its supervisor has looked at
    the clock is a moment's worth, and none of it leaves the host.
    """
    fleet = hosts.fleet
    of_hours(fleet)
    frozen = hosts.start("alpha")
    hosts.serve()
    until(lambda: fleet.count(1, "step") > 3, timeout_seconds=60, what="an agent in mid-turn")
    hosts.start("beta")
    frozen.freeze()
    before = len(fleet.lines(1))
    until(lambda: held(hosts), timeout_seconds=60, what="the hold")
    assert len(fleet.lines(1)) == before
    let_the_next_be_quick(fleet)
    release(hosts)
    until(lambda: reviewed(hosts, 1), timeout_seconds=90, what="the other host's work")
    theirs = hosts.pushed(BRANCH)
    assert theirs == git(fleet.folder / "disk-beta" / "repo", "rev-parse", BRANCH)
    told = rows(hosts, "select fence, status, host from turn order by fence")
    frozen.thaw()
    until(lambda: "agent.sh" not in _programs(frozen.pids()), timeout_seconds=30, what="the old agent's death")
    late = [line for line in fleet.lines(1) if line.fence == 1][before:]
    assert len(late) <= 3
    assert not any(line.event == "end" for line in late)
    until(lambda: _seen_lately(hosts, "alpha"), timeout_seconds=30, what="the thawed worker's next word")
    assert rows(hosts, "select fence, status, host from turn order by fence") == told
    assert (hosts.pushed(BRANCH), fleet.state(1), held(hosts)) == (theirs, "In Review", [])


@pytest.mark.proves("H5", "H6", "H23", "CL-05")
@pytest.mark.parametrize(
    "freeze_limit", ["300", "4"], ids=["link up while its agent is frozen", "its agent is dead by then"]
)
def test_a_host_that_is_cut_off_changes_nothing_when_its_link_is_up_again(hosts: Hosts, freeze_limit: str) -> None:
    """Its worker lives and reaches nobody: its agent is frozen by the host's own clock, and dead before it could go on.

    The work is held by name; released, another host has it. With the link up again every late write is refused, and the
    remote, which the host could reach all the time, has the new owner's work.
    """
    fleet = hosts.fleet
    of_hours(fleet)
    lonely = hosts.start("alpha", STATIONKEEPER_FREEZE_LIMIT_SECONDS=freeze_limit)
    hosts.serve()
    until(lambda: fleet.count(1, "step") > 3, timeout_seconds=60, what="an agent in mid-turn")
    hosts.start("beta")
    lonely.link("down")
    until(lambda: held(hosts), timeout_seconds=60, what="the hold")
    assert f"lies on alpha in {fleet.folder}/workspaces/T-1 on branch {BRANCH}" in str(held(hosts))
    assert "agent frozen" in fleet.log("alpha")
    before = fleet.lines(1)
    is_dead = freeze_limit == "4"
    if is_dead:
        until(lambda: "agent.sh" not in _programs(lonely.pids()), timeout_seconds=30, what="the death in the dark")
    let_the_next_be_quick(fleet)
    release(hosts)
    until(lambda: reviewed(hosts, 1), timeout_seconds=90, what="the other host's work")
    theirs, told = hosts.pushed(BRANCH), rows(hosts, "select fence, status, host from turn order by fence")
    assert theirs == git(fleet.folder / "disk-beta" / "repo", "rev-parse", BRANCH)
    assert ("agent.sh" in _programs(lonely.pids())) is not is_dead
    lonely.link("up")
    until(lambda: "agent.sh" not in _programs(lonely.pids()), timeout_seconds=30, what="the old agent's death")
    until(lambda: _seen_lately(hosts, "alpha"), timeout_seconds=60, what="the next word of the host")
    until(lambda: _is_idle(hosts, "alpha"), timeout_seconds=60, what="its slot free again")
    assert [line for line in fleet.lines(1) if line.fence == 1] == before
    assert rows(hosts, "select fence, status, host from turn order by fence") == told
    assert (hosts.pushed(BRANCH), fleet.state(1), held(hosts)) == (theirs, "In Review", [])


def _programs(pids: list[int]) -> str:
    """The command lines of processes."""
    found = []
    for pid in pids:
        try:
            found.append(Path(f"/proc/{pid}/cmdline").read_text())
        except OSError:
            continue
    return "\n".join(found)


def _seen_lately(hosts: Hosts, name: str) -> object:
    """Whether a worker of the host has told of itself just now."""
    return rows(hosts, f"select 1 from worker where host = '{name}' and seen_at > clock_timestamp() - interval '2 s'")


def _is_idle(hosts: Hosts, name: str) -> bool:
    """Whether no turn is busy on a worker of the host that speaks."""
    return not rows(hosts, f"select 1 from worker where host = '{name}' and busy > 0")
