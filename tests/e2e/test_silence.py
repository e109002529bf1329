"""Time and silence, with real processes: clocks that are wrong, services that hang or go, a machine that sleeps."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import psycopg
import pytest

from orchestrator.embedded import Embedded, child
from orchestrator.store import connections, migrate
from tests.e2e.conftest import MakeFleet
from tests.e2e.fleet import CLOCKS, Fleet
from tests.waiting import until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

LEASE_SECONDS = float(CLOCKS["STATIONKEEPER_LEASE_SECONDS"])
HOUR = 3600


def reviewed(fleet: Fleet, *numbers: int) -> bool:
    """Whether these cards stand in review."""
    return all(fleet.state(number) == "In Review" for number in numbers)


def passed(seconds: float) -> None:
    """Let so much time pass: here it is the time itself that something must outlive."""
    end = monotonic() + seconds
    until(lambda: monotonic() > end, timeout_seconds=seconds + 5, what=f"{seconds:g} s")


def typed(fleet: Fleet, *words: str) -> tuple[int, str]:
    """A command of ours, typed in the fleet's folder; its exit code and what it said."""
    done = fleet.run(sys.executable, "-c", "from orchestrator.cli.app import main; main()", *words)
    return done.returncode, (done.stdout + done.stderr).strip()


def is_stopped(pid: int) -> bool:
    """Whether a process is frozen by a signal."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in {"T", "t"}


def family(*roots: int) -> list[int]:
    """These processes and all that descend from them."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has just ended
    found = list(roots)
    for pid in found:
        found.extend(each for each, parent in parents.items() if parent == pid)
    return found


