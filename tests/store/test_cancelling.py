"""What the board takes away: queued turns, open tasks, holds; each by compare-and-set on the version that was seen."""

import dataclasses

import pytest

from orchestrator.domain.hold import HoldKind
from orchestrator.domain.turn import Counters, Handoff, Parked, Recheck, StopReason, TurnStatus
from orchestrator.ports.store import Settlement
from tests.store.scene import handoff_move, started_move

BLOCKED = Parked(HoldKind.BLOCKED, TurnStatus.SUCCEEDED, StopReason.BLOCKED, "?")


def cancel(scene, record=None, stop=StopReason.MOVED_AWAY):
    """The tick's cancel."""
    return scene.store.items.cancel(record or scene.record(), stop, workflow="demo")


def end_task(scene, record=None):
    """The tick's end of a task that nobody wants any more."""
    return scene.store.items.end_task(record or scene.record(), StopReason.NOT_VISIBLE, workflow="demo")


def test_cancelling_a_queued_turn_ends_it_with_its_task(scene):
    """Nothing ran, so nothing has to be waited for: the slot is free at once."""
    scene.open()
    assert cancel(scene)
    found = scene.all("select turn.status, task.status, task.stop_reason from turn join task on task.id = task_id")
    assert found == [("cancelled", "cancelled", "moved_away")]
    assert scene.one("select open_turns from workflow") == 0


@pytest.mark.proves("RT-13")
def test_cancelling_a_running_turn_only_flags_it(scene):
    """A slot is freed by a confirmed end, not by the wish for one; the first reason stays."""
    scene.run()
    assert cancel(scene, stop=StopReason.TERMINAL_SEEN)
    assert cancel(scene, stop=StopReason.MOVED_AWAY)
    assert scene.all("select status, cancel from turn") == [("running", "terminal_seen")]
    assert scene.record().turn.cancelled
    assert scene.one("select open_turns from workflow") == 1


@pytest.mark.proves("H1")
def test_a_thawed_ticks_cancel_is_refused(scene):
    """A cancel that was planned on an older version of the item does nothing, whatever it would have stopped."""
    scene.run()
    stale = scene.record()
    assert cancel(scene)
    assert not cancel(scene, stale)
    assert not end_task(scene, stale)
    assert not scene.store.items.lift_holds(stale, "moved")


def test_cancelling_what_is_not_open_changes_nothing(scene):
    """Also with the right version: the record is compared with the rows."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE))
    record = scene.record()
    assert not cancel(scene)
    assert not end_task(scene)
    assert scene.record() == record


@pytest.mark.proves("H15")
def test_a_cancel_withdraws_the_unsent_moves(scene):
    """The flag and the withdrawal are one commit."""
    scene.step(scene.run().ref, 1, started_move())
    assert cancel(scene)
    assert scene.all("select status, detail from outbox") == [("withdrawn", "cancelled: moved_away")]
    assert not scene.record().unsent_move


def test_ending_a_task_between_turns_withdraws_its_moves(scene):
    """A retry whose card went away is over, with the reason."""
    ref = scene.run().ref
    scene.step(ref, 1, started_move())
    again = Recheck(scene.later_than_now(60), TurnStatus.FAILED, StopReason.STALLED, Counters())
    scene.conclude(ref, again)
    assert end_task(scene)
    assert scene.all("select status, stop_reason, due_at from task") == [("cancelled", "not_visible", None)]
    assert scene.all("select status from outbox") == [("withdrawn",)]


def test_a_task_with_an_open_turn_is_not_ended_past_it(scene):
    """The turn has to be cancelled first."""
    scene.run()
    assert not end_task(scene)
    assert scene.one("select status from task") == "running"


@pytest.mark.proves("CL-09")
def test_a_persons_move_lifts_every_hold_and_makes_the_task_due(scene):
    """The caps count anew from there."""
    scene.conclude(scene.run().ref, BLOCKED)
    scene.tick()
    assert scene.store.items.lift_holds(scene.record(), "a person moved the card")
    record = scene.record()
    assert (record.held, record.task.due_at <= scene.now()) == (None, True)
    assert scene.all("select lifted_by from hold") == [("a person moved the card",)]
    scene.tick()
    assert scene.run().counters == Counters(1, 1, 1)


def test_lifting_what_is_not_held_changes_nothing(scene):
    """No version is raised for it."""
    scene.run()
    before = scene.record()
    assert not scene.store.items.lift_holds(before, "moved")
    assert scene.record() == before


def test_absences_and_states_are_remembered_without_a_new_version(scene):
    """What a look found out does not make another plan old."""
    scene.run()
    before = scene.record()
    scene.store.items.note_absence(before, 1)
    scene.store.items.refresh(before, "In Progress")
    after = scene.record()
    assert (after.version, after.absences, after.turn.state) == (before.version, 1, "In Progress")
    scene.store.items.note_absence(after, 0)
    assert scene.record().absences == 0


def test_a_hold_of_a_kind_stands_once(scene):
    """Two moves that cannot be made are one hold, with the first reason."""
    ref = scene.run().ref
    scene.step(ref, 1, started_move())
    first = scene.store.outbox.claim(seconds=10)
    scene.conclude(ref, Handoff(StopReason.DONE), handoff_move())
    scene.store.outbox.settle(first, Settlement.PARKED, detail="forbidden")
    scene.store.outbox.settle(scene.store.outbox.claim(seconds=10), Settlement.PARKED, detail="still forbidden")
    assert scene.all("select reason from hold where lifted_at is null") == [("forbidden",)]


def test_an_operators_hold_is_not_for_the_board_to_lift(scene):
    """The tick is told so."""
    scene.open()
    record = scene.record()
    scene.hold()
    assert scene.record() == dataclasses.replace(record, held="operator: stop", held_firmly=True)
