"""A flow turn's end in one statement: turn, task, item, cap slot, ledger, hold, history.

Rows are locked in the order workflow, item, turn and read again under those locks; everything else follows from them.
What was flagged meanwhile comes first, unless the task is done: then a cancel came too late. Whatever was intended and
not settled is unknown from here on, and its task with it. A task that is taken back keeps the reason for which it is.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from orchestrator.domain.flow import Ending
from orchestrator.domain.task import TaskStatus
from orchestrator.ports.store import TurnRef
from orchestrator.store.database import Database
from orchestrator.store.plans import RUNNING

_OURS = f"""turn.fence = :fence and turn.token = :token -- rule: fence
            and {RUNNING} and turn.death is null -- rule: fence
"""
_SILENT = f"""{RUNNING} and turn.lease_until < stationkeeper_clock()
"""
_CONCLUDE = """
    with ours as (
        select turn.id, turn.task_id, turn.item_key, turn.workflow, turn.fence, turn.cancel as flagged, turn.death,
            turn.status in ('queued', 'running') as is_open
        from turn join item on item.key = turn.item_key
            join (
                select name from workflow where name = (select workflow from turn where id = :turn_id)
                for no key update
            ) locked on locked.name = turn.workflow
        where turn.id = :turn_id
            and {whose}
        for no key update of item, turn
    ), decided as (
        select ours.*, stationkeeper_task_after(ours.task_id, :task, :stop, flagged) as status,
            case when flagged is null or :task = 'succeeded' then :stop else flagged end as stop
        from ours
    ), doubted as (
        update effect set status = 'unknown' from ours
        where effect.task_id = ours.task_id and effect.status = 'intended'
    ), ended as (
        update turn
        set status = :turn, stop_reason = decided.stop, summary = :reason, ended_at = stationkeeper_clock(),
            death = coalesce(turn.death, cast(:death as text))
        from decided where turn.id = decided.id
    ), moved as (
        update task
        set status = decided.status,
            stop_reason = case when task.status = 'compensating' then task.stop_reason else decided.stop end,
            reason = case when task.status = 'compensating' then task.reason else :reason end,
            due_at = case when decided.status in ('succeeded', 'failed', 'cancelled') then null
                when decided.status = 'unknown' and (decided.flagged is not null or :task <> 'unknown')
                    then stationkeeper_clock()
                when decided.status = 'compensating'
                    and (decided.flagged is not null or :task in ('failed', 'cancelled')) then stationkeeper_clock()
                else cast(:due_at as timestamptz) end,
            ended_at = case when decided.status in ('succeeded', 'failed', 'cancelled') then stationkeeper_clock() end
        from decided where task.id = decided.task_id
    ), raised as (
        update item
        set version = item.version + 1, turns_in_row = 0, conversing = false,
            attempt = case when :clean then 0 when :counted then item.attempt else greatest(item.attempt - 1, 0) end
        from decided where item.key = decided.item_key
    ), freed as (
        update workflow set open_turns = open_turns - 1 from decided
        where workflow.name = decided.workflow and decided.is_open
    ), held as (
        insert into hold (scope, workflow, item_key, kind, lift, reason, owner)
        select 'item', workflow, item_key, :hold_kind, :hold_lift, :hold_reason, :hold_owner from decided
        where cast(:hold_kind as text) is not null and status not in ('succeeded', 'failed', 'cancelled')
        on conflict do nothing
    ), told as (
        insert into history (item_key, workflow, kind, detail)
        select item_key, workflow, 'turn_ended', jsonb_build_object('turn', id, 'fence', fence,
            'status', cast(:turn as text), 'stop', stop, 'task', status, 'reason', cast(:reason as text))
        from decided
    ), rung as (
        update reconciler
        set due_requested_at = greatest(stationkeeper_clock(), due_began_at + interval '1 microsecond')
        from decided where reconciler.workflow = decided.workflow and exists (
            select from task where task.workflow = decided.workflow and task.due_at <= stationkeeper_now())
    )
    select status from decided
"""
_CONCLUDE_OURS = _CONCLUDE.format(whose=_OURS)
_CONCLUDE_SILENT = _CONCLUDE.format(whose=_SILENT)
# Our own conclusion, when its answer was lost: nobody else ends a running turn in another way than as lost.
_CONCLUDED_BEFORE = """
    select task.status from turn join task on task.id = turn.task_id
    where turn.id = :turn_id and turn.fence = :fence and turn.token = :token
        and turn.status in ('succeeded', 'failed', 'cancelled')
"""


def conclude(hot: Database, ref: TurnRef, ending: Ending) -> TaskStatus | None:
    """End a turn of ours; returns the task's status, None when the turn is not ours any more."""
    ours = {"turn_id": ref.turn_id, "fence": ref.fence, "token": ref.token}
    row = hot.row(_CONCLUDE_OURS, **{**ours, **_values(ending)})
    if row is None:
        row = hot.row(_CONCLUDED_BEFORE, **ours)
    return TaskStatus(row.status) if row is not None else None


def conclude_silent(database: Database, turn_id: UUID, ending: Ending) -> bool:
    """End a turn whose lease ran out; False when it was renewed, or concluded, meanwhile."""
    values = {**_values(ending), "death": "its lease ran out"}
    return database.row(_CONCLUDE_SILENT, turn_id=turn_id, **values) is not None


def _values(ending: Ending) -> dict[str, Any]:
    hold = ending.hold
    return {
        "turn": ending.turn.value,
        "stop": ending.stop.value,
        "task": ending.task.value,
        "reason": ending.reason,
        "due_at": ending.due_at,
        "clean": ending.clean,
        "counted": ending.counted,
        "death": None,
        "hold_kind": hold.kind.value if hold is not None else None,
        "hold_lift": hold.lift.value if hold is not None else None,
        "hold_reason": hold.reason if hold is not None else None,
        "hold_owner": hold.owner if hold is not None else None,
    }