@contextmanager
def frozen(*pids: int) -> Iterator[None]:
    """Within it these processes stand still."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def at_work(fleet: Fleet, number: int = 1) -> int:
    """Wait for an agent of the card in mid-turn; its pid."""
    until(lambda: fleet.count(number, "step") > 3, timeout_seconds=30, what="an agent in mid-turn")
    [pid] = fleet.agents(number)
    return pid


@pytest.mark.proves("H5", "H23", "H25")
def test_postgres_away_for_longer_than_a_lease_costs_no_work(own_servers: Embedded, own_fleet: Fleet) -> None:
    """The agent is frozen before its lease is over, and the same process goes on when the database is back."""
    own_fleet.worker("w1")
    own_fleet.beat()
    agent = at_work(own_fleet)
    own_servers.stop_postgres()
    until(lambda: is_stopped(agent), timeout_seconds=LEASE_SECONDS + 4, what="the agent frozen")
    seen = own_fleet.count(1, "step")
    passed(LEASE_SECONDS)
    assert own_fleet.count(1, "step") == seen
    own_servers.start_postgres()
    until(lambda: reviewed(own_fleet, 1), timeout_seconds=80, what="the card in review")
    assert [(line.pid, line.event) for line in own_fleet.lines(1) if line.event != "step"] == [
        (agent, "start"),
        (agent, "end"),
    ]


@pytest.mark.proves("H2", "H25")
def test_a_redis_that_hangs_stops_no_agent_and_loses_no_card(own_servers: Embedded, own_fleet: Fleet) -> None:
    """Frozen, not down: sockets stay open and nobody answers. The turn ends well, and the next card is worked after."""
    own_fleet.worker("w1")
    own_fleet.beat()
    at_work(own_fleet)
    with frozen(own_servers.redis_pid):
        own_fleet.add_card(2)
        until(lambda: own_fleet.count(1, "end") == 1, timeout_seconds=40, what="the agent's end without Redis")
        until(lambda: "succeeded" in typed(own_fleet, "history", "T-1")[1], timeout_seconds=40, what="its record")
    until(lambda: reviewed(own_fleet, 1, 2), timeout_seconds=80, what="both cards in review")
    assert (own_fleet.count(1, "start"), own_fleet.count(2, "start")) == (1, 1)


@pytest.mark.proves("H5", "H23")
def test_a_laptop_that_slept_goes_on_where_it_was(own_servers: Embedded, own_fleet: Fleet) -> None:
    """Everything stands still for longer than a lease, and wakes at once: the same agent ends, nothing is doubled."""
    worker = own_fleet.worker("w1")
    beat = own_fleet.beat()
    agent = at_work(own_fleet)
    with frozen(*family(worker.pid, beat.pid, own_servers.postgres_pid, own_servers.redis_pid)):
        until(lambda: is_stopped(agent), what="the agent stopped")
        passed(LEASE_SECONDS + 2)
    until(lambda: reviewed(own_fleet, 1), timeout_seconds=80, what="the card in review")
    assert [(line.pid, line.event) for line in own_fleet.lines(1) if line.event != "step"] == [
        (agent, "start"),
        (agent, "end"),
    ]
    until(lambda: own_fleet.comments(1) == 1, what="one comment")


@pytest.mark.proves("H25")
def test_a_client_that_froze_inside_a_transaction_stops_no_card(make_fleet: MakeFleet) -> None:
    """It holds every row of ours; the server ends its transaction, and the turn is concluded."""
    fleet = make_fleet(2, steps=20)
    fleet.worker("w1")
    fleet.beat()
    at_work(fleet)
    client = connections.connector(fleet.database_url, connections.HOT_MANNER, lambda: None)()
    with contextlib.closing(client):
        client.execute("begin")
        client.execute("select from item for update")
        client.execute("select from workflow for update")
        until(lambda: reviewed(fleet, 1, 2), timeout_seconds=80, what="both cards in review")
        assert (fleet.count(1, "start"), fleet.count(2, "start")) == (1, 1)
        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
            client.execute("select 1")


@pytest.fixture(scope="module")
def other_clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that gives a process another wall clock; skips where there is no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("no C compiler for the library that moves a process's clock")
    folder = tmp_path_factory.mktemp("clock")
    for parent in (folder, *folder.parents[:3]):
        parent.chmod(0o755)  # root's Postgres runs as nobody, and must load it
    library = folder / "clock.so"
    source = Path(__file__).with_name("clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source)], check=True)
    return library


@pytest.mark.proves("H20", "H23")
@pytest.mark.parametrize("hours", [-5, 5])
def test_a_worker_whose_clock_is_hours_off_works_like_any_other(
    make_fleet: MakeFleet, other_clock: Path, tmp_path: Path, hours: int
) -> None:
    """Leases and ticks live by the database's clock: two workers, one of them hours off, work each card once."""
    offset = tmp_path / "offset"
    offset.write_text(str(hours * HOUR))
    fleet = make_fleet(4, steps=20, max_agents=4)
    odd = {"LD_PRELOAD": str(other_clock), "CLOCK_OFFSET": str(offset)}
    fleet.worker("odd", **odd, STATIONKEEPER_TURN_SLOTS="2")
    fleet.worker("even", STATIONKEEPER_TURN_SLOTS="2")
    fleet.beat()
    until(lambda: reviewed(fleet, 1, 2, 3, 4), timeout_seconds=80, what="all cards in review")
    assert [(fleet.count(number, "start"), fleet.count(number, "end")) for number in range(1, 5)] == [(1, 1)] * 4
    assert "turn ended" in fleet.log("odd")


@pytest.fixture
def moved_servers(
    other_clock: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Embedded, Path]]:
    """Servers whose clock goes by a file that the test writes."""
    offset = tmp_path / "offset"
    offset.write_text("0")
    tmp_path.chmod(0o755)
    monkeypatch.setitem(child.ENVIRONMENT, "LD_PRELOAD", str(other_clock))
    monkeypatch.setitem(child.ENVIRONMENT, "CLOCK_OFFSET", str(offset))
    with Embedded(tmp_path / "servers") as servers:
        migrate.upgrade(servers.database_url)
        yield servers, offset


@pytest.mark.proves("H23")
@pytest.mark.parametrize("step", [600, -HOUR])
def test_a_database_clock_that_is_stepped_takes_over_nothing_and_stops_nothing(
    moved_servers: tuple[Embedded, Path], tmp_path: Path, step: int
) -> None:
    """Ten minutes on, all leases seem over; an hour back, nothing seems due. The turn ends, the next card starts."""
    servers, offset = moved_servers
    fleet = Fleet(tmp_path / "fleet", servers.database_url, servers.redis_url, steps=60)
    fleet.folder.mkdir()
    fleet.set_up(1)
    try:
        fleet.worker("w1")
        fleet.beat()
        agent = at_work(fleet)
        offset.write_text(str(step))
        fleet.add_card(2)
        until(lambda: reviewed(fleet, 1, 2), timeout_seconds=60, what="both cards in review")
        assert [(line.pid, line.event) for line in fleet.lines(1) if line.event != "step"] == [
            (agent, "start"),
            (agent, "end"),
        ]
        assert fleet.count(2, "start") == 1
        assert "recovery" not in typed(fleet, "status")[1]
    finally:
        fleet.stop()


