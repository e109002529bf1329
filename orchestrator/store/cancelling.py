"""What the board takes away: queued turns and open tasks end, running turns are flagged, unsent moves are withdrawn.

Each is a compare-and-set on the item's version, and each raises it. A row that a frozen client holds counts as changed.
"""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.domain.records import ItemRecord
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import StopReason, TurnStatus
from orchestrator.store import concluding, history, holds, writes
from orchestrator.store.concluding import Parting
from orchestrator.store.database import Database, Row, RowLocked, Session

_TAKE_ITEM = """
    update item set version = version + 1
    where key = :item_key
        and version = :seen -- rule: version
"""
OPEN_TURN = """
    select id, task_id, fence, status from turn
    where item_key = :item_key and status in ('queued', 'running') for no key update
"""
_FLAG = "update turn set cancel = :stop, cancel_at = stationkeeper_clock() where id = :turn_id and cancel is null"
_LIVE_TASK = """
    select id from task
    where item_key = :item_key and status not in ('succeeded', 'failed', 'cancelled') for no key update
"""
# A person has looked: caps count anew, and an open task wants its turn now.
COUNT_ANEW = """
    update item set attempt = 0, turns_in_row = 0, sessions = 0 where key = :item_key
"""
MAKE_DUE = """
    update task set due_at = stationkeeper_clock()
    where item_key = :item_key and status not in ('succeeded', 'failed', 'cancelled')
        and not exists (select from turn where turn.item_key = task.item_key and turn.status in ('queued', 'running'))
"""
_RING_OF_ITEM = """
    update reconciler set due_requested_at = greatest(stationkeeper_clock(), due_began_at + interval '1 microsecond')
    where workflow = (select workflow from item where key = :item_key)
"""


def cancel(database: Database, record: ItemRecord, stop: StopReason, *, workflow: str) -> bool:
    """End a queued turn with its task, or set the flag of a running one; False when the item changed since."""

    def act(session: Session) -> bool:
        turn = session.row(OPEN_TURN, item_key=record.key)
        if turn is None:
            return False
        writes.withdraw_moves(session, item_key=record.key, detail=f"cancelled: {stop.value}")
        if turn.status == TurnStatus.QUEUED.value:
            _end_queued(session, record, turn, stop=stop, workflow=workflow)
        else:
            session.change(_FLAG, turn_id=turn.id, stop=stop.value)
            history.note(session, "cancel_asked", item_key=record.key, workflow=workflow, turn=turn.id, stop=stop.value)
        return True

    return on_version(database, record, act, workflow=workflow)


def end_task(database: Database, record: ItemRecord, stop: StopReason, *, workflow: str) -> bool:
    """Cancel the item's task when no turn of it is open; False when the item changed since."""

    def act(session: Session) -> bool:
        task = session.row(_LIVE_TASK, item_key=record.key)
        if task is None or session.row(OPEN_TURN, item_key=record.key) is not None:
            return False
        writes.withdraw_moves(session, item_key=record.key, detail=f"cancelled: {stop.value}")
        history.note(session, "task_ended", item_key=record.key, workflow=workflow, task=task.id, stop=stop.value)
        return concluding.end_task(session, task.id, TaskStatus.CANCELLED, stop=stop)

    return on_version(database, record, act)


def lift_holds(database: Database, record: ItemRecord, reason: str) -> bool:
    """End the item's holds and make its open task due; False when the item changed since, or no hold stood."""

    def act(session: Session) -> bool:
        if holds.lift_of_item(session, item_key=record.key, by=reason) == 0:
            return False
        session.change(COUNT_ANEW, item_key=record.key)
        session.change(MAKE_DUE, item_key=record.key)
        session.change(_RING_OF_ITEM, item_key=record.key)
        return True

    return on_version(database, record, act)


def holds_follow(database: Database, record: ItemRecord, state: str) -> bool:
    """Have the item's holds remember where a machine put its card; False when the item changed since."""

    def act(session: Session) -> bool:
        return session.change(holds.FOLLOW, item_key=record.key, state=state) > 0

    return on_version(database, record, act)


class _NotAsSeen(Exception):
    """Leaves the transaction, which is rolled back: the record is older than the rows."""


def on_version(
    database: Database, record: ItemRecord, act: Callable[[Session], bool], *, workflow: str | None = None
) -> bool:
    """Act on an item while its version is the record's; False, and nothing written, when it is not or `act` says so.

    `workflow` is locked first when a cap slot may come back.
    """
    try:
        with database.transaction() as session:
            if workflow is not None:
                session.row(concluding.LOCK_WORKFLOW, workflow=workflow)
            _insist(session.change(_TAKE_ITEM, item_key=record.key, seen=record.version) == 1)
            _insist(act(session))
    except (_NotAsSeen, RowLocked):
        return False
    return True


def _insist(as_seen: bool) -> None:  # noqa: FBT001 -- what a statement answered
    if not as_seen:
        raise _NotAsSeen


def _end_queued(session: Session, record: ItemRecord, turn: Row, *, stop: StopReason, workflow: str) -> None:
    ended = concluding.Ended(turn.id, turn.task_id, record.key, workflow, turn.fence)
    concluding.apply(session, ended, concluding.cancelled(stop, turn=TurnStatus.CANCELLED), parting=Parting())
