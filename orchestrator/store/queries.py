"""What a person reads: the fleet, one item, one item's past. Each answer is one snapshot, and none asks the tracker.

A key is an identifier or an item's id, in any case of letters; several boards may have the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from orchestrator.store import health
from orchestrator.store.database import Database, Row, Session
from orchestrator.store.health import Health
from orchestrator.store.views import (
    AuditView,
    Explanation,
    HoldView,
    ItemView,
    LineView,
    Overview,
    StepView,
    Story,
    TaskView,
    TurnView,
    WaitView,
    WorkerView,
    WorkflowView,
    WorkspaceView,
    WriteView,
)

# Enough to see a pattern; the rest is in the history.
_LAST_TURNS = 5

_NOW = "select stationkeeper_clock() as now"
_WORKFLOWS = """
    select workflow.name, workflow.version, workflow.scope, version.path, workflow.interval_ms, workflow.problem,
        workflow.file_problem, workflow.open_turns, ring.due_began_at as ticked_at, ring.list_began_at as listed_at,
        coalesce(ring.running_until > stationkeeper_now(), false) as ticking, ring.report, workflow.retired_at,
        workflow.rest_until, workflow.rest_why, workflow.warnings,
        cast(ring.walk ->> 'whole_at' as timestamptz) as whole_at
    from workflow
    join workflow_version version on version.workflow = workflow.name and version.version = workflow.version
    left join reconciler ring on ring.workflow = workflow.name
    where workflow.retired_at is null or exists (
        select from task
        where task.workflow = workflow.name and task.status not in ('succeeded', 'failed', 'cancelled'))
    order by workflow.name
"""
_TURNS = """
    select turn.id, turn.workflow, turn.workflow_version, item.item_id, item.identifier, turn.ordinal, turn.fence,
        turn.status, turn.state, turn.attempt, turn.opened_at, turn.enqueued_at, turn.admitted_at, turn.ended_at,
        turn.lease_until, turn.host, turn.pid, turn.cancel, turn.stop_reason, turn.summary, turn.death, turn.session,
        turn.transcript, turn.usage
    from turn join item on item.key = turn.item_key
"""
_OPEN_TURNS = (
    f"{_TURNS} where turn.status in ('queued', 'running') order by turn.admitted_at nulls last, turn.opened_at"
)
_TURNS_OF_ITEM = f"{_TURNS} where turn.item_key = :item_key order by turn.ordinal"
_LAST_TURNS_OF_ITEM = f"{_TURNS} where turn.item_key = :item_key order by turn.ordinal desc limit :count"
_TASKS = """
    select task.id, task.workflow, item.identifier, task.status, task.due_at, task.stop_reason, task.opened_at,
        task.ended_at
    from task join item on item.key = task.item_key
"""
_RETRIES = f"{_TASKS} where task.due_at is not null order by task.due_at"
_LAST_TASK_OF_ITEM = f"{_TASKS} where task.item_key = :item_key order by task.opened_at desc limit 1"
_HOLDS = """
    select hold.id, hold.scope, hold.workflow, item.identifier, hold.kind, hold.lift, hold.reason, hold.owner,
        hold.until, hold.placed_at, hold.lifted_at, hold.lifted_by,
        hold.lifted_reason, hold.placed_by
    from hold left join item on item.key = hold.item_key
"""
_STANDING = "hold.lifted_at is null and (hold.until is null or hold.until > stationkeeper_now())"
_ALL_HOLDS = f"{_HOLDS} where {_STANDING} order by hold.placed_at"
_HOLDS_ON_ITEM = f"""{_HOLDS} where {_STANDING} and (hold.scope = 'fleet'
    or (hold.scope = 'workflow' and hold.workflow = :workflow) or hold.item_key = cast(:item_key as bigint))
    order by hold.placed_at
"""
_HOLDS_OF_ITEM = f"{_HOLDS} where hold.item_key = :item_key order by hold.placed_at"
_WRITES = """
    select outbox.id, outbox.workflow, item.identifier, outbox.seq, outbox.kind, outbox.act,
        coalesce(outbox.role, outbox.body) as what, outbox.status, outbox.tries, outbox.written_at, outbox.due_at,
        outbox.settled_at, outbox.state, outbox.detail
    from outbox join item on item.key = outbox.item_key
"""
_UNSETTLED = f"{_WRITES} where outbox.status in ('pending', 'claimed', 'unknown') order by outbox.id"
_UNSETTLED_OF_ITEM = f"""{_WRITES}
    where outbox.item_key = :item_key and outbox.status in ('pending', 'claimed', 'unknown', 'parked')
    order by outbox.seq