def put_back(servers: Embedded, data: Path, backup: Path) -> None:
    """Stop the server, put the older files in place, start it."""
    servers.stop_postgres()
    shutil.rmtree(data)
    subprocess.run(["cp", "-a", str(backup), str(data)], check=True)
    servers.start_postgres()


@pytest.mark.proves("H24")
def test_an_older_backup_in_place_doubles_nothing_once_a_person_said_go_on(
    own_servers: Embedded, own_fleet: Fleet, tmp_path: Path
) -> None:
    """A card done since the copy stays done; an agent unknown to the copy dies; nothing starts before `recover`."""
    data, backup = tmp_path / "servers" / "postgres", tmp_path / "backup"
    own_fleet.worker("w1")
    own_fleet.beat()
    until(lambda: reviewed(own_fleet, 1) and own_fleet.comments(1) == 1, timeout_seconds=60, what="a first card done")
    own_servers.stop_postgres()
    subprocess.run(["cp", "-a", str(data), str(backup)], check=True)
    own_servers.start_postgres()
    own_fleet.add_card(2)
    until(lambda: reviewed(own_fleet, 2) and own_fleet.comments(2) == 1, timeout_seconds=80, what="a second card done")
    own_fleet.add_card(3)
    agent = at_work(own_fleet, 3)
    put_back(own_servers, data, backup)
    until(lambda: not Path(f"/proc/{agent}").exists(), timeout_seconds=30, what="the unknown agent's death")
    until(lambda: "held_fleet" in typed(own_fleet, "explain", "T-3")[1], timeout_seconds=40, what="the hold")
    assert "`orchestrator recover`" in typed(own_fleet, "status")[1]
    assert typed(own_fleet, "release", "--fleet")[0] == 5
    assert own_fleet.count(3, "start") == 1
    code, said = typed(own_fleet, "recover", "-m", "the disk broke")
    assert (code, said.splitlines()[-1]) == (0, "recovered")
    until(lambda: reviewed(own_fleet, 1, 2, 3), timeout_seconds=80, what="all cards in review")
    assert [own_fleet.count(number, "start") for number in (1, 2, 3)] == [1, 1, 2]
    fences = [line.fence for line in own_fleet.lines(3) if line.event == "start"]
    assert fences == sorted(set(fences))
    until(lambda: [own_fleet.comments(number) for number in (1, 2, 3)] == [1, 1, 1], what="one comment a card")
    assert typed(own_fleet, "recover")[0] == 5


@pytest.mark.proves("H24")
def test_a_failed_over_database_starts_nothing_before_a_person_said_go_on(
    own_servers: Embedded, own_fleet: Fleet, tmp_path: Path
) -> None:
    """Promoted to a new timeline in mid-turn: what it knows goes on to its end, and the next card waits."""
    data = tmp_path / "servers" / "postgres"
    own_fleet.worker("w1")
    own_fleet.beat()
    agent = at_work(own_fleet)
    own_servers.stop_postgres()
    with (data / "postgresql.auto.conf").open("a") as settings:
        settings.write("restore_command = 'false'\n")
    (data / "recovery.signal").touch()
    shutil.chown(data / "recovery.signal", data.owner(), data.group())
    own_servers.start_postgres()
    own_fleet.add_card(2)
    until(lambda: "held_fleet" in typed(own_fleet, "explain", "T-2")[1], timeout_seconds=60, what="the hold")
    until(lambda: own_fleet.count(1, "end") == 1, timeout_seconds=60, what="the end of the agent that it knows")
    assert (own_fleet.count(1, "start"), own_fleet.count(2, "start"), reviewed(own_fleet, 1)) == (1, 0, False)
    code, said = typed(own_fleet, "recover", "-m", "the primary is gone")
    assert (code, said.splitlines()[-1]) == (0, "recovered")
    until(lambda: reviewed(own_fleet, 1, 2), timeout_seconds=80, what="both cards in review")
    assert [line.pid for line in own_fleet.lines(1) if line.event == "start"] == [agent]
    assert own_fleet.count(2, "start") == 1
    until(lambda: [own_fleet.comments(number) for number in (1, 2)] == [1, 1], what="one comment a card")
