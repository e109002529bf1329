"""What a flow's turn loads, and the checkpoint: one statement, one round trip, in autocommit.

Everything that the checkpoint checks (turn, fence, status, cancel, deadline) is a column of the one row that it
updates, the turn's: after a wait only that row is read again. What a step found is a fact and is recorded whoever
brings it, once; a decision is recorded only by the turn that may still decide.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from orchestrator.domain.effect import EffectRecord, EffectStatus
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import Card, Failure, FlowStep, FlowTask, Kept, Recorded, TurnRef
from orchestrator.store.database import Database, Row
from orchestrator.store.plans import RUNNING

OURS = f"""turn.id = :turn_id
            and turn.fence = :fence and turn.token = :token -- rule: fence
            and {RUNNING} and turn.death is null -- rule: fence"""
MAY_GO_ON = f"""{OURS}
            and turn.cancel is null -- rule: cancel
            and (turn.deadline_at is null or turn.deadline_at > stationkeeper_clock()) -- rule: deadline"""
EXTEND = """update turn
        set lease_until = least(
            stationkeeper_clock() + make_interval(secs => :lease_seconds),
            coalesce(turn.step_deadline_at, 'infinity'))"""

_FACT = f"""
    with mine as (
        {EXTEND}
        where {MAY_GO_ON}
        returning turn.id
    ), kept as (
        insert into step (turn_id, task_id, ordinal, name, output, ends)
        select turn.id, turn.task_id, :ordinal, :name, cast(:output as jsonb), :ends from turn where turn.id = :turn_id
        on conflict do nothing
        returning 1
    )
    select exists (select from mine) as ours, exists (select from kept) as kept
"""
_DECISION = f"""
    with mine as (
        {EXTEND}
        where {MAY_GO_ON}
        returning turn.id, turn.task_id
    ), kept as (
        insert into step (turn_id, task_id, ordinal, name, output, ends)
        select mine.id, mine.task_id, :ordinal, :name, cast(:output as jsonb), :ends from mine
        on conflict do nothing
        returning 1
    )
    select exists (select from mine) as ours, exists (select from kept) as kept
"""
# The same for the steps of several turns; a turn that somebody holds is left out.
_TOGETHER = f"""
    with asked as materialized (
        select * from unnest(
            cast(:turn_ids as uuid[]), cast(:fences as bigint[]), cast(:tokens as uuid[]),
            cast(:lease_seconds as float8[]), cast(:ordinals as integer[]), cast(:names as text[]),
            cast(:outputs as text[]), cast(:ends as text[]), cast(:decisions as boolean[])
        ) as asked (turn_id, fence, token, lease_seconds, ordinal, name, output, ends, is_decision)
    ), found as materialized (
        select asked.*, turn.task_id, turn.may_go_on
        from asked cross join lateral (
            select turn.task_id, (true
                and turn.fence = asked.fence and turn.token = asked.token -- rule: fence
                and {RUNNING} and turn.death is null -- rule: fence
                and turn.cancel is null -- rule: cancel
                and (turn.deadline_at is null or turn.deadline_at > stationkeeper_clock()) -- rule: deadline
            ) as may_go_on
            from turn where turn.id = asked.turn_id
            for no key update skip locked
        ) turn
    ), mine as (
        update turn
        set lease_until = least(stationkeeper_clock() + make_interval(secs => found.lease_seconds),
            coalesce(turn.step_deadline_at, 'infinity'))
        from found where turn.id = found.turn_id and found.may_go_on
    ), kept as (
        insert into step (turn_id, task_id, ordinal, name, output, ends)
        select turn_id, task_id, ordinal, name, cast(output as jsonb), ends from found
        where may_go_on or not is_decision
        on conflict do nothing
        returning turn_id
    )
    select found.turn_id, found.may_go_on as ours, kept.turn_id is not null as kept
    from found left join kept on kept.turn_id = found.turn_id
"""
# Asked for again after an unknown first: our own row is there.
_KEPT_BEFORE = """
    select 1 from step where turn_id = :turn_id and ordinal = :ordinal and name = :name
"""
# Who paused goes on: by its turn, so that no task but this one is looked at.
_WAKE = f"""
    update task set status = 'running'
    where task.id = (select turn.task_id from turn
            where {OURS}
        )
        and task.status in ('unknown', 'waiting_input', 'waiting_approval')
"""
_LOAD = f"""
    with ours as materialized (
        select turn.id, turn.task_id
        from unnest(cast(:turn_ids as uuid[]), cast(:fences as bigint[]), cast(:tokens as uuid[]))
            as asked (turn_id, fence, token) join turn on turn.id = asked.turn_id
        where turn.fence = asked.fence and turn.token = asked.token -- rule: fence
            and {RUNNING} and turn.death is null -- rule: fence
    )
    select ours.id as turn_id, task.id, task.status, task.input, task.authority, task.cancel,
        stationkeeper_clock() as now,
        (select jsonb_agg(jsonb_build_object('name', step.name, 'output', step.output, 'ends', step.ends))
            from step where step.task_id = task.id) as steps,
        (select jsonb_agg(to_jsonb(effect) || jsonb_build_object('sender_is_dead', effect.vouched
                or sender.status in ('succeeded', 'failed', 'cancelled') or effect.turn_id = ours.id
                or (sender.status = 'lost' and sender.death is distinct from 'its lease ran out')))
            from effect join turn sender on sender.id = effect.turn_id where effect.task_id = task.id) as effects,
        (select jsonb_object_agg(failed.step, failed.times) from (
            select step, count(*) as times from step_failure where task_id = task.id group by step) failed) as failures,
        card.workflow as card_workflow, card.item_id as card_id, card.identifier as card_name
    from ours join task on task.id = ours.task_id left join item card on card.key = task.card_key
