"""What must be true of a flow world at rest, by the outside's own log: each effect once, or asked of a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.flows.world import FlowWorld
from tests.world import NeverQuiet

_UNREST = """
    select 'an open turn', id::text from turn where status in ('queued', 'running')
    union all select 'a live task that nothing wakes', task.id::text from task
        where status not in ('succeeded', 'failed', 'cancelled') and not exists (
            select from hold where hold.item_key = task.item_key and lifted_at is null and owner <> '' and reason <> '')
            and not (task.status = 'waiting_input' and exists (
                select from question where question.task_id = task.id and answered_at is null))
    union all select 'a question that nobody can answer any more', step from question
        join task on task.id = question.task_id
        where answered_at is null and task.status not in ('waiting_input', 'failed', 'cancelled')
    union all select 'an answer without its step', step from question where answered_at is not null and not exists (
        select from step where step.task_id = question.task_id and step.name = question.step)
    union all select 'a cap slot that is taken', open_turns::text from workflow where open_turns <> 0
    union all select 'an end without a reason', id::text from task
        where status in ('succeeded', 'failed', 'cancelled') and stop_reason is null
    union all select 'an over task with an open effect', effect.key from effect join task on task.id = effect.task_id
        where effect.status in ('intended', 'unknown') and task.status in ('succeeded', 'failed', 'cancelled')
    union all select 'a step that was recorded twice', name from step where task_id is not null
        group by task_id, name having count(*) > 1
    union all select 'a committed effect without its step', key from effect where status = 'committed' and not exists (
        select from step where step.task_id = effect.task_id and step.name = effect.node)
"""
_LEDGER = """
    select effect.key, effect.status, task.status as task_status, exists (
        select from hold where hold.item_key = task.item_key and lifted_at is null and kind = 'unknown_effect') as asked
    from effect join task on task.id = effect.task_id
"""


def at_rest(world: FlowWorld) -> list[str]:
    """Let the world come to rest, and say what is wrong with it then; empty: nothing."""
    try:
        world.run_until_quiet()
    except NeverQuiet as restless:
        return [str(restless), *violations(world)]
    return list(violations(world))


def violations(world: FlowWorld) -> Iterator[str]:
    """Every broken promise, in words."""
    yield from (f"{what}: {which}" for what, which in world.rows(_UNREST))
    paid = Counter(world.paid())
    yield from (f"{key} was paid {times} times" for key, times in paid.items() if times > 1)
    ledger = {key: (status, task, asked) for key, status, task, asked in world.rows(_LEDGER)}
    yield from (f"{key} was paid, and the ledger does not have it" for key in paid.keys() - ledger.keys())
    for key, (status, task, asked) in ledger.items():
        if status == "committed" and not paid[key]:
            yield f"{key} is committed and was not paid"
        if status != "committed" and paid[key] and not asked:
            yield f"{key} was paid, is {status}, and nobody is asked"
        if task == "succeeded" and status != "committed":
            yield f"the task of {key} succeeded, and its effect is {status}"
