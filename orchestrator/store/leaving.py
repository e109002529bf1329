"""An item whose host is gone, or back: its queued turn gives its slot back, a hold names the host, or that hold ends.

Each is a compare-and-set on the item's version.
"""

from __future__ import annotations

from orchestrator.domain import notes
from orchestrator.domain.hold import Hold, HoldKind, HoldScope, Lift
from orchestrator.domain.records import ItemRecord
from orchestrator.domain.turn import Counters, Recheck, StopReason, TurnStatus
from orchestrator.store import cancelling, concluding, history, holds, writes
from orchestrator.store.concluding import Parting
from orchestrator.store.database import Database, Row, Session

_NOW = """
    select item.attempt, item.turns_in_row, item.sessions, item.identifier, stationkeeper_clock() as now,
        (select id from installation) as installation,
        (select turn.id from turn where turn.item_key = item.key order by turn.fence desc limit 1) as turn_id
    from item where item.key = :item_key
"""
_REST_TASK = """
    update task set due_at = null where item_key = :item_key and status not in ('succeeded', 'failed', 'cancelled')
"""
_HOST_IS_BACK = """
    update hold set lifted_at = stationkeeper_clock(), lifted_by = 'its host is back'
    where item_key = :item_key and kind = :kind and lifted_at is null
"""
_FORGET = "update item set host = null, workspace = null where key = :item_key"


def leave(database: Database, record: ItemRecord, reason: str | None, *, workflow: str) -> bool:
    """End the item's queued turn as if it had not been opened, and hold the item where `reason` says why."""

    def act(session: Session) -> bool:
        turn = session.row(cancelling.OPEN_TURN, item_key=record.key)
        if turn is not None and turn.status != TurnStatus.QUEUED.value:
            return False
        found = session.row(_NOW, item_key=record.key)
        assert found is not None  # noqa: S101 -- its version was raised just now
        if turn is not None:
            _give_back(session, record, turn, found=found, workflow=workflow)
        if reason is not None:
            _hold(session, record, reason, found=found)
        history.note(session, "host_gone", item_key=record.key, workflow=workflow, why=reason or "all is pushed")
        return True

    return cancelling.on_version(database, record, act, workflow=workflow)


def rejoin(database: Database, record: ItemRecord, *, workflow: str) -> bool:
    """End the hold that named the host, and no other; the open task is due."""

    def act(session: Session) -> bool:
        if session.change(_HOST_IS_BACK, item_key=record.key, kind=HoldKind.WORK_LEFT.value) == 0:
            return False
        session.change(cancelling.MAKE_DUE, item_key=record.key)
        history.note(session, "host_back", item_key=record.key, workflow=workflow)
        session.change(concluding.RING, workflow=workflow)
        return True

    return cancelling.on_version(database, record, act, workflow=workflow)


def forget_host(session: Session, item_key: int) -> None:
    """A person lets the work on a host go: the next turn begins anywhere. The folder stays where it is."""
    session.change(_FORGET, item_key=item_key)


def _give_back(session: Session, record: ItemRecord, turn: Row, *, found: Row, workflow: str) -> None:
    counters = Counters(found.attempt, found.turns_in_row, found.sessions)
    ended = concluding.Ended(turn.id, turn.task_id, record.key, workflow, turn.fence)
    again = Recheck(found.now, TurnStatus.CANCELLED, StopReason.CANCELLED, counters)
    concluding.apply(session, ended, again, parting=Parting("its host was gone before it began"))


def _hold(session: Session, record: ItemRecord, reason: str, *, found: Row) -> None:
    session.change(_REST_TASK, item_key=record.key)
    hold = Hold(HoldScope.ITEM, HoldKind.WORK_LEFT, Lift.CONDITION, reason)
    holds.place_on_item(session, hold, item_key=record.key)
    if found.turn_id is not None:
        told = notes.left_behind(found.installation, found.turn_id, reason, name=found.identifier)
        writes.put(session, (told,), turn_id=found.turn_id)
