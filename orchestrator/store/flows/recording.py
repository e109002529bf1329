"""What a flow's turn loads, and the checkpoint: one statement, one round trip, in autocommit.

Everything that the checkpoint checks (turn, fence, status, cancel, deadline) is a column of the one row that it
updates, the turn's: after a wait only that row is read again. What a step found is a fact and is recorded whoever
brings it, once; a decision is recorded only by the turn that may still decide.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from orchestrator.domain.effect import EffectRecord, EffectStatus
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import Card, Failure, FlowStep, FlowTask, Kept, Recorded, TurnRef
from orchestrator.store.database import Database
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
    with ours as (
        select turn.id, turn.task_id from turn
        where {OURS}
    )
    select task.id, task.status, task.input, task.authority, task.cancel, stationkeeper_clock() as now,
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
    row = hot.row(_LOAD, **named(ref))
    if row is not None and row.status in _PAUSED:
        hot.change(_WAKE, **named(ref))
        row = hot.row(_LOAD, **named(ref))
    if row is None or row.status in _PAUSED:
        return None
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


def checkpoint(hot: Database, ref: TurnRef, step: FlowStep, *, lease_seconds: float) -> Kept:
    """Record the step; says whether the turn may go on, and whether this record is the one that counts."""
    values = {**named(ref), **recorded(step), "lease_seconds": lease_seconds}
    row = hot.one(_DECISION if step.is_decision else _FACT, **values)
    if row.kept:
        return Kept(row.ours, kept=True)
    told = {"turn_id": ref.turn_id, "ordinal": step.ordinal, "name": step.name}
    return Kept(row.ours, kept=hot.row(_KEPT_BEFORE, **told) is not None)


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
