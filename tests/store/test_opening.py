"""Opening a turn: conditional on the version that the plan saw, and on everything that may have changed since."""

import dataclasses

import pytest

from orchestrator.domain.hold import Hold, HoldKind, HoldScope, Lift
from orchestrator.domain.select import NotDispatched
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import Counters, End, Handoff, Parked, Recheck, StopReason, TurnStatus
from orchestrator.ports.store import Opened, Refused, Settlement
from orchestrator.store.open import open_store
from tests.store.scene import handoff_move, item, together
from tests.waiting import until


@pytest.mark.proves("H1", "CL-03")
def test_a_dispatch_planned_before_a_conclusion_is_refused(scene):
    """A tick that read its records before another one's turn opened, worked and ended opens nothing afterwards."""
    stale = scene.opening(seen=0)
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE), handoff_move())
    assert scene.refused(stale).reason is NotDispatched.CHANGED_SINCE
    assert scene.one("select count(*) from turn") == 1


@pytest.mark.proves("H1")
def test_a_dispatch_planned_on_an_old_version_is_refused(scene):
    """The version decides, also for an item that had turns before: a settled move is enough to change it."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE), handoff_move())
    stale = scene.opening(seen=scene.record().version)
    scene.store.outbox.settle(scene.store.outbox.claim(seconds=10), Settlement.SENT, state="In Review")
    assert scene.refused(stale).reason is NotDispatched.CHANGED_SINCE
    assert isinstance(scene.store.items.open_turns([scene.opening(seen=scene.record().version)])[0], Opened)


@pytest.mark.proves("H1", "CL-02", "CL-03", "FS-01")
def test_ten_ticks_that_dispatch_one_item_open_one_turn(scene):
    """Ten plans of one item, carried out at one moment, open one turn between them."""
    openings = [scene.opening(cap=10) for _ in range(10)]
    answers = together(*(lambda opening=opening: scene.store.items.open_turns([opening])[0] for opening in openings))
    assert sum(isinstance(answer, Opened) for answer in answers) == 1
    assert scene.one("select open_turns from workflow") == 1


@pytest.mark.proves("H13")
@pytest.mark.parametrize("cap", [1, 3])
def test_a_cap_holds_when_ten_items_open_at_once(scene, cap):
    """Ten ticks that each dispatch another item never open more turns than the workflow's cap."""
    openings = [scene.opening(item(f"X-{number}"), cap=cap) for number in range(10)]
    answers = together(*(lambda opening=opening: scene.store.items.open_turns([opening])[0] for opening in openings))
    assert sum(isinstance(answer, Opened) for answer in answers) == cap
    refused = {answer.reason for answer in answers if not isinstance(answer, Opened)}
    assert refused == {NotDispatched.NO_SLOT_TOTAL}


@pytest.mark.proves("H13")
def test_the_cap_of_a_state_holds_when_ten_items_open_at_once(scene):
    """The turns of one state are counted after the workflow's lock was had, so that none is overlooked."""
    openings = [scene.opening(item(f"X-{number}", "todo "), state_cap=2) for number in range(10)]
    answers = together(*(lambda opening=opening: scene.store.items.open_turns([opening])[0] for opening in openings))
    assert sum(isinstance(answer, Opened) for answer in answers) == 2
    assert scene.one("select open_turns from workflow") == 2


def test_a_turn_that_ends_gives_its_cap_slot_back(scene):
    """The slot is free again after the end of a turn, whichever way it ended."""
    conclusions = [
        Handoff(StopReason.DONE),
        End(TaskStatus.CANCELLED, TurnStatus.CANCELLED, StopReason.MOVED_AWAY),
        Parked(HoldKind.BLOCKED, TurnStatus.SUCCEEDED, StopReason.BLOCKED, "a question"),
        Recheck(scene.later_than_now(60), TurnStatus.FAILED, StopReason.STALLED, Counters()),
    ]
    for number, conclusion in enumerate(conclusions):
        opened = scene.open(f"X-{number}", cap=1)
        assert scene.conclude(scene.admit(opened).ref, conclusion)
    assert scene.one("select open_turns from workflow") == 0


@pytest.mark.proves("H14")
def test_an_item_with_an_unsent_move_is_not_opened(scene):
    """Until our move is settled the board does not show what we decided."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE), handoff_move())
    opening = scene.opening(seen=scene.record().version)
    assert scene.refused(opening).reason is NotDispatched.UNSENT_MOVE


@pytest.mark.proves("H16")
def test_a_hold_placed_after_the_plan_is_seen(scene):
    """Holds are read again in the opening transaction."""
    opening = scene.opening()
    hold = Hold(HoldScope.WORKFLOW, HoldKind.OPERATOR, Lift.PERSON, "stop")
    scene.store.items.hold_workflow("demo", hold, HoldKind.OPERATOR)
    assert scene.refused(opening).reason is NotDispatched.HELD_WORKFLOW
    scene.store.items.hold_workflow("demo", None, HoldKind.OPERATOR)
    assert isinstance(scene.store.items.open_turns([opening])[0], Opened)


def test_a_refusal_leaves_nothing_behind(scene):
    """What a refused opening had taken already, the cap slot and the version, is given back."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE), handoff_move())
    before = scene.record()
    scene.refused(scene.opening(seen=before.version))
    assert (scene.record(), scene.one("select open_turns from workflow")) == (before, 0)


