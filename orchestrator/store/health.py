"""How durable tasks fare, by workflow: what ended in the last day and how, and what is open that should not be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.store.database import Database

# One pass over the tasks: `metrics` is asked once a minute or so, and an index would cost every task's end.
_HEALTH = """
    with ended as (
        select task.id, task.workflow, task.status, task.stop_reason from task
        where task.ended_at > stationkeeper_now() - interval '1 day'
    ), turned as (
        select ended.id, ended.workflow, ended.status, bool_or(turn.status = 'lost') as was_lost,
            sum((select coalesce(sum(value::text::numeric), 0) from jsonb_each(coalesce(turn.usage, '{}'))
                where key in ('input_tokens', 'output_tokens') and jsonb_typeof(value) = 'number')) as tokens,
            sum((select count(*) from step where step.turn_id = turn.id)) as steps
        from ended join turn on turn.task_id = ended.id
        group by ended.id, ended.workflow, ended.status
    )
    select workflow.name as workflow,
        (select jsonb_object_agg(each.status, each.count) from (
            select status, count(*) from task where task.workflow = workflow.name
            group by status) each) as standing,
        (select jsonb_object_agg(each.status, each.count) from (
            select status, count(*) from ended where ended.workflow = workflow.name
            group by status) each) as ended,
        (select jsonb_object_agg(each.status, each.count) from (
            select status, count(*) from turned where turned.workflow = workflow.name and was_lost
            group by status) each) as recovered,
        (select avg(steps)::float8 from turned
            where turned.workflow = workflow.name and status = 'succeeded') as steps,
        (select avg(tokens)::float8 from turned
            where turned.workflow = workflow.name and status = 'succeeded') as tokens,
        (select count(*) from ended
            where ended.workflow = workflow.name and stop_reason = 'proposal_refused') as refused,
        (select count(*) from task where task.workflow = workflow.name
            and task.status not in ('succeeded', 'failed', 'cancelled') and task.due_at is null
            and stationkeeper_held(task.item_key, task.workflow) is null
            and not exists (select from question where question.task_id = task.id and answered_at is null)
            and not exists (
                select from turn where turn.task_id = task.id and turn.status in ('queued', 'running'))) as stuck,
        (select jsonb_object_agg(each.status, each.count) from (
            select effect.status, count(*) from effect join task on task.id = effect.task_id
            where task.workflow = workflow.name group by effect.status) each) as effects,
        (select count(*) from effect join task on task.id = effect.task_id
            where task.workflow = workflow.name and effect.sends > 1) as resent,
        (select coalesce(extract(epoch from stationkeeper_now() - min(effect.intended_at)), 0)::float8
            from effect join task on task.id = effect.task_id
            where task.workflow = workflow.name and effect.status = 'unknown') as unknown_age
    from workflow order by workflow.name
"""


@dataclass(frozen=True, slots=True)
class Health:
    """One workflow's tasks. Counts are by status; `ended`, `recovered`, `refused` and the averages of the last day.

    `recovered` are those that ended although a turn of theirs was lost. `steps` and `tokens` are for each success, zero
    without one. `resent` counts effects that were sent more than once, after a look-up had found nothing; `unknown_age`
    is in seconds. `stuck` tasks have neither a turn, a time, a hold nor a question: nothing will wake them.
    """

    workflow: str
    standing: Mapping[str, int]
    ended: Mapping[str, int]
    recovered: Mapping[str, int]
    effects: Mapping[str, int]
    steps: float
    tokens: float
    refused: int
    stuck: int
    resent: int
    unknown_age: float


def health(database: Database) -> Sequence[Health]:
    """Every workflow's, by name."""
    return [
        Health(
            workflow=row.workflow,
            standing=row.standing or {},
            ended=row.ended or {},
            recovered=row.recovered or {},
            effects=row.effects or {},
            steps=row.steps or 0.0,
            tokens=row.tokens or 0.0,
            refused=row.refused,
            stuck=row.stuck,
            resent=row.resent,
            unknown_age=row.unknown_age,
        )
        for row in database.rows(_HEALTH)
    ]
