"""Conclusions: what a turn's end does to turn, task, item, holds and outbox, in one transaction."""

import pytest

from orchestrator.domain.hold import HoldKind
from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import Counters, End, Handoff, Parked, Recheck, StopReason, TurnStatus
from orchestrator.ports.store import Settlement
from tests.store.scene import comment, handoff_move, started_move, together

BLOCKED = Parked(HoldKind.BLOCKED, TurnStatus.SUCCEEDED, StopReason.BLOCKED, "which colour?")
CANCELLED = End(TaskStatus.CANCELLED, TurnStatus.CANCELLED, StopReason.MOVED_AWAY)


def statuses(scene):
    """The turn's and the task's status with the stop reason of each."""
    return scene.all(
        "select turn.status, turn.stop_reason, task.status, task.stop_reason from turn join task on task.id = task_id"
    )


def outbox(scene):
    """The role or kind of each write with its status, in order."""
    return scene.all("select coalesce(role, act), status from outbox order by seq")


def test_a_handoff_ends_the_task_and_leaves_its_move_to_the_relay(scene):
    """Status, history and outgoing move commit together."""
    assert scene.conclude(scene.run().ref, Handoff(StopReason.DONE), handoff_move(), comment())
    assert statuses(scene) == [("succeeded", "done", "succeeded", "done")]
    assert outbox(scene) == [("handoff", "pending"), ("comment", "pending")]
    assert scene.record().unsent_move
    assert scene.one("select count(*) from history where kind = 'turn_ended'") == 1


def test_a_recheck_keeps_the_task_open_until_its_time(scene):
    """The task stays running with what wakes it; counters and session wait on the item."""
    at = scene.later_than_now(60)
    ref = scene.run().ref
    scene.store.turns.record_session(ref, "talk")
    scene.conclude(ref, Recheck(at, TurnStatus.FAILED, StopReason.AGENT_FAILED, Counters(2, 5, 1)))
    assert statuses(scene) == [("failed", "agent_failed", "running", "agent_failed")]
    assert scene.record().task.due_at == at
    assert scene.all("select attempt, turns_in_row, sessions, session from item") == [(2, 5, 1, "talk")]


def test_a_recheck_may_drop_the_session(scene):
    """After the longest row of turns the next one begins a new conversation, and that is counted."""
    ref = scene.run().ref
    scene.store.turns.record_session(ref, "talk")
    again = Recheck(scene.now(), TurnStatus.SUCCEEDED, StopReason.DONE, Counters(0, 0, 1), keep_session=False)
    scene.conclude(ref, again)
    admitted = scene.run()
    assert (admitted.session, admitted.counters) == (None, Counters(1, 1, 2))
    assert admitted.retry_kind == "continuation"


def test_an_agent_without_sessions_has_one_conversation_in_a_row_of_turns(scene):
    """Turns that go on count as one session, whether or not the agent names it."""
    for turns in range(1, 4):
        admitted = scene.run()
        assert admitted.counters == Counters(1, turns, 1)
        counters = Counters(0, turns, 1)
        scene.conclude(admitted.ref, Recheck(scene.now(), TurnStatus.SUCCEEDED, StopReason.DONE, counters))


@pytest.mark.proves("H16", "FS-08")
def test_a_hold_withdraws_the_unsent_in_progress_move_only(scene):
    """A deferred move sent after the hold would look like a person's move and feed the brake."""
    ref = scene.run().ref
    scene.step(ref, 1, started_move(), comment())
    scene.conclude(ref, BLOCKED, comment("held", key="k:hold"))
    assert outbox(scene) == [("in_progress", "withdrawn"), ("comment", "pending"), ("comment", "pending")]
    record = scene.record()
    assert (record.held, record.held_state, record.held_firmly) == ("blocked: which colour?", "Todo", False)
    assert (record.task.due_at, statuses(scene)) == (None, [("succeeded", "blocked", "running", "blocked")])


