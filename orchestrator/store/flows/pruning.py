"""Deletes tasks that are over, by age, below what is final and past the safe-until of its last effect.

A row of the ledger is a key that we remember: deleted sooner than the target forgets it, the key could be sent again.
"""

from __future__ import annotations

from orchestrator.store.database import Database

_PRUNE = """
    with old as (
        select task.id, task.item_key from task
        where starts_with(task.workflow, 'flow:') and (cast(:workflow as text) is null or task.workflow = :workflow)
            and task.status in ('succeeded', 'failed', 'cancelled')
            and task.ended_at < stationkeeper_now() - make_interval(secs => :seconds)
            and not exists (
                select from effect where effect.task_id = task.id
                    and (effect.safe_until > stationkeeper_now() or effect.status in ('intended', 'unknown')))
        limit :at_most -- in no order: to sort a backlog would be to read all of it for each commit
        for update of task skip locked
    )
    select array_agg(id) as tasks, array_agg(item_key) as items from old
"""
_DELETE = (
    "delete from effect where task_id = any(:tasks)",
    "delete from question where task_id = any(:tasks)",
    "delete from step_failure where task_id = any(:tasks)",
    "delete from step where turn_id in (select id from turn where task_id = any(:tasks))",
    "delete from turn where task_id = any(:tasks)",
    "delete from task where id = any(:tasks)",
    "delete from hold where item_key = any(:items)",
    "delete from history where item_key = any(:items)",
    "delete from item where key = any(:items) and not exists (select from task where task.item_key = item.key)",
)


def prune(database: Database, *, days: float, at_most: int, workflow: str | None) -> int:
    """Delete tasks that are over for so long, of one flow or of all, in one commit; returns how many."""
    with database.transaction() as session:
        found = session.row(_PRUNE, seconds=days * 86_400, at_most=at_most, workflow=workflow)
        if found is None or not found.tasks:
            return 0
        for statement in _DELETE:
            session.change(statement, tasks=found.tasks, items=found.items)
        return len(found.tasks)