"""
_WRITES_OF_ITEM = f"{_WRITES} where outbox.item_key = :item_key order by outbox.seq"
_WORKERS = (
    "select id, host, pid, slots, busy, queues, started_at, seen_at, draining_at from worker order by host, started_at"
)
_CANCELS = """
    select cast(extract(epoch from ended_at - cancel_at) as double precision) as seconds from turn
    where cancel_at > stationkeeper_now() - interval '1 day' and ended_at is not null order by cancel_at
"""
# Every attempt, and the writes that never came to one: they wait still, or something later took their place.
_AUDIT = """
    with told as (
        select audit.at, audit.id, outbox.workflow, audit.item_key, audit.kind, audit.act, audit.key, audit.fence,
            audit.before, audit.after, audit.outcome, audit.detail
        from write_audit audit left join outbox on outbox.id = audit.outbox_id
        union all
        select coalesce(settled_at, written_at), id, workflow, item_key, kind, act,
            coalesce(key, coalesce(turn_id::text, workflow) || ':' || role), fence, null, null, status, detail
        from outbox where status in ('pending', 'claimed', 'superseded', 'withdrawn')
    )
    select told.at, coalesce(told.workflow, '') as workflow, item.identifier, told.kind, told.act, told.key, told.fence,
        told.before, told.after, told.outcome, told.detail
    from told join item on item.key = told.item_key
    where cast(:key as text) is null or lower(item.identifier) = lower(:key) or item.item_id = :key
    order by told.at desc, told.id desc limit :count
"""
_WAITS = "select workflow, reason, count(*) as items from wait group by workflow, reason order by workflow, reason"
_WAITS_OF_KEY = """
    select workflow, item_id, identifier, reason, detail, since from wait
    where lower(identifier) = lower(:key) or item_id = :key
    order by reason <> 'not_active', since
"""
_ITEMS_OF_KEY = """
    select key, scope, item_id, identifier, workflow, state, version, fence, attempt, turns_in_row, sessions, session,
        absences, moved_at, host, workspace
    from item where lower(identifier) = lower(:key) or item_id = :key
    order by key
"""
_STEPS_OF_ITEM = """
    select step.turn_id, step.ordinal, step.name, step.output, step.at
    from step join turn on turn.id = step.turn_id
    where turn.item_key = :item_key
    order by turn.ordinal, step.ordinal
"""
_STANDING_OF = """
    select problem, retired_at is not null as retired, cast(ring.walk ->> 'whole_at' as timestamptz) as whole_at
    from workflow left join reconciler ring on ring.workflow = workflow.name where name = :workflow
"""
_KEPT = """
    select workflow, count(*) as workspaces from workspace
    where kept is not null and removed_at is not null
        and (:days = 0 or removed_at > stationkeeper_now() - make_interval(days => :days))
    group by workflow
"""
_WORKSPACES_OF_ITEM = """
    select host, path, branch, kept, prepared_at, removed_at from workspace
    where item_key = :item_key order by prepared_at
"""
_LINES_OF_ITEM = "select at, kind, detail from history where item_key = :item_key order by id"


class Queries:
    """The room of the commands."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def overview(self) -> Overview:
        """The whole fleet."""
        with self._database.snapshot() as session:
            return Overview(
                now=_now(session).now,
                workflows=_workflows(session),
                turns=tuple(TurnView(**row._asdict()) for row in session.rows(_OPEN_TURNS)),
                retries=tuple(TaskView(**row._asdict()) for row in session.rows(_RETRIES)),
                holds=tuple(HoldView(**row._asdict()) for row in session.rows(_ALL_HOLDS)),
                writes=tuple(WriteView(**row._asdict()) for row in session.rows(_UNSETTLED)),
                workers=tuple(_worker(row) for row in session.rows(_WORKERS)),
                cancels=tuple(row.seconds for row in session.rows(_CANCELS)),
                waits={(row.workflow, row.reason): row.items for row in session.rows(_WAITS)},
            )

    def boards(self) -> tuple[datetime, tuple[WorkflowView, ...]]:
        """The workflows that have a board, and the moment of this look at them."""
        with self._database.snapshot() as session:
            return _now(session).now, tuple(each for each in _workflows(session) if not each.name.startswith("flow:"))

    def health(self) -> tuple[Health, ...]:
        """How each workflow's tasks fare."""
        return tuple(health.health(self._database))

    def kept(self, *, days: int) -> Mapping[str, int]:
        """How many workspaces of each workflow went in so many days (0: ever) and left work that was kept."""
        return {row.workflow: row.workspaces for row in self._database.rows(_KEPT, days=days)}

    def explain(self, key: str) -> tuple[Explanation, ...]:
        """Why each item of that key is where it is; empty when none of ours is called so."""
        with self._database.snapshot() as session:
            items = [ItemView(**row._asdict()) for row in session.rows(_ITEMS_OF_KEY, key=key)]
            # Where several workflows share a board, the last one stands: of those that want the card, if any does.
            waits = {row.item_id: WaitView(**row._asdict()) for row in session.rows(_WAITS_OF_KEY, key=key)}
            told = [_explain(session, item, waits.pop(item.item_id, None)) for item in items]
            return (*told, *(_explain_wait(session, wait) for wait in waits.values()))

    def writes(self, key: str | None, *, count: int) -> tuple[AuditView, ...]:
        """The last `count` writes on the cards of that key, or on any; oldest first."""
        rows = self._database.rows(_AUDIT, key=key, count=count)
        return tuple(AuditView(**row._asdict()) for row in reversed(rows))

    def history(self, key: str) -> tuple[Story, ...]:
        """The past of each item of that key; empty when no turn of it was ever opened."""
        with self._database.snapshot() as session:
            return tuple(_tell(session, ItemView(**row._asdict())) for row in session.rows(_ITEMS_OF_KEY, key=key))


