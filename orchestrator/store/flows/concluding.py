"""A flow turn's end in one commit: turn, task, item, cap slot, ledger, hold, history.

Rows are locked in the order workflow, item, turn and read under those locks; everything else follows from them.
What was flagged meanwhile comes first, unless the task is done: then a cancel came too late. Whatever was intended and
not settled is unknown from here on, and its task with it. A task that is taken back keeps the reason for which it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from orchestrator.domain.flow import Ending
from orchestrator.domain.task import TaskStatus
from orchestrator.store.database import Database
from orchestrator.store.plans import RUNNING

# Whose turns are ended: those that are ours still, or those whose lease ran out.
_OURS = f"""turn.fence = asked.fence and turn.token = asked.token -- rule: fence
            and {RUNNING} and turn.death is null -- rule: fence
"""
_SILENT = f"""{RUNNING} and turn.lease_until < stationkeeper_clock()
"""
# A statement of its own, in the same commit. One that locks the flow's row and then updates it, with a snapshot from
# before the wait, can come to stand in line behind somebody who waits for it.
_LOCK = """
    select name from workflow
    where name in (select turn.workflow from turn where turn.id = any(cast(:turn_ids as uuid[])))
    order by name
    for no key update
"""
_CONCLUDE = """
    with asked as materialized (
        select * from unnest(
            cast(:turn_ids as uuid[]), cast(:fences as bigint[]), cast(:tokens as uuid[]), cast(:turns as text[]),
            cast(:stops as text[]), cast(:tasks as text[]), cast(:reasons as text[]), cast(:dues as timestamptz[]),
            cast(:cleans as boolean[]), cast(:counteds as boolean[]), cast(:deaths as text[]),
            cast(:hold_kinds as text[]), cast(:hold_lifts as text[]), cast(:hold_reasons as text[]),
            cast(:hold_owners as text[])
        ) as asked (turn_id, fence, token, turn, stop, task, reason, due_at, clean, counted, death,
            hold_kind, hold_lift, hold_reason, hold_owner)
    ), ours as materialized (
        select asked.*, turn.task_id, turn.item_key, turn.workflow, turn.cancel as flagged,
            turn.status in ('queued', 'running') as is_open
        from asked join turn on turn.id = asked.turn_id join item on item.key = turn.item_key
        where {whose}
        for no key update of item, turn {wait}
    ), decided as materialized (
        select ours.*, stationkeeper_task_after(task_id, task, stop, flagged) as status,
            case when flagged is null or task = 'succeeded' then stop else flagged end as stopped
        from ours
    ), doubted as (
        update effect set status = 'unknown' from ours
        where effect.task_id = ours.task_id and effect.status = 'intended'
    ), ended as (
        update turn
        set status = decided.turn, stop_reason = decided.stopped, summary = decided.reason,
            ended_at = stationkeeper_clock(), death = coalesce(turn.death, decided.death)
        from decided where turn.id = decided.turn_id
    ), moved as (
        update task
        set status = decided.status,
            stop_reason = case when task.status = 'compensating' then task.stop_reason else decided.stopped end,
            reason = case when task.status = 'compensating' then task.reason else decided.reason end,
            due_at = case when decided.status in ('succeeded', 'failed', 'cancelled') then null
                when decided.status = 'unknown' and (decided.flagged is not null or decided.task <> 'unknown')
                    then stationkeeper_clock()
                when decided.status = 'compensating'
                    and (decided.flagged is not null or decided.task in ('failed', 'cancelled'))
                    then stationkeeper_clock()
                else decided.due_at end,
            ended_at = case when decided.status in ('succeeded', 'failed', 'cancelled') then stationkeeper_clock() end
        from decided where task.id = decided.task_id
    ), raised as (
        update item
        set version = item.version + 1, turns_in_row = 0, conversing = false,
            attempt = case when decided.clean then 0 when decided.counted then item.attempt
                else greatest(item.attempt - 1, 0) end
        from decided where item.key = decided.item_key
    ), freed as (
        update workflow set open_turns = workflow.open_turns - given.back
        from (select workflow as name, count(*) as back from decided where is_open group by workflow) given
        where workflow.name = given.name
    ), held as (
        insert into hold (scope, workflow, item_key, kind, lift, reason, owner)
        select 'item', workflow, item_key, hold_kind, hold_lift, hold_reason, hold_owner from decided
        where hold_kind is not null and status not in ('succeeded', 'failed', 'cancelled')
        on conflict do nothing
    ), told as (
        insert into history (item_key, workflow, kind, detail)
        select item_key, workflow, 'turn_ended', jsonb_build_object('turn', turn_id, 'fence', fence,
            'status', turn, 'stop', stopped, 'task', status, 'reason', reason)
        from decided
    ), rung as (
        update reconciler
        set due_requested_at = greatest(stationkeeper_clock(), due_began_at + interval '1 microsecond')
        where workflow in (select workflow from decided) and exists (
            select from task where task.workflow = reconciler.workflow and task.due_at <= stationkeeper_now())
    )
    select turn_id, status from decided
