"""What a turn's end does to the rows: one place for the owner's conclusion, the lost turn and the cancelled one.

The caller holds the workflow's and the item's row, in that order. The cap slot is given back here, once, by whoever
ended an open turn.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from uuid import UUID

from orchestrator.domain import task as tasks
from orchestrator.domain.hold import Hold, HoldScope, Lift
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import Conclusion, End, Handoff, Parked, Recheck, StopReason, TurnStatus
from orchestrator.domain.writeback import Move, Role, Write
from orchestrator.store import holds, resting, writes
from orchestrator.store.database import Session

LOCK_WORKFLOW = "select name from workflow where name = :workflow for no key update"
LOCK_ITEM = "select version from item where key = :item_key for no key update"

# Something may wait for the slot that is free now: only a listing knows who is next.
RING = """
    update reconciler
    set due_requested_at = greatest(stationkeeper_clock(), due_began_at + interval '1 microsecond'),
        list_requested_at = case
            when exists (select from wait where wait.workflow = :workflow
                and wait.reason in ('no_slot_total', 'no_slot_state', 'no_worker_slot'))
            then greatest(stationkeeper_clock(), list_began_at + interval '1 microsecond')
            else list_requested_at end
    where workflow = :workflow
"""

_END_TURN = """
    with ended as (
        update turn set status = :status, stop_reason = :stop, summary = :summary, ended_at = stationkeeper_clock()
        where id = :turn_id
    ), raised as (
        update item set version = version + 1 where key = :item_key
    ), freed as (
        update workflow set open_turns = open_turns - 1 where name = :workflow and :was_open
    )
    insert into history (item_key, workflow, kind, detail)
    values (:item_key, :workflow, 'turn_ended', cast(:detail as jsonb))
"""
_END_TASK = """
    update task set status = :status, stop_reason = :stop, due_at = null, ended_at = stationkeeper_clock()
    where id = :task_id and status = any(:sources)
"""
_WAIT_TASK = "update task set due_at = :due_at, stop_reason = :stop where id = :task_id"
_COUNT_ITEM = """
    update item
    set attempt = :attempt, turns_in_row = :turns_in_row, sessions = :sessions, retry_kind = :retry_kind,
        conversing = conversing and :keep_session, session = case when :keep_session then session end
    where key = :item_key
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn that is ending: its rows, and whether it was open until now (it was, unless the fence is left out)."""

    turn_id: UUID
    task_id: UUID
    item_key: int
    workflow: str
    fence: int
    was_open: bool = True


@dataclass(frozen=True, slots=True)
class Parting:
    """What the turn leaves: its summary and its last writes."""

    summary: str = ""
    writes: tuple[Write, ...] = ()

    def without_moves(self) -> Parting:
        """The same, saying what it has to say and moving nothing."""
        return replace(self, writes=tuple(write for write in self.writes if not isinstance(write.act, Move)))


def apply(session: Session, ended: Ended, conclusion: Conclusion, *, parting: Parting) -> None:
    """Write a turn's end, what it means for the task, its last writes; last the ring, since ticks skip a locked row."""
    _end_turn(session, ended, conclusion, summary=parting.summary)
    match conclusion:
        case End(status=status, stop=stop):
            _end(session, ended, status, stop=stop)
        case Handoff(stop=stop):
            end_task(session, ended.task_id, TaskStatus.SUCCEEDED, stop=stop)
        case Recheck():
            _recheck(session, ended, conclusion)
        case Parked():
            _park(session, ended, conclusion)
    resting.note(session, conclusion, workflow=ended.workflow, item_key=ended.item_key)
    writes.put(session, parting.writes, turn_id=ended.turn_id)
    session.change(RING, workflow=ended.workflow)


def status_of(conclusion: Conclusion) -> tuple[TurnStatus, StopReason]:
    """The turn's final status and its reason, whatever becomes of the task."""
    if isinstance(conclusion, Handoff):
        return TurnStatus.SUCCEEDED, conclusion.stop
    return conclusion.turn, conclusion.stop


def cancelled(stop: StopReason, *, turn: TurnStatus) -> Conclusion:
    """What becomes of a turn that was flagged, whatever it found: a person came first."""
    return End(TaskStatus.CANCELLED, turn, stop)


def end_task(session: Session, task_id: UUID, status: TaskStatus, *, stop: StopReason) -> bool:
    """Give a task a final status, from any status whose table entry allows it."""
    sources = [source.value for source in tasks.sources(status)]
    return session.change(_END_TASK, task_id=task_id, status=status.value, stop=stop.value, sources=sources) == 1


def _end_turn(session: Session, ended: Ended, conclusion: Conclusion, *, summary: str) -> None:
    turn, stop = status_of(conclusion)
    told = {
        "turn": str(ended.turn_id),
        "fence": ended.fence,
        "status": turn.value,
        "stop": stop.value,
        "summary": summary,
    }
    session.change(
        _END_TURN,
        turn_id=ended.turn_id,
        item_key=ended.item_key,
        workflow=ended.workflow,
        was_open=ended.was_open,
        status=turn.value,
        stop=stop.value,
        summary=summary,
        detail=json.dumps({**told, "conclusion": type(conclusion).__name__.lower()}),
    )


def _end(session: Session, ended: Ended, status: TaskStatus, *, stop: StopReason) -> None:
    end_task(session, ended.task_id, status, stop=stop)
    if status is TaskStatus.CANCELLED:
        writes.withdraw_moves(session, item_key=ended.item_key, detail=f"cancelled: {stop.value}")


def _recheck(session: Session, ended: Ended, recheck: Recheck) -> None:
    session.change(_WAIT_TASK, task_id=ended.task_id, stop=recheck.stop.value, due_at=recheck.at)
    session.change(
        _COUNT_ITEM,
        item_key=ended.item_key,
        attempt=recheck.counters.attempt,
        turns_in_row=recheck.counters.turns_in_row,
        sessions=recheck.counters.sessions,
        retry_kind="continuation" if recheck.stop is StopReason.DONE else recheck.stop.value,
        keep_session=recheck.keep_session,
    )


def _park(session: Session, ended: Ended, parked: Parked) -> None:
    """Hold the item. Its unsent in-progress move is taken back: sent later it would feed the brake.

    The hold remembers the state of the item's row, which openings, ticks and our own settled moves keep, and not what
    the worker read last: a move of ours that was settled since would be taken for a person's.
    """
    if parked.task is not None:
        end_task(session, ended.task_id, parked.task, stop=parked.stop)
    else:
        session.change(_WAIT_TASK, task_id=ended.task_id, stop=parked.stop.value, due_at=None)
    writes.withdraw_moves(session, item_key=ended.item_key, detail=f"held: {parked.kind.value}", role=Role.IN_PROGRESS)
    hold = Hold(HoldScope.ITEM, parked.kind, Lift.PERSON, parked.reason)
    holds.place_on_item(session, hold, item_key=ended.item_key)
