"""What the tick does for a flow: opens the turns of due tasks, concludes silent ones, stops what is late.

The workflow's row is locked first, by a statement of its own: whoever ends a turn or a task of it holds that lock, so
the next statement sees how it ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.domain import turn as turns
from orchestrator.domain.flow import Ending
from orchestrator.domain.hold import Hold, HoldKind, HoldScope, Lift
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import Counters, Parked, Recheck, StopReason, TurnLimits
from orchestrator.ports.store import Offer
from orchestrator.store.database import Database, Row
from orchestrator.store.flows import concluding, starting

_LOCK = "select name from workflow where name = :workflow for no key update"
_OPEN_NOW = """
    select count(*) as turns, count(*) filter (where status = 'queued') as queued
    from turn where workflow = :workflow and status in ('queued', 'running')
"""
_OPEN = """
    with due as (
        select task.id, task.item_key, task.workflow_version,
            case when task.cancel is null and task.status <> 'compensating' then task.deadline_at end as deadline_at
        from task join item on item.key = task.item_key
        where task.workflow = :workflow and task.due_at <= stationkeeper_now()
            and task.status not in ('succeeded', 'failed', 'cancelled')
            and stationkeeper_held(task.item_key, :workflow) is null -- rule: hold
            and not exists (
                select from turn where turn.task_id = task.id and turn.status in ('queued', 'running'))
        order by task.due_at, task.id
        limit :at_most
        for no key update of item, task skip locked
    ), numbered as (
        update item set version = item.version + 1, fence = item.fence + 1
        from due where item.key = due.item_key
        returning item.key, item.fence, item.identifier
    ), reused as (
        update task set due_at = null from due where task.id = due.id
    ), queued as (
        insert into turn
            (id, task_id, item_key, workflow, workflow_version, ordinal, fence, state, state_folded, deadline_at)
        select gen_random_uuid(), due.id, due.item_key, :workflow, due.workflow_version,
            numbered.fence - installation.fence_base, numbered.fence,
            '', '', due.deadline_at
        from installation, due join numbered on numbered.key = due.item_key
        returning id, item_key, fence
    ), counted as (
        update workflow set open_turns = open_turns + (select count(*) from queued)
        where name = :workflow and exists (select from queued)
    ), told as (
        insert into history (item_key, workflow, kind, detail)
        select item_key, :workflow, 'turn_opened', jsonb_build_object('turn', id, 'fence', fence) from queued
    )
    select queued.id, queued.fence, numbered.identifier from queued join numbered on numbered.key = queued.item_key
"""
# One reason for each task that is due and was not opened, changes only. Who waits for a worker is seen by the ticks of
# boards, which leave it its share of the slots.
_NOTE_WAITS = """
    with waiting as (
        select item.item_id, item.identifier,
            coalesce('held_' || stationkeeper_held(task.item_key, :workflow), case
                when (select count(*) from turn where workflow = :workflow and status in ('queued', 'running')) >= :cap
                then 'no_slot_total' else 'no_worker_slot' end) as reason
        from task join item on item.key = task.item_key
        where task.workflow = :workflow and task.due_at <= stationkeeper_now()
            and task.status not in ('succeeded', 'failed', 'cancelled')
            and not exists (
                select from turn where turn.task_id = task.id and turn.status in ('queued', 'running'))
        order by task.due_at, task.id
        limit :most
    ), gone as (
        delete from wait
        where workflow = :workflow and not exists (select from waiting where waiting.item_id = wait.item_id)
    )
    insert into wait (workflow, item_id, identifier, reason)
    select :workflow, item_id, identifier, reason from waiting
    on conflict (workflow, item_id) do update set reason = excluded.reason, since = stationkeeper_clock()
    where wait.reason <> excluded.reason
"""
# Reasons are for people and for other ticks: a backlog beyond this is known by its first ones.
_MOST_WAITS = 500
_STALE = """
    select turn.id, turn.fence, item.identifier from turn join item on item.key = turn.item_key
    where turn.workflow = :workflow and turn.status = 'queued'
        and (turn.enqueued_at is null
            or turn.enqueued_at <= stationkeeper_now() - make_interval(secs => :requeue_seconds))
    order by turn.opened_at
"""
_SILENT = """
    select turn.id, turn.cancel, item.attempt, item.turns_in_row, item.sessions, stationkeeper_clock() as now
    from turn join item on item.key = turn.item_key
    where turn.workflow = :workflow and turn.status = 'running' and turn.lease_until < stationkeeper_now()
    order by turn.id
"""
_LATE = """
    select id from task
    where workflow = :workflow and deadline_at <= stationkeeper_now() and cancel is null
        and status not in ('succeeded', 'failed', 'cancelled', 'compensating')
"""


def open_due(database: Database, workflow: str, *, at_most: int, cap: int) -> Sequence[Offer]:
    """Open the turns of tasks that wait longest, at most so many, and never more than `cap` at a time."""
    with database.transaction() as session:
        session.row(_LOCK, workflow=workflow)
        now = session.row(_OPEN_NOW, workflow=workflow)
        room = min(at_most - now.queued, cap - now.turns) if now is not None else 0
        if room <= 0:
            return ()
        return tuple(map(_offer, session.rows(_OPEN, workflow=workflow, at_most=room)))


def note_waits(database: Database, workflow: str, *, cap: int) -> None:
    """Store why each task that is due was not opened; call it after `open_due`."""
    database.change(_NOTE_WAITS, workflow=workflow, cap=cap, most=_MOST_WAITS)


def stale(database: Database, workflow: str, *, requeue_seconds: float) -> Sequence[Offer]:
    """The queued turns whose message is missing or old."""
    return tuple(map(_offer, database.rows(_STALE, workflow=workflow, requeue_seconds=requeue_seconds)))


def lose_silent(database: Database, workflow: str, limits: TurnLimits) -> int:
    """Conclude each turn whose lease ran out; one that was renewed meanwhile stays."""
    rows = database.rows(_SILENT, workflow=workflow)
    return sum(concluding.conclude_silent(database, row.id, _meaning(row, limits)) for row in rows)


def expire(database: Database, workflow: str) -> int:
    """Stop each task whose deadline passed; returns how many."""
    rows = database.rows(_LATE, workflow=workflow)
    return sum(starting.cancel(database, row.id, StopReason.EXPIRED) is not None for row in rows)


def _meaning(row: Row, limits: TurnLimits) -> Ending:
    """A lost turn is tried again until its attempts are spent; the statement itself looks at flags and open effects."""
    meant = turns.lost(Counters(row.attempt, row.turns_in_row, row.sessions), limits=limits, now=row.now)
    if isinstance(meant, Parked):
        hold = Hold(HoldScope.ITEM, HoldKind.DEAD_LETTER, Lift.PERSON, meant.reason)
        return Ending(meant.turn, meant.stop, TaskStatus.RUNNING, meant.reason, hold=hold, clean=False)
    assert isinstance(meant, Recheck)  # noqa: S101 -- a lost turn is tried again or parked
    return Ending(meant.turn, meant.stop, TaskStatus.RUNNING, due_at=meant.at, clean=False)


def _offer(row: Row) -> Offer:
    return Offer(row.id, row.fence, f"{row.identifier} fence {row.fence}")
