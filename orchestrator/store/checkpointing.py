"""Records a step, its writes and a longer lease in one statement, in autocommit: a concurrent cancel is seen or waits.

Everything that is checked is a column of the turn's row, the one that the statement updates; only that row is read
again after a wait. Asked for again after an unknown first, it finds its own step row and writes nothing twice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from orchestrator.domain.writeback import Write
from orchestrator.ports.store import StepRecord, TurnRef
from orchestrator.store import writes
from orchestrator.store.database import Database

_LEASE = (
    "least(stationkeeper_clock() + make_interval(secs => :lease_seconds), coalesce(turn.step_deadline_at, 'infinity'))"
)
_OURS = """turn.id = :turn_id
            and turn.fence = :fence and turn.token = :token -- rule: fence
            and turn.status = 'running' and turn.death is null -- rule: fence
            and turn.cancel is null -- rule: cancel
            and (turn.deadline_at is null or turn.deadline_at > stationkeeper_clock()) -- rule: deadline
            and not exists (select from step where step.turn_id = turn.id and step.ordinal = :ordinal)"""
_STEP = """
        insert into step (turn_id, ordinal, name, output)
        select checked.id, :ordinal, :name, cast(:output as jsonb) from checked"""

_CHECKPOINT = f"""
    with checked as (
        update turn set lease_until = {_LEASE}
        where {_OURS}
        returning turn.id
    ){_STEP}
"""
_CHECKPOINT_WITH_WRITES = f"""
    with numbered as (
        update item set outbox_seq = outbox_seq + :count, version = version + :moves
        from turn
        where item.key = turn.item_key and {_OURS}
        returning item.key, item.outbox_seq - :count as last_seq
    ), checked as (
        update turn set lease_until = {_LEASE}
        from numbered
        where turn.item_key = numbered.key and {_OURS}
        returning turn.id, turn.fence, turn.workflow, turn.workflow_version, numbered.key as item_key, numbered.last_seq
    ), superseded as (
        update outbox set status = 'superseded', settled_at = stationkeeper_clock()
        from checked
        where outbox.item_key = checked.item_key and outbox.status = 'pending'
            and ((outbox.act = 'move' and :moves > 0) or outbox.key = any(cast(:keys as text[])))
    ), written as (
        insert into outbox
            (item_key, seq, turn_id, fence, workflow, workflow_version, kind, act, role, only_from, key, body)
        select checked.item_key, checked.last_seq + put.number, checked.id, checked.fence, checked.workflow,
            checked.workflow_version, put.kind, put.act, put.role, put.only_from, put.key, put.body
        from checked, jsonb_to_recordset(cast(:writes as jsonb))
            as put (number int, kind text, act text, role text, only_from text[], key text, body text)
    ){_STEP}
"""
_DONE_BEFORE = """
    select 1 from step join turn on turn.id = step.turn_id
    where step.turn_id = :turn_id and step.ordinal = :ordinal and turn.token = :token
        and turn.status = 'running' and turn.cancel is null and turn.death is null
"""


def checkpoint(
    database: Database, ref: TurnRef, step: StepRecord, *, put: Sequence[Write], lease_seconds: float
) -> bool:
    """Record the step; False when the turn is not ours any more, or is to stop: then nothing was written."""
    values = {
        "turn_id": ref.turn_id,
        "fence": ref.fence,
        "token": ref.token,
        "ordinal": step.ordinal,
        "name": step.name,
        "output": json.dumps(dict(step.output), default=str),
        "lease_seconds": lease_seconds,
    }
    if put:
        moves, keys = writes.facts(put)
        values |= {"count": len(put), "moves": moves, "keys": keys, "writes": writes.as_json(put)}
    if database.change(_CHECKPOINT_WITH_WRITES if put else _CHECKPOINT, **values) == 1:
        return True
    return database.row(_DONE_BEFORE, turn_id=ref.turn_id, ordinal=step.ordinal, token=ref.token) is not None