"""
_FAIL = """
    insert into step_failure (task_id, step, attempt, turn_id, kind, reason)
    select turn.task_id, :step, :attempt, turn.id, :kind, :reason from turn where turn.id = :turn_id
    on conflict do nothing
    returning 1
"""
# What a turn does not go on in.
_PAUSED = frozenset(
    status.value for status in (TaskStatus.UNKNOWN, TaskStatus.WAITING_INPUT, TaskStatus.WAITING_APPROVAL)
)


def load(hot: Database, ref: TurnRef) -> FlowTask | None:
    """The task of a turn of ours, which is running from here on; None when the turn is not ours."""
    row = hot.row(_LOAD, **_columns([ref]))
    if row is not None and row.status in _PAUSED:
        hot.change(_WAKE, **named(ref))
        row = hot.row(_LOAD, **_columns([ref]))
    if row is None or row.status in _PAUSED:
        return None
    return _task(row)


def load_together(hot: Database, refs: Sequence[TurnRef]) -> Sequence[FlowTask | None]:
    """The same for several turns in one statement; None for one that has to be asked for alone."""
    rows = {row.turn_id: row for row in hot.rows(_LOAD, **_columns(refs)) if row.status not in _PAUSED}
    return [_task(rows[ref.turn_id]) if ref.turn_id in rows else None for ref in refs]


def _task(row: Row) -> FlowTask:
    return FlowTask(
        task_id=row.id,
        status=TaskStatus(row.status),
        input=row.input,
        authority=frozenset(row.authority),
        stopping=StopReason(row.cancel) if row.cancel is not None else None,
        now=row.now,
        steps={step["name"]: Recorded(step["output"], step["ends"]) for step in row.steps or ()},
        effects={found["node"]: _effect(found) for found in row.effects or ()},
        failures=row.failures or {},
        card=Card(row.card_workflow, row.card_id, row.card_name) if row.card_id is not None else None,
    )


class Checkpoint(NamedTuple):
    """A step that a turn brings, and the lease that it is to have from then on."""

    ref: TurnRef
    step: FlowStep
    lease_seconds: float


def checkpoint(hot: Database, brought: Checkpoint) -> Kept:
    """Record the step; says whether the turn may go on, and whether this record is the one that counts."""
    ref, step, lease_seconds = brought
    values = {**named(ref), **recorded(step), "lease_seconds": lease_seconds}
    row = hot.one(_DECISION if step.is_decision else _FACT, **values)
    if row.kept:
        return Kept(row.ours, kept=True)
    told = {"turn_id": ref.turn_id, "ordinal": step.ordinal, "name": step.name}
    return Kept(row.ours, kept=hot.row(_KEPT_BEFORE, **told) is not None)


def checkpoint_together(hot: Database, brought: Sequence[Checkpoint]) -> Sequence[Kept | None]:
    """The same for steps of different turns in one statement; None for one that has to be asked for alone."""
    columns = [{**named(ref), **recorded(step), "lease": lease} for ref, step, lease in brought]
    rows = hot.rows(
        _TOGETHER,
        turn_ids=[each["turn_id"] for each in columns],
        fences=[each["fence"] for each in columns],
        tokens=[each["token"] for each in columns],
        lease_seconds=[each["lease"] for each in columns],
        ordinals=[each["ordinal"] for each in columns],
        names=[each["name"] for each in columns],
        outputs=[each["output"] for each in columns],
        ends=[each["ends"] for each in columns],
        decisions=[each.step.is_decision for each in brought],
    )
    kept = {row.turn_id: Kept(row.ours, kept=True) for row in rows if row.kept}
    return [kept.get(each.ref.turn_id) for each in brought]


def fail(hot: Database, ref: TurnRef, failure: Failure) -> None:
    """Record a failed attempt, whoever brings it."""
    hot.row(
        _FAIL,
        turn_id=ref.turn_id,
        step=failure.step,
        attempt=failure.attempt,
        kind=failure.kind,
        reason=failure.reason,
    )


def named(ref: TurnRef) -> dict[str, Any]:
    """What a fenced statement is told of its turn."""
    return {"turn_id": ref.turn_id, "fence": ref.fence, "token": ref.token}


def _columns(refs: Sequence[TurnRef]) -> dict[str, Any]:
    return {
        "turn_ids": [ref.turn_id for ref in refs],
        "fences": [ref.fence for ref in refs],
        "tokens": [ref.token for ref in refs],
    }


def recorded(step: FlowStep) -> dict[str, Any]:
    """A step's columns."""
    return {"ordinal": step.ordinal, "name": step.name, "output": json.dumps(step.output), "ends": step.ends}


def _effect(found: dict[str, Any]) -> EffectRecord:
    return EffectRecord(
        key=found["key"],
        node=found["node"],
        status=EffectStatus(found["status"]),
        parameters=found["parameters"],
        sends=found["sends"],
        looks=found["looks"],
        act_until=datetime.fromisoformat(found["act_until"]),
        safe_until=datetime.fromisoformat(found["safe_until"]),
        turn_id=UUID(found["turn_id"]),
        sender_is_dead=found["sender_is_dead"],
        reason=found["reason"] or "",
    )
