"""Real workers, real beats, real kills: what the board, git and the agents' own log show afterwards."""

import os
import signal
import subprocess
from pathlib import Path

import psycopg
import pytest
import redis

from orchestrator.embedded import Embedded
from tests.e2e.conftest import MakeFleet
from tests.e2e.fleet import AGENT, Fleet
from tests.waiting import until

pytestmark = pytest.mark.e2e

# The promise; by the moments that the database and the agents themselves wrote down it is 0.3 s, so a busy machine has
# room.
RESUME_SECONDS = 2.0
# When an agent began, by its own watch.
WATCH = 'date +%s.%N > "$(dirname "$WITNESS")/began-$STATIONKEEPER_FENCE"\n'


def reviewed(fleet: Fleet, *numbers: int) -> bool:
    """Whether these cards stand in review."""
    return all(fleet.state(number) == "In Review" for number in numbers)


def supervisor_of(worker: subprocess.Popen[bytes]) -> int:
    """The pid of a worker's supervisor."""
    threads = Path(f"/proc/{worker.pid}/task").iterdir()
    found = [int(pid) for thread in threads for pid in (thread / "children").read_text().split()]
    return next(pid for pid in found if b"supervise" in Path(f"/proc/{pid}/cmdline").read_bytes())


@pytest.mark.proves("FS-01", "CL-03", "H20")
def test_two_workers_and_two_beats_work_each_card_once(make_fleet: MakeFleet) -> None:
    """Any number of beats is one tick, and no card gets a second agent."""
    fleet = make_fleet(6)
    for name in ("w1", "w2"):
        fleet.worker(name)
    for name in ("b1", "b2"):
        fleet.beat(name)
    until(lambda: reviewed(fleet, 1, 2, 3, 4, 5, 6), timeout_seconds=60, what="all cards in review")
    assert [(fleet.count(number, "start"), fleet.count(number, "end")) for number in range(1, 7)] == [(1, 1)] * 6
    until(lambda: all(fleet.comments(number) == 1 for number in range(1, 7)), what="one comment a card")


@pytest.mark.proves("FS-16", "FS-26", "CL-08", "H5")
def test_a_killed_workers_turn_is_taken_over_and_its_agent_is_dead(make_fleet: MakeFleet) -> None:
    """SIGKILL in mid-turn: the supervisor ends the agent at once, and the next worker's turn has a higher fence."""
    fleet = make_fleet(1, steps=30)
    first = fleet.worker("w1")
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3, what="an agent in mid-turn")
    first.kill()
    until(lambda: not fleet.agents(1), timeout_seconds=5, what="the agent's death")
    fleet.worker("w2")
    until(lambda: reviewed(fleet, 1), timeout_seconds=60, what="the card in review")
    fences = [line.fence for line in fleet.lines(1) if line.event == "start"]
    assert fences == sorted(set(fences))
    assert fleet.count(1, "end") == 1


@pytest.mark.proves("H5", "SR-03", "FS-64")
def test_a_worker_and_its_supervisor_killed_together_leave_no_agent(make_fleet: MakeFleet) -> None:
    """Nobody is left to end the agent: the next supervisor of the host finds it by its marker, before it listens."""
    fleet = make_fleet(1, steps=600)
    first = fleet.worker("w1")
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3, what="an agent in mid-turn")
    [orphan] = fleet.agents(1)
    pids = (supervisor_of(first), first.pid)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    first.wait()
    fleet.worker("w2")
    until(lambda: not Path(f"/proc/{orphan}").exists(), timeout_seconds=15, what="the orphan's death")
    until(lambda: fleet.count(1, "start") == 2, timeout_seconds=40, what="a second run")
    assert fleet.lines(1)[-1].fence > 1


@pytest.mark.proves("H5")
def test_a_killed_supervisor_is_replaced_and_the_card_is_finished(make_fleet: MakeFleet) -> None:
    """The worker starts a new one, which sweeps first; the turn ends as lost and is tried again.

    The agent works for longer than a supervisor takes to start, or it would end before it is swept.
    """
    fleet = make_fleet(1, steps=150)
    worker = fleet.worker("w1")
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3, what="an agent in mid-turn")
    os.kill(supervisor_of(worker), signal.SIGKILL)
    until(lambda: reviewed(fleet, 1), timeout_seconds=60, what="the card in review")
    assert fleet.count(1, "end") == 1
    assert worker.poll() is None