def _workflows(session: Session) -> tuple[WorkflowView, ...]:
    return tuple(WorkflowView(**{**row._asdict(), "warnings": tuple(row.warnings)}) for row in session.rows(_WORKFLOWS))


def _explain(session: Session, item: ItemView, wait: WaitView | None) -> Explanation:
    last = [
        TurnView(**row._asdict()) for row in session.rows(_LAST_TURNS_OF_ITEM, item_key=item.key, count=_LAST_TURNS)
    ]
    task = session.row(_LAST_TASK_OF_ITEM, item_key=item.key)
    return Explanation(
        now=_now(session).now,
        identifier=item.identifier,
        item=item,
        wait=wait,
        task=TaskView(**task._asdict()) if task is not None else None,
        turn=next((turn for turn in last if turn.ended_at is None), None),
        holds=_holds(session, item.workflow, item.key),
        writes=tuple(WriteView(**row._asdict()) for row in session.rows(_UNSETTLED_OF_ITEM, item_key=item.key)),
        turns=tuple(reversed(last)),
        **_standing(session, item.workflow if wait is None else wait.workflow),
        workspaces=tuple(
            WorkspaceView(**row._asdict()) for row in session.rows(_WORKSPACES_OF_ITEM, item_key=item.key)
        ),
    )


def _explain_wait(session: Session, wait: WaitView) -> Explanation:
    """An item that was left out and never had a turn: its reason, and what holds its workflow or the fleet."""
    holds = _holds(session, wait.workflow, None)
    return Explanation(
        now=_now(session).now,
        identifier=wait.identifier,
        item=None,
        wait=wait,
        task=None,
        turn=None,
        holds=holds,
        writes=(),
        turns=(),
        **_standing(session, wait.workflow),
    )


def _standing(session: Session, workflow: str) -> dict[str, Any]:
    row = session.row(_STANDING_OF, workflow=workflow)
    return row._asdict() if row is not None else {}


def _holds(session: Session, workflow: str, item_key: int | None) -> tuple[HoldView, ...]:
    rows = session.rows(_HOLDS_ON_ITEM, workflow=workflow, item_key=item_key)
    return tuple(HoldView(**row._asdict()) for row in rows)


def _tell(session: Session, item: ItemView) -> Story:
    return Story(
        item=item,
        turns=tuple(TurnView(**row._asdict()) for row in session.rows(_TURNS_OF_ITEM, item_key=item.key)),
        steps=tuple(StepView(**row._asdict()) for row in session.rows(_STEPS_OF_ITEM, item_key=item.key)),
        writes=tuple(WriteView(**row._asdict()) for row in session.rows(_WRITES_OF_ITEM, item_key=item.key)),
        holds=tuple(HoldView(**row._asdict()) for row in session.rows(_HOLDS_OF_ITEM, item_key=item.key)),
        lines=tuple(LineView(**row._asdict()) for row in session.rows(_LINES_OF_ITEM, item_key=item.key)),
    )


def _worker(row: Row) -> WorkerView:
    return WorkerView(**{**row._asdict(), "queues": tuple(row.queues)})


def _now(session: Session) -> Row:
    row = session.row(_NOW)
    assert row is not None  # noqa: S101 -- it selects from nothing
    return row
