"""A worker freezes for longer than its lease and thaws: it may tell what happened, and decide nothing any more."""

import pytest

from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import End, StopReason, TurnStatus
from orchestrator.ports.store import StepRecord
from tests.memory.desk import Killed
from tests.world import LEASE_SECONDS


@pytest.fixture
def thawed(world):
    """A world whose first worker froze in the middle of a run and has just thawed; with the turn that it had then."""
    world.add("A-1")
    kept = []

    def freeze(_turn):
        if kept:
            return
        frozen = world.process
        kept.extend(frozen.supervisor.adopted.values())
        world.silence(frozen, "frozen")
        world.processes.remove(frozen)
        world.hire()
        world.jump(LEASE_SECONDS + 1)
        world.run_until_quiet()

    world.agents.during = freeze
    world.tick()
    world.deliver()
    return world, kept[0]


@pytest.mark.proves("CL-04", "CL-08", "RT-13")
def test_another_worker_takes_the_turn_over_and_finishes_it(thawed):
    """The first turn is lost by its lease, the second one is done, and the card is handed off once."""
    world, _ = thawed
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert world.rows("select fence, status, stop_reason, death from turn order by fence") == [
        (1, "lost", "lost_worker", "its lease ran out"),
        (2, "succeeded", "done", None),
    ]
    assert [run.event for run in world.agents.log] == ["start", "frozen", "start", "done", "stopped:lost_worker"]


@pytest.mark.proves("CL-05", "H4")
def test_every_write_of_the_old_owner_is_refused(thawed):
    """Admission, checkpoint, conclusion and renewal each find that the turn is not its any more."""
    world, ref = thawed
    turns, process = world.store.turns, world.process
    owner = process.worker.owner()
    over = End(TaskStatus.SUCCEEDED, TurnStatus.SUCCEEDED, StopReason.DONE)
    before = world.fingerprint()
    assert turns.admit(ref.turn_id, ref.fence, owner, lease_seconds=30) is None
    assert not turns.checkpoint(ref, StepRecord(9, "late"), lease_seconds=30)
    assert not turns.conclude(ref, over, summary="late", writes=())
    assert not turns.renew([ref], lease_seconds=30)[ref.turn_id].ours
    assert turns.lose([ref], "late") == 0
    assert world.fingerprint() == before


@pytest.mark.proves("H11")
def test_what_the_old_owner_knows_is_recorded_all_the_same(thawed):
    """Decisions are fenced, facts are not: what the lost turn spent stands on its row."""
    world, ref = thawed
    world.store.turns.record_usage(ref, {"output_tokens": 700})
    spent = world.one("select usage ->> 'output_tokens' from turn where id = :id", id=ref.turn_id)
    assert spent == "700"
    assert world.one("select status from turn where id = :id", id=ref.turn_id) == "lost"


@pytest.mark.proves("SR-04", "H23")
def test_a_lease_that_ran_out_unseen_is_simply_renewed(world):
    """While nobody took the turn over, an outage longer than the lease costs nothing: the fence decides."""
    world.add("A-1")
    world.agents.during = lambda _turn: world.jump(LEASE_SECONDS * 4)
    world.tick()
    world.deliver()
    world.run_until_quiet()
    assert world.rows("select fence, status from turn") == [(1, "succeeded")]


@pytest.mark.proves("RC-08", "TW-09")
def test_a_card_does_not_say_for_ever_that_a_dead_worker_runs(world):
    """The worker dies and the card is closed before anybody takes over: the card says that the turn was stopped."""

    def kill(_turn):
        world.relay()
        world.close("A-1")
        raise Killed

    world.add("A-1")
    world.agents.during = kill
    world.run_until_quiet()
    assert [comment.body for comment in world.board.said("A-1")] == ["Turn 1 was stopped: the card was closed."]
