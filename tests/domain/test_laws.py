"""The laws of a plan, over any board beside any records: what holds whatever people and crashes did before."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.domain.contract import fold
from orchestrator.domain.leaving import HostIsBack, LeaveHost
from orchestrator.domain.reconcile import Cancel, Dispatch, EndTask, Expire, LiftHold, NoteAbsence, Refresh, Requeue
from orchestrator.domain.records import Board, Records
from orchestrator.domain.turn import StopReason, TurnStatus
from tests.domain.worlds import NOW, World, is_active, worlds

# What moves the version of the item's row: each is carried out by compare-and-set on the version that was seen.
MOVES_VERSION = Cancel | Dispatch | EndTask | Expire | LiftHold | LeaveHost | HostIsBack


def dispatched(world):
    """The items that a plan starts."""
    return [action.item for action in world.plan().actions if isinstance(action, Dispatch)]


@given(worlds())
def test_only_wanted_items_start(world):
    """What starts is on the board, active, dispatchable, labelled, and its blockers are terminal and were read."""
    for card in dispatched(world):
        assert world.board.items[card.id] is card
        assert is_active(card)
        assert card.dispatchable
        assert set(world.limits.required_labels) <= set(card.labels)
        assert card.blockers_readable
        assert all(fold(blocker.state or "") in {"done", "closed"} for blocker in card.blocked_by)


@pytest.mark.proves("CL-01", "CS-05", "FS-01")
@given(worlds())
def test_nothing_starts_twice(world):
    """No item with an open turn starts, and none starts twice in one plan."""
    started = [card.id for card in dispatched(world)]
    assert len(started) == len(set(started))
    assert not any(record.turn for key in started if (record := world.records.items.get(key)))


@pytest.mark.proves("CS-05", "H14", "FS-08", "FS-40")
@given(worlds())
def test_nothing_starts_that_is_held_unsent_or_not_due(world):
    """One gate for first starts, retries and continuations (CS-15)."""
    flags = world.records
    if flags.held_workflow or flags.held_fleet or flags.contract_broken:
        assert dispatched(world) == []
    for card in dispatched(world):
        record = world.records.items.get(card.id)
        if record is not None:
            assert record.held is None
            assert not record.unsent_move
            assert record.moved_at is None or record.moved_at < world.board.began_at
            assert record.task is None or record.task.due_at is None or record.task.due_at <= NOW


@pytest.mark.proves("CS-06", "CS-07", "SC-11")
@given(worlds())
def test_caps_hold_in_total_and_per_state(world):
    """Open turns and what starts stay within every cap; a cap that was over-full before is not filled further."""
    started = dispatched(world)
    if started:
        assert len(started) + world.records.open_turns() <= world.limits.max_concurrent
    by_state = world.records.open_turns_by_state(world.board) + Counter(fold(card.state) for card in started)
    for state in {fold(card.state) for card in started} & set(world.limits.max_concurrent_by_state):
        assert by_state[state] <= world.limits.max_concurrent_by_state[state]


@pytest.mark.proves("H3", "CS-08")
@given(worlds())
def test_messages_never_outnumber_free_slots(world):
    """What a plan sends is at most what the workers can take beside what is on its way already."""
    plan = world.plan()
    sent = sum(isinstance(action, Dispatch | Requeue) for action in plan.actions)
    young = sum(
        record.turn is not None
        and record.turn.status is TurnStatus.QUEUED
        and record.turn.enqueued_at is not None
        and (NOW - record.turn.enqueued_at).total_seconds() < world.limits.requeue_seconds
        for record in world.records.items.values()
    )
    assert sent <= max(world.records.free_slots - young, 0)


@pytest.mark.proves("CS-17")
@given(worlds())
def test_every_item_starts_or_has_exactly_one_reason(world):
    """No item on the board is passed over in silence, and none that starts has a reason against it."""
    plan = world.plan()
    started = {card.id for card in dispatched(world)}
    assert started | set(plan.reasons) == set(world.board.items)
    assert started & set(plan.reasons) == set()


@pytest.mark.proves("CL-02")
@given(worlds())
def test_the_same_view_gives_the_same_plan(world):
    """However the board was paged and the rows came back, the plan is the same."""
    again = replace(
        world,
        board=replace(world.board, items=dict(reversed(world.board.items.items()))),
        records=replace(world.records, items=dict(reversed(world.records.items.items()))),
    )
    one, other = world.plan(), again.plan()
    assert [action.item for action in one.actions if isinstance(action, Dispatch)] == dispatched(again)
    assert (one.reasons, one.mass_cancel) == (other.reasons, other.mass_cancel)
    assert Counter(map(repr, one.actions)) == Counter(map(repr, other.actions))


@pytest.mark.proves("H1")
@given(worlds())
def test_an_item_gets_one_step_that_moves_its_version(world):
    """Two would be one too many: the first moves the version that the second carries."""
    moving = Counter(action_key(action) for action in world.plan().actions if isinstance(action, MOVES_VERSION))
    assert all(count == 1 for count in moving.values())


@given(worlds())
def test_every_action_fits_its_item(world):
    """Cancel, Expire, Requeue need an open turn; EndTask a task without one; LiftHold a hold without one."""
    for action in world.plan().actions:
        match action:
            case Cancel(record=record):
                assert record.turn is not None
                assert not record.turn.cancelled
            case Expire(record=record):
                assert record.turn is not None
                assert record.turn.status is TurnStatus.RUNNING
                assert record.turn.lease_until is not None
                assert record.turn.lease_until < NOW
            case Requeue(record=record):
                assert record.turn is not None
                assert record.turn.status is TurnStatus.QUEUED
            case EndTask(record=record):
                assert record.turn is None
                assert record.task is not None
            case LiftHold(record=record):
                assert record.held is not None
                assert record.turn is None
            case NoteAbsence(record=record, times=times):
                assert record.absences != times
            case Refresh(record=record, state=state):
                assert record.turn is not None
                assert fold(record.turn.state) != fold(state)
            case Dispatch():
                assert action.item.id in world.board.items


@pytest.mark.proves("H8", "RC-05", "RC-06")
@given(worlds())
def test_nothing_is_stopped_that_the_board_still_wants(world):
    """A stop rests on what was read: closed, moved away, or asked for by id and missing for the second time."""
    for action in world.plan().actions:
        if not isinstance(action, Cancel | EndTask):
            continue
        card = world.board.items.get(action.record.id)
        match action.stop:
            case StopReason.TERMINAL_SEEN:
                assert card is not None
                assert fold(card.state) in {"done", "closed"}
            case StopReason.NOT_VISIBLE:
                assert action.record.id in world.board.gone
                assert action.record.absences > 0
                assert not world.records.contract_broken
            case StopReason.MOVED_AWAY:
                assert card is not None
                assert not is_active(card) or not card.dispatchable or not card.labels
                assert not world.records.contract_broken


@pytest.mark.proves("H8")
@given(worlds())
def test_the_brake_lets_no_doubtful_cancel_pass(world):
    """Under the brake only closed cards are stopped; without it, never most of a fleet of more than three."""
    plan = world.plan()
    doubtful = [
        action for action in plan.actions if isinstance(action, Cancel) and action.stop is not StopReason.TERMINAL_SEEN
    ]
    if plan.mass_cancel:
        assert doubtful == []
        assert dispatched(world) == []
    assert len(doubtful) <= 3 or 2 * len(doubtful) <= world.records.open_turns()


@given(worlds())
def test_a_board_that_shows_nothing_changes_nothing(world):
    """When nothing could be read, only our own clocks speak: a lease, a message, a host that is gone or back."""
    blind = replace(world, board=Board({}, NOW, whole=False))
    assert all(isinstance(action, Expire | Requeue | LeaveHost | HostIsBack) for action in blind.plan().actions)


@given(worlds())
def test_an_empty_record_starts_everything_that_is_wanted(world):
    """After the loss of all records the board alone says what runs (CL-06): nothing is stopped, ended or lifted."""
    fresh = World(world.board, Records({}, world.records.free_slots), limits=world.limits)
    assert all(isinstance(action, Dispatch) for action in fresh.plan().actions)


@settings(max_examples=50)
@given(worlds(), st.integers(0, 3))
def test_a_cap_of_what_runs_already_starts_nothing(world, over):
    """A cap lowered below what runs stops nothing and starts nothing."""
    cap = max(world.records.open_turns() - over, 0)
    lowered = replace(world, limits=replace(world.limits, max_concurrent=cap))
    assert dispatched(lowered) == []
    stopping = [action for action in lowered.plan().actions if isinstance(action, Cancel | EndTask)]
    assert stopping == [action for action in world.plan().actions if isinstance(action, Cancel | EndTask)]


def action_key(action):
    """The item that an action is about."""
    return action.item.id if isinstance(action, Dispatch) else action.record.id


@given(worlds())
def test_a_workflow_that_was_let_go_begins_nothing_and_lets_nothing_wait(world):
    """Whatever else is true of it: no turn opens or is offered again, no card has a reason, no task is left open."""
    plan = replace(world, records=replace(world.records, retired=True)).plan()
    assert not any(isinstance(action, Dispatch | Requeue) for action in plan.actions)
    assert plan.reasons == {}
    ended = {action.record.id for action in plan.actions if isinstance(action, EndTask | Cancel)}
    for key, record in world.records.items.items():
        if record.task is not None and (record.turn is None or record.turn.status is TurnStatus.QUEUED):
            assert key in ended
