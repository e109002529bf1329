"""Turns whose worker died. A lease that ran out says so, or the supervisor's word, which ends the lease at once.

Both ways the tick concludes the turn: it alone knows the workflow's limits, and whether leases may be judged now.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from orchestrator.domain import notes
from orchestrator.domain import turn as turns
from orchestrator.domain.notes import Speaker
from orchestrator.domain.records import ItemRecord
from orchestrator.domain.tidy import BY_LEASE
from orchestrator.domain.turn import Conclusion, Counters, StopReason, TurnLimits, TurnStatus
from orchestrator.ports.store import TurnRef
from orchestrator.store import concluding
from orchestrator.store.concluding import Parting
from orchestrator.store.database import Database, Row, RowLocked, Session

_TAKE_ITEM = """
    select key from item
    where key = :item_key
        and version = :seen -- rule: version
    for no key update
"""
_EXPIRED = """
    select turn.id, turn.task_id, turn.fence, turn.ordinal, turn.cancel, turn.death, turn.state,
        item.attempt, item.turns_in_row, item.sessions, stationkeeper_clock() as now,
        (select output ->> 'branch' from step where step.turn_id = turn.id and step.name = 'workspace') as branch,
        (select installation.id from installation) as installation
    from turn join item on item.key = turn.item_key
    where turn.item_key = :item_key and turn.status = 'running' and turn.lease_until < stationkeeper_clock()
    for no key update of turn
"""
_HOW = f"update turn set death = coalesce(death, '{BY_LEASE}') where id = :turn_id"
# The word of whoever watched it die. The lease ends now; every fenced write of the turn is refused from here on.
_DECLARE_DEAD = """
    update turn set death = :death, lease_until = least(lease_until, stationkeeper_clock())
    where id = :turn_id and status = 'running' and death is null
        and fence = :fence and token = :token -- rule: fence
    returning workflow
"""
_ORPHANS = "select id, fence, token, pid from turn where status = 'running' and host = :host and boot_id = :boot_id"


def expire(database: Database, record: ItemRecord, limits: TurnLimits, *, workflow: str) -> bool:
    """Conclude a running turn whose lease ran out; False when the item changed since, or the lease was renewed."""
    try:
        with database.transaction() as session:
            session.row(concluding.LOCK_WORKFLOW, workflow=workflow)
            if session.row(_TAKE_ITEM, item_key=record.key, seen=record.version) is None:
                return False
            turn = session.row(_EXPIRED, item_key=record.key)
            if turn is None:
                return False
            _conclude(session, record, turn, limits=limits, workflow=workflow)
    except RowLocked:
        return False
    return True


def declare_dead(database: Database, refs: Sequence[TurnRef], death: str) -> int:
    """End the leases of turns that their supervisor saw die, and ask for a tick; returns how many there were."""
    workflows = [
        row.workflow
        for ref in refs
        if (row := database.row(_DECLARE_DEAD, turn_id=ref.turn_id, fence=ref.fence, token=ref.token, death=death))
    ]
    for workflow in sorted(set(workflows)):
        database.change(concluding.RING, workflow=workflow)
    return len(workflows)


def orphans(database: Database, host: str, boot_id: str) -> dict[UUID, tuple[TurnRef, int]]:
    """The running turns of a host since its boot, with the pid of the worker that admitted each."""
    rows = database.rows(_ORPHANS, host=host, boot_id=boot_id)
    return {row.id: (TurnRef(row.id, row.fence, row.token), row.pid) for row in rows}


def _conclude(session: Session, record: ItemRecord, turn: Row, *, limits: TurnLimits, workflow: str) -> None:
    session.change(_HOW, turn_id=turn.id)
    ended = concluding.Ended(turn.id, turn.task_id, record.key, workflow, turn.fence)
    conclusion = _meaning(turn, limits, turn.now)
    speaker = Speaker(turn.installation, turn.id, turn.ordinal, turn.branch)
    parting = Parting(turn.death or BY_LEASE, notes.parting(speaker, conclusion, ""))
    concluding.apply(session, ended, conclusion, parting=parting)


def _meaning(turn: Row, limits: TurnLimits, now: datetime) -> Conclusion:
    if turn.cancel is not None:
        return concluding.cancelled(StopReason(turn.cancel), turn=TurnStatus.LOST)
    counters = Counters(turn.attempt, turn.turns_in_row, turn.sessions)
    return turns.lost(counters, limits=limits, now=now)
