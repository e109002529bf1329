"""Records a step, its writes and a longer lease in one statement, in autocommit: a concurrent cancel is seen or waits.

Everything that is checked is a column of the turn's row, the one that the statement updates; only that row is read
again after a wait. Asked for again after an unknown first, it finds its own step row and writes nothing twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from orchestrator.domain.push import Intended, Settled
from orchestrator.domain.writeback import Write
from orchestrator.ports.store import StepRecord, TurnRef
from orchestrator.store import workspaces, writes
from orchestrator.store.database import Database
from orchestrator.store.plans import RUNNING

_EXTEND = """
        update turn
        set lease_until = least(
                stationkeeper_clock() + make_interval(secs => :lease_seconds),
                coalesce(turn.step_deadline_at, 'infinity')),
            transcript = coalesce(cast(:transcript as text), turn.transcript)"""
_OURS = f"""turn.id = :turn_id
            and turn.fence = :fence and turn.token = :token -- rule: fence
            and {RUNNING} and turn.death is null -- rule: fence
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
# The item's row first, for the order of locks: what was meant to be pushed, or was, is as fenced as the step.
_CHECKPOINT_WITH_PUSH = f"""
    with branch as (
        update item
        set pushing = cast(:pushing as text),
            pushed = case when cast(:is_settled as boolean) then cast(:pushed as text) else item.pushed end
        from turn
        where item.key = turn.item_key and {_OURS}
        returning item.key
    ), lodging as (
        update workspace set settled = :is_whole from branch where workspace.turn_id = :turn_id
    ), source as ({_EXTEND}
        from branch
        where turn.item_key = branch.key and {_OURS}
        returning turn.id as turn_id
    ){_RECORD}
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
        _statement(step, put),
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
        **(_pushed(step.push) if step.push is not None else {}),
    )
    if recorded == 1:
        return True
    return database.row(_DONE_BEFORE, turn_id=ref.turn_id, ordinal=step.ordinal, token=ref.token) is not None


def _statement(step: StepRecord, put: Sequence[Write]) -> str:
    """A step has one thing beside it at the most."""
    if put:
        return _CHECKPOINT_WITH_WRITES
    if step.push is not None:
        return _CHECKPOINT_WITH_PUSH
    return _CHECKPOINT if step.made is None else _CHECKPOINT_WITH_WORKSPACE


def _pushed(push: Intended | Settled) -> Mapping[str, object]:
    if isinstance(push, Intended):
        return {"pushing": push.sha, "pushed": None, "is_settled": False, "is_whole": False}
    return {"pushing": None, "pushed": push.sha, "is_settled": True, "is_whole": push.is_whole}