@pytest.mark.proves("CL-05", "H5", "L1", "FS-05", "WS-13")
def test_a_frozen_worker_is_overtaken_and_refused_after_the_thaw(make_fleet: MakeFleet) -> None:
    """Frozen past its lease, agent alive: the agent stops before the take-over, the thawed worker changes nothing."""
    fleet = make_fleet(1, steps=150)
    first = fleet.worker("w1")
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3, what="an agent in mid-turn")
    fleet.worker("w2")
    os.kill(first.pid, signal.SIGSTOP)
    until(lambda: fleet.count(1, "start") == 2, timeout_seconds=40, what="the take-over")
    before = [line for line in fleet.lines(1) if line.fence == 1]
    second = next(line for line in fleet.lines(1) if line.fence > 1)
    assert fleet.lines(1).index(second) > fleet.lines(1).index(before[-1])
    until(lambda: fleet.count(1, "step") > len(before) + 5, what="the second agent at work")
    assert [line for line in fleet.lines(1) if line.fence == 1] == before
    os.kill(first.pid, signal.SIGCONT)
    until(lambda: reviewed(fleet, 1), timeout_seconds=60, what="the card in review")
    assert [line.fence for line in fleet.lines(1) if line.event == "end"] == [second.fence]
    until(lambda: fleet.comments(1) == 1, what="one comment")


@pytest.mark.proves("H2", "CL-06")
def test_an_emptied_redis_stops_no_agent(make_fleet: MakeFleet) -> None:
    """FLUSHALL in mid-turn: the same agent goes on to its end, and nothing starts twice."""
    fleet = make_fleet(2, steps=40)
    fleet.worker("w1")
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3 and fleet.count(2, "step") > 3, what="two agents in mid-turn")
    with redis.Redis.from_url(fleet.redis_url) as client:
        client.flushall()
    until(lambda: reviewed(fleet, 1, 2), timeout_seconds=60, what="both cards in review")
    assert (fleet.count(1, "start"), fleet.count(2, "start")) == (1, 1)


@pytest.mark.proves("H2", "D9")
def test_a_restarted_redis_stops_no_agent_and_work_goes_on(own_servers: Embedded, own_fleet: Fleet) -> None:
    """Redis away and back in mid-turn: the agent ends well, and a card added afterwards is worked."""
    own_fleet.worker("w1")
    own_fleet.beat()
    until(lambda: own_fleet.count(1, "step") > 3, what="an agent in mid-turn")
    own_servers.stop_redis()
    seen = own_fleet.count(1, "step")
    until(lambda: own_fleet.count(1, "step") > seen + 10, what="the agent at work without Redis")
    own_servers.start_redis()
    own_fleet.add_card(2)
    until(lambda: reviewed(own_fleet, 1, 2), timeout_seconds=80, what="both cards in review")
    assert own_fleet.count(1, "start") == 1


@pytest.mark.proves("H5", "H23")
def test_a_restarted_postgres_costs_no_work(own_servers: Embedded, own_fleet: Fleet) -> None:
    """Postgres away for less than a lease: the agent goes on and its turn is concluded when the database is back."""
    own_fleet.worker("w1")
    own_fleet.beat()
    until(lambda: own_fleet.count(1, "step") > 3, what="an agent in mid-turn")
    own_servers.stop_postgres()
    own_servers.start_postgres()
    until(lambda: reviewed(own_fleet, 1), timeout_seconds=80, what="the card in review")
    assert own_fleet.count(1, "start") == 1


@pytest.mark.proves("SR-06", "RT-11", "S2", "H32")
def test_a_worker_asked_to_stop_hands_its_turn_back(make_fleet: MakeFleet) -> None:
    """SIGTERM in mid-turn: the worker is gone within seconds, its agent with it, and the next worker goes on."""
    fleet = make_fleet(1, steps=30)
    first = fleet.worker("w1")
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3, what="an agent in mid-turn")
    first.terminate()
    assert first.wait(timeout=20) == 0
    assert not fleet.agents(1)
    fleet.worker("w2")
    until(lambda: reviewed(fleet, 1), timeout_seconds=60, what="the card in review")
    assert fleet.count(1, "start") == 2
    assert "attempt 2" not in fleet.log("w2")


@pytest.mark.proves("SR-06")
def test_the_next_worker_resumes_a_turn_that_was_handed_back_within_two_seconds(make_fleet: MakeFleet) -> None:
    """Nobody waits for a lease, a retry's pause or the next listing; nor for a worker that is up, but not ready."""
    fleet = make_fleet(1, steps=600, interval_ms=60_000)
    (fleet.folder / "agent.sh").write_text(WATCH + AGENT)
    first = fleet.worker("w1")
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3, timeout_seconds=30, what="an agent in mid-turn")
    fleet.worker("w2")
    first.terminate()
    until(lambda: fleet.count(1, "start") == 2, timeout_seconds=40, what="the turn on the next worker")
    assert first.wait(timeout=20) == 0
    with psycopg.connect(fleet.database_url.replace("+psycopg", "")) as look:
        [(before, ended), (after, _)] = look.execute(
            "select fence, extract(epoch from ended_at) from turn order by fence"
        )
    assert after > before
    assert float((fleet.folder / f"began-{after}").read_text()) - float(ended) < RESUME_SECONDS