@pytest.mark.proves("H16")
def test_our_own_move_is_not_a_persons(scene):
    """A move of ours that lands after the hold moves the hold's state with it, so that nobody takes it for a person."""
    ref = scene.run().ref
    scene.step(ref, 1, started_move())
    in_flight = scene.store.outbox.claim(seconds=60)
    scene.conclude(ref, BLOCKED)
    assert scene.record().unsent_move
    scene.store.outbox.settle(in_flight, Settlement.SENT, state="In Progress")
    record = scene.record()
    assert (record.held_state, record.unsent_move) == ("In Progress", False)


def test_a_finished_item_without_review_column_is_held(scene):
    """The business is over, and the hold keeps the item from starting again."""
    finished = Parked(HoldKind.FINISHED, TurnStatus.SUCCEEDED, StopReason.DONE, "done", TaskStatus.SUCCEEDED)
    scene.conclude(scene.run().ref, finished)
    assert statuses(scene) == [("succeeded", "done", "succeeded", "done")]
    assert scene.record().held == "finished: done"


@pytest.mark.proves("H15")
def test_a_cancel_withdraws_what_nobody_has_begun_to_send(scene):
    """Unsent moves go; one that a relay has in its hands, or whose fate is unknown, stays in the order."""
    ref = scene.run().ref
    scene.step(ref, 1, started_move())
    claimed = scene.store.outbox.claim(seconds=60)
    scene.step(ref, 2, handoff_move())
    scene.conclude(ref, CANCELLED, comment())
    assert outbox(scene) == [("in_progress", "claimed"), ("handoff", "withdrawn"), ("comment", "pending")]
    assert scene.store.outbox.settle(claimed, Settlement.SUPPRESSED)


def test_a_cancel_that_the_turn_had_not_seen_wins(scene):
    """A flag that was set before the conclusion ends the task as cancelled, and no move is written any more."""
    ref = scene.run().ref
    assert scene.store.items.cancel(scene.record(), StopReason.MOVED_AWAY, workflow="demo")
    assert scene.conclude(ref, Handoff(StopReason.DONE), handoff_move(), comment())
    assert statuses(scene) == [("cancelled", "moved_away", "cancelled", "moved_away")]
    assert outbox(scene) == [("comment", "pending")]


@pytest.mark.proves("H4", "CL-05")
def test_a_conclusion_of_a_turn_taken_over_writes_nothing(scene):
    """A worker frozen past its lease finds every one of its decisions refused after the thaw."""
    zombie = scene.run().ref
    scene.take_over()
    before = (scene.record(), outbox(scene))
    assert not scene.conclude(zombie, Handoff(StopReason.DONE), handoff_move())
    assert not scene.step(zombie, 1, started_move())
    assert not scene.store.turns.renew([zombie], lease_seconds=30)[zombie.turn_id].ours
    assert (scene.record(), outbox(scene)) == before


def test_ten_conclusions_of_one_turn_give_one_slot_back(scene):
    """A conclusion asked for again after an unknown first is answered yes, and done once."""
    ref = scene.run().ref
    scene.open("X-2")
    answers = together(*[lambda: scene.conclude(ref, Handoff(StopReason.DONE), handoff_move())] * 10)
    assert answers == [True] * 10
    assert scene.one("select open_turns from workflow") == 1
    assert outbox(scene) == [("handoff", "pending")]


def test_a_turns_end_asks_for_a_tick(scene):
    """What the end means is seen by the next tick, which is due at once and reads no board for it."""
    ref = scene.run().ref
    scene.tick()
    scene.conclude(ref, Recheck(scene.later_than_now(60), TurnStatus.FAILED, StopReason.STALLED, Counters()))
    assert not scene.tick().listing


def test_a_slot_that_somebody_waits_for_asks_for_a_listing(scene):
    """Only a listing knows who is next."""
    ref = scene.run().ref
    scene.tick()
    waits = {"X-2": Wait(NotDispatched.NO_SLOT_TOTAL)}
    scene.store.items.save_waits("demo", waits, identifiers={}, whole=True, known={})
    scene.conclude(ref, CANCELLED)
    scene.store.set_offset(1)
    assert scene.tick().listing


def test_the_items_version_is_raised_by_every_end(scene):
    """A plan that saw the turn open is old."""
    ref = scene.run().ref
    before = scene.record().version
    scene.conclude(ref, CANCELLED)
    assert scene.record().version > before
