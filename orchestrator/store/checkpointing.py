"""Records a step, its writes and a longer lease in one statement, in autocommit: a concurrent cancel is seen or waits.

Everything that is checked is a column of the turn's row, the one that the statement updates; only that row is read
again after a wait. Asked for again after an unknown first, it finds its own step row and writes nothing twice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from orchestrator.domain.writeback import Write
from orchestrator.ports.store import StepRecord, TurnRef
from orchestrator.store import workspaces, writes
from orchestrator.store.database import Database

_EXTEND = """
        update turn
        set lease_until = least(
                stationkeeper_clock() + make_interval(secs => :lease_seconds),
                coalesce(turn.step_deadline_at, 'infinity')),
            transcript = coalesce(cast(:transcript as text), turn.transcript)"""
_OURS = """turn.id = :turn_id
            and turn.fence = :fence and turn.token = :token -- rule: fence
            and turn.status = 'running' and turn.death is null -- rule: fence
            and turn.cancel is null -- rule: cancel
            and (turn.deadline_at is null or turn.deadline_at > stationkeeper_clock()) -- rule: deadline
            and not exists (select from step where step.turn_id = turn.id and step.ordinal = :ordinal)"""
_RECORD = """
    insert into step (turn_id, ordinal, name, output)
    select source.turn_id, :ordinal, :name, cast(:output as jsonb) from source
"""

_CHECKPOINT = f"""
    with source as ({_EXTEND}
        where {_OURS}
        returning turn.id as turn_id
    ){_RECORD}
"""
# The item's row first, for the order of locks.
_CHECKPOINT_WITH_WORKSPACE = f"""
    with {workspaces.MADE}, source as ({_EXTEND}
        from told
        where turn.item_key = told.key and {_OURS}
        returning turn.id as turn_id
    ){_RECORD}
"""
# The item's row first, for the numbers and for the order of locks.
_CHECKPOINT_WITH_WRITES = f"""
    with numbered as (
        update item set outbox_seq = item.outbox_seq + :count, version = item.version + :moves
        from turn
        where item.key = turn.item_key and {_OURS}
        returning item.key, item.outbox_seq - :count as last_seq
    ), source as ({_EXTEND}
        from numbered
        where turn.item_key = numbered.key and {_OURS}
        returning numbered.key as item_key, numbered.last_seq,
            turn.id as turn_id, turn.fence, turn.workflow, turn.workflow_version
    ), {writes.APPEND}{_RECORD}
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
    recorded = database.change(
        _CHECKPOINT_WITH_WRITES if put else _CHECKPOINT if step.made is None else _CHECKPOINT_WITH_WORKSPACE,
        turn_id=ref.turn_id,
        fence=ref.fence,
        token=ref.token,
        ordinal=step.ordinal,
        name=step.name,
        output=json.dumps(dict(step.output), default=str),
        transcript=step.transcript,
        lease_seconds=lease_seconds,
        **writes.values(put),
        **(workspaces.values(step.made) if step.made is not None else {}),
    )
    if recorded == 1:
        return True
    return database.row(_DONE_BEFORE, turn_id=ref.turn_id, ordinal=step.ordinal, token=ref.token) is not None