def test_a_row_that_the_records_left_out_is_shown_to_the_next_tick(scene):
    """A dragged-back card meets its old row: refused once, listed from then on, and a listing is asked for."""
    scene.conclude(scene.run().ref, End(TaskStatus.SUCCEEDED, TurnStatus.SUCCEEDED, StopReason.TERMINAL_SEEN))
    scene.store.items.save_waits("demo", {}, identifiers={}, whole=True, known={})
    assert scene.records().items == {}
    scene.tick()
    assert scene.refused(scene.opening(seen=0)).reason is NotDispatched.CHANGED_SINCE
    assert scene.record().version > 0
    scene.store.set_offset(1)
    assert scene.store.reconciler.begin(None).listing


def test_a_new_task_goes_on_with_session_and_fence(scene):
    """A card that a person dragged back gets a new task on the same session, with its caps counted anew."""
    first = scene.run()
    scene.store.turns.record_session(first.ref, "talk-1")
    scene.conclude(first.ref, End(TaskStatus.CANCELLED, TurnStatus.CANCELLED, StopReason.MOVED_AWAY))
    again = scene.run()
    assert (again.session, again.counters, again.ref.fence) == ("talk-1", Counters(1, 1, 1), 2)
    assert scene.one("select count(*) from task") == 2


def test_an_open_task_is_used_again(scene):
    """A retry is another turn of the same task, which keeps its workflow version."""
    first = scene.run()
    scene.conclude(first.ref, Recheck(scene.now(), TurnStatus.FAILED, StopReason.STALLED, first.counters))
    assert scene.run().counters == Counters(attempt=2, turns_in_row=2, sessions=1)
    assert scene.all("select status from task") == [("running",)]


def test_an_item_of_another_workflow_is_left_alone(scene):
    """Two workflows on one board: the second one is told that a turn is open, also when it never saw the row."""
    scene.open()
    other = scene.store.workflows.publish(
        dataclasses.replace(scene.workflow, name="other", version=0), interval_ms=30_000
    )
    opening = dataclasses.replace(scene.opening(seen=scene.record().version), workflow=other)
    assert scene.refused(opening).reason is NotDispatched.RUNNING


@pytest.mark.proves("H25")
def test_a_row_held_by_a_frozen_client_counts_as_changed(scene):
    """A client frozen inside a transaction costs a tick one lock time-out for its item, and the tick goes on."""
    scene.conclude(scene.run().ref, Recheck(scene.now(), TurnStatus.FAILED, StopReason.STALLED, Counters()))
    opening = scene.opening(seen=scene.record().version)
    with scene.client() as frozen:
        frozen.execute("select 1 from item for update")
        waiting = scene.later(lambda: scene.refused(opening))
        until(lambda: scene.blocked_by(frozen))
        assert waiting.result().reason is NotDispatched.CHANGED_SINCE
        assert isinstance(scene.store.items.open_turns([scene.opening(item("X-2"))])[0], Opened)


def test_an_item_that_another_workflow_serves_asks_for_no_listing(scene):
    """A tick that never sees the row must not ask for listing after listing."""
    scene.open()
    other = scene.store.workflows.publish(
        dataclasses.replace(scene.workflow, name="other", version=0), interval_ms=30_000
    )
    opening = dataclasses.replace(scene.opening(seen=0), workflow=other)
    scene.tick()
    scene.tick()
    assert scene.refused(opening).reason is NotDispatched.RUNNING
    scene.store.set_offset(1)
    assert scene.store.reconciler.begin(None) is None


@pytest.mark.proves("CS-06")
def test_openings_at_once_stay_below_the_fleets_cap(scene, url):
    """Four workflows' worth of dispatches at one moment and room for two: the fleet's lock lets them in one by one."""
    capped = open_store(url, max_turns=2)
    openings = [scene.opening(item(f"X-{number}")) for number in range(4)]
    answers = together(*(lambda opening=opening: capped.items.open_turns([opening])[0] for opening in openings))
    refused = [answer.reason for answer in answers if isinstance(answer, Refused)]
    assert refused == [NotDispatched.NO_WORKER_SLOT] * 2
    assert scene.one("select open_turns from workflow") == 2
    capped.close()