@pytest.mark.proves("TW-02", "RC-02", "FS-17")
def test_a_card_closed_in_mid_turn_stays_closed_and_its_agent_dies(make_fleet: MakeFleet) -> None:
    """A person closes the card: the agent is stopped, and nothing is written over the person's decision."""
    fleet = make_fleet(1, steps=600)
    fleet.worker("w1")
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3 and fleet.state(1) == "In Progress", what="an agent in mid-turn")
    fleet.drag(1, "Done")
    until(lambda: not fleet.agents(1), timeout_seconds=20, what="the agent's death")
    until(lambda: fleet.comments(1) == 1 and "was closed" in fleet.card_text(1), what="the record on the card")
    assert fleet.state(1) == "Done"
    assert fleet.count(1, "end") == 0


@pytest.mark.proves("FS-04", "H4", "D1")
def test_a_message_delivered_again_starts_nothing(make_fleet: MakeFleet) -> None:
    """The same turn offered again while it runs, and after its end: no second agent."""
    fleet = make_fleet(1, steps=30)
    fleet.worker("w1")
    fleet.beat()
    line = until(lambda: next(iter(fleet.lines(1)), None), what="a first agent")
    again = ("call", "tasks.turn", "--queue=turns", f'--kwargs={{"turn_id": "{line.turn}", "fence": {line.fence}}}')
    assert fleet.call(*again).returncode == 0
    until(lambda: reviewed(fleet, 1), timeout_seconds=60, what="the card in review")
    assert fleet.call(*again).returncode == 0
    until(lambda: fleet.log("w1").count("Task tasks.turn") >= 6, what="three deliveries, each to its end")
    assert fleet.count(1, "start") == 1


@pytest.mark.proves("H20", "X1")
def test_a_call_by_hand_leads_to_a_full_tick(make_fleet: MakeFleet) -> None:
    """With an hour between listings and no beat, one `celery call tasks.reconcile` starts the card."""
    fleet = make_fleet(1, steps=1, interval_ms=3_600_000)
    fleet.worker("w1")
    until(lambda: reviewed(fleet, 1), timeout_seconds=40, what="the first card, by the worker's own first tick")
    fleet.add_card(2)
    assert fleet.call("call", "tasks.reconcile").returncode == 0
    until(lambda: reviewed(fleet, 2), timeout_seconds=40, what="the second card, by the call")


@pytest.mark.proves("X1", "C3")
def test_invented_messages_are_dropped_with_a_line(make_fleet: MakeFleet) -> None:
    """A turn that never was, an id that is none: a line in the log, and the worker works on."""
    fleet = make_fleet(1, steps=1)
    fleet.worker("w1")
    nobody = "00000000-0000-0000-0000-000000000000"
    fleet.call("call", "tasks.turn", "--queue=turns", f'--kwargs={{"turn_id": "{nobody}", "fence": 1}}')
    fleet.call("call", "tasks.turn", "--queue=turns", '--kwargs={"turn_id": "drop table", "fence": 1}')
    until(lambda: "message refused" in fleet.log("w1"), what="the line")
    fleet.beat()
    until(lambda: reviewed(fleet, 1), timeout_seconds=40, what="the card in review")


@pytest.mark.proves("H19")
def test_a_plain_small_worker_keeps_ticking_while_turns_run(make_fleet: MakeFleet) -> None:
    """`-c 2` on all queues with an endless turn: a card that is closed meanwhile is still noticed."""
    fleet = make_fleet(2, steps=600)
    fleet.worker("w1", "--concurrency=2")
    fleet.beat()
    number = until(lambda: next((n for n in (1, 2) if fleet.count(n, "step") > 3), None), what="an agent in mid-turn")
    fleet.drag(number, "Done")
    until(lambda: not fleet.agents(number), timeout_seconds=20, what="the agent's death")


@pytest.mark.proves("H5", "SR-03", "RC-10")
def test_an_orphan_is_ended_by_a_supervisor_that_was_there_before(make_fleet: MakeFleet) -> None:
    """Worker and supervisor die together while another worker is up: its supervisor finds the orphan within a sweep."""
    fleet = make_fleet(1, steps=600)
    first = fleet.worker("w1")
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3, what="an agent in mid-turn")
    fleet.worker("w2")
    [orphan] = fleet.agents(1)
    for pid in (supervisor_of(first), first.pid):
        os.kill(pid, signal.SIGKILL)
    first.wait()
    until(lambda: not Path(f"/proc/{orphan}").exists(), timeout_seconds=20, what="the orphan's death")
    until(lambda: fleet.count(1, "start") == 2, timeout_seconds=40, what="a second run")