"""
_CONCLUDE_OURS = _CONCLUDE.format(whose=_OURS, wait="")
_CONCLUDE_TOGETHER = _CONCLUDE.format(whose=_OURS, wait="skip locked")
_CONCLUDE_SILENT = _CONCLUDE.format(whose=_SILENT, wait="")
# Our own conclusion, when its answer was lost: nobody else ends a running turn in another way than as lost.
_CONCLUDED_BEFORE = """
    select task.status from turn join task on task.id = turn.task_id
    where turn.id = :turn_id and turn.fence = :fence and turn.token = :token
        and turn.status in ('succeeded', 'failed', 'cancelled')
"""


class Concluded(NamedTuple):
    """A turn, the end that it is to have, and by whom: its owner, or whoever learnt of its worker's `death`."""

    turn_id: UUID
    ending: Ending
    fence: int | None = None
    token: UUID | None = None
    death: str | None = None


def conclude(hot: Database, asked: Concluded) -> TaskStatus | None:
    """End a turn of ours; returns the task's status, None when the turn is not ours any more."""
    found = hot.rows_under(_LOCK, _CONCLUDE_OURS, **_columns([asked]))
    row = found[0] if found else None
    if row is None:
        row = hot.row(_CONCLUDED_BEFORE, turn_id=asked.turn_id, fence=asked.fence, token=asked.token)
    return TaskStatus(row.status) if row is not None else None


def conclude_together(hot: Database, asked: Sequence[Concluded]) -> Sequence[TaskStatus | None]:
    """The same for several turns in one statement; None for one that has to be asked for alone."""
    rows = hot.rows_under(_LOCK, _CONCLUDE_TOGETHER, **_columns(asked))
    found = {row.turn_id: TaskStatus(row.status) for row in rows}
    return [found.get(each.turn_id) for each in asked]


def conclude_silent(database: Database, turn_id: UUID, ending: Ending) -> bool:
    """End a turn whose lease ran out; False when it was renewed, or concluded, meanwhile."""
    silent = Concluded(turn_id, ending, death="its lease ran out")
    return bool(database.rows_under(_LOCK, _CONCLUDE_SILENT, **_columns([silent])))


def _columns(asked: Sequence[Concluded]) -> dict[str, list[Any]]:
    endings, holds = [each.ending for each in asked], [each.ending.hold for each in asked]
    return {
        "turn_ids": [each.turn_id for each in asked],
        "fences": [each.fence for each in asked],
        "tokens": [each.token for each in asked],
        "turns": [ending.turn.value for ending in endings],
        "stops": [ending.stop.value for ending in endings],
        "tasks": [ending.task.value for ending in endings],
        "reasons": [ending.reason for ending in endings],
        "dues": [ending.due_at for ending in endings],
        "cleans": [ending.clean for ending in endings],
        "counteds": [ending.counted for ending in endings],
        "deaths": [each.death for each in asked],
        "hold_kinds": [hold and hold.kind.value for hold in holds],
        "hold_lifts": [hold and hold.lift.value for hold in holds],
        "hold_reasons": [hold and hold.reason for hold in holds],
        "hold_owners": [hold and hold.owner for hold in holds],
    }
