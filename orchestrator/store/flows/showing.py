"""What a person reads about tasks, with a card or without: all of them in short, one whole; each from one snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from orchestrator.domain.step import PREFIX, flow_of, is_flow
from orchestrator.domain.task import TaskStatus
from orchestrator.store.database import Database, Row, Session

_MOST = 200
_TASKS = """
    select task.id, item.identifier, item.item_id as key, task.workflow, task.workflow_version, task.status,
        task.due_at, task.stop_reason, task.reason, task.cancel, task.opened_at, task.ended_at, task.deadline_at,
        task.tenant, task.actor, task.goal, task.input, task.authority, task.item_key, card.identifier as card,
        turn.status as turn_status, turn.fence, turn.host, held.kind as hold, held.owner, held.reason as hold_reason,
        question.step as asks, question.words, question.owner as asked, question.expires_at,
        stationkeeper_clock() as now
    from task join item on item.key = task.item_key
    left join item card on card.key = task.card_key
    left join turn on turn.task_id = task.id and turn.status in ('queued', 'running')
    left join question on question.task_id = task.id and question.answered_at is null and task.status = 'waiting_input'
    left join lateral (
        select kind, owner, reason from hold
        where hold.item_key = task.item_key and hold.lifted_at is null
        order by placed_at desc limit 1) held on true
    where true
"""
_LIST = f"""{_TASKS} and (:cards or starts_with(task.workflow, 'flow:'))
    and (cast(:flow as text) is null or task.workflow = :flow)
    order by task.status in ('succeeded', 'failed', 'cancelled'), task.opened_at desc limit :most
"""
_ONE = f"""{_TASKS} and (starts_with(cast(task.id as text), lower(:key)) or lower(item.identifier) = lower(:key)
        or item.item_id = :key)
    order by task.opened_at desc limit 2
"""
_STEPS = """
    select step.ordinal, step.name, step.output, step.ends, step.at, step.turn_id
    from step join turn on turn.id = step.turn_id
    where turn.task_id = :id order by turn.fence, step.ordinal
"""
_FAILURES = "select step, attempt, kind, reason, at from step_failure where task_id = :id order by at"
_LEDGER = """
    select key, what, status, undoes, sends, told, outcome, reason, intended_at, settled_at, safe_until from ledger
    where task_id = :id order by intended_at
"""
_QUESTIONS = """
    select step, words, owner, expires_at, asked_at, answered_at, answered_by from question
    where task_id = :id order by asked_at
"""
_TURNS = """
    select fence, status, stop_reason, host, pid, admitted_at, ended_at, death
    from turn where task_id = :id order by fence
"""


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A task in short; `waits_for` says in words what comes next. The flow of a card's task is its workflow's name."""

    id: UUID
    identifier: str
    key: str
    flow: str
    manifest: int
    is_card: bool
    status: TaskStatus
    waits_for: str
    stop_reason: str | None
    reason: str | None
    opened_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class TaskStory:
    """A task whole: what it was given, what it recorded, what it did outside, which turns it took."""

    line: TaskLine
    given: Mapping[str, object]
    steps: Sequence[Row]
    failures: Sequence[Row]
    ledger: Sequence[Row]
    turns: Sequence[Row]
    questions: Sequence[Row]


class SeveralTasks(LookupError):
    """More than one task answers to that key."""


def tasks(database: Database, flow: str | None = None, *, cards: bool = False) -> list[TaskLine]:
    """The newest tasks, open ones first, of one flow or of all; with `cards` those of cards as well."""
    with database.snapshot() as session:
        row = f"{PREFIX}{flow}" if flow is not None else None
        rows = session.rows(_LIST, flow=row, cards=cards, most=_MOST)
    return [_line(row) for row in rows]


def story(database: Database, key: str) -> TaskStory | None:
    """The task whose id begins so, or that bears that name or start key; of a card its newest. Raises SeveralTasks."""
    with database.snapshot() as session:
        rows = session.rows(_ONE, key=key)
        if len({row.item_key for row in rows}) > 1:
            raise SeveralTasks(f"{key}: {rows[0].id} and {rows[1].id} begin so; type more of the id")
        return _story(session, rows[0]) if rows else None


def _story(session: Session, row: Row) -> TaskStory:
    given = {
        "input": row.input,
        "authority": list(row.authority),
        "tenant": row.tenant,
        "actor": row.actor,
        "goal": row.goal,
        "card": row.card,
        "deadline": row.deadline_at,
    }
    found = [session.rows(sql, id=row.id) for sql in (_STEPS, _FAILURES, _LEDGER, _TURNS, _QUESTIONS)]
    return TaskStory(_line(row), given, *found)


def _line(row: Row) -> TaskLine:
    return TaskLine(
        id=row.id,
        identifier=row.identifier,
        key=row.key,
        flow=flow_of(row.workflow),
        manifest=row.workflow_version,
        is_card=not is_flow(row.workflow),
        status=TaskStatus(row.status),
        waits_for=_waits_for(row),
        stop_reason=row.stop_reason,
        reason=row.reason or None,
        opened_at=row.opened_at,
        ended_at=row.ended_at,
    )


def _waits_for(row: Row) -> str:
    """What comes next, in words."""
    if row.ended_at is not None:
        return ""
    stopping = f", to stop ({row.cancel})" if row.cancel is not None else ""
    if row.turn_status == "running":
        return f"its turn, fence {row.fence}, on {row.host}{stopping}"
    if row.turn_status == "queued":
        return f"a free worker{stopping}"
    if row.hold is not None:
        return f"{row.owner}: {row.hold_reason}{stopping}"
    if row.asks is not None:
        until = f" (until {row.expires_at.astimezone():%Y-%m-%d %H:%M:%S})" if row.expires_at is not None else ""
        return f"{row.asked}: {row.asks}: {row.words}{until}"
    if row.due_at is not None and row.due_at > row.now:
        return f"{row.due_at.astimezone():%H:%M:%S}{stopping}"
    return f"the next tick{stopping}"
