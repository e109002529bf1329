"""What a person does to a flow task: starts it once, cancels it, says what became of an effect.

Locks are taken in the order workflow, item, task, turn, effect, in a statement of their own: what is decided after it
reads what was committed meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import UUID, uuid4, uuid5

from orchestrator.domain import step as steps
from orchestrator.domain.effect import EffectStatus, sources
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import NewTask, Started
from orchestrator.store.database import Database, Row, Session

# Task ids of named starts are derived, so that a start that was forgotten by the database makes the same task again.
_FAMILY = UUID("5b1f6c8e-6a52-5d0c-9a3e-2f1d7c40a6b1")

_START = """
    with subject as (
        insert into item (scope, item_id, identifier, workflow, state, listed, fence)
        select :workflow, :key, :identifier, :workflow, '', false, fence_base from installation
        on conflict (scope, item_id) do nothing
        returning key
    ), made as (
        insert into task
            (id, item_key, workflow, workflow_version, due_at, tenant, subject, actor, goal, input, authority,
                card_key, deadline_at)
        select :task_id, key, :workflow, :version, stationkeeper_clock(), :tenant, :key, :actor, :goal,
            cast(:input as jsonb), cast(:authority as text[]), :card_key,
            stationkeeper_clock() + make_interval(secs => cast(:deadline_seconds as float8))
        from subject
        returning id, item_key
    ), told as (
        insert into history (item_key, workflow, kind, detail)
        select item_key, :workflow, 'task_started', jsonb_build_object('task', id, 'actor', cast(:actor as text))
        from made
    )
    select id from made
"""
_FOUND = """
    select task.id, item.identifier from task join item on item.key = task.item_key
    where item.scope = :workflow and item.item_id = :key
    order by task.opened_at limit 1
"""
_LOCK_WORKFLOW = """
    select workflow.name from task join workflow on workflow.name = task.workflow
    where task.id = :task_id for no key update of workflow
"""
_LOCK_TASK = """
    select task.id, task.item_key, task.workflow, task.status, task.cancel
    from task join item on item.key = task.item_key
    where task.id = :task_id for no key update of item for no key update of task
"""
_OPEN = """
    select (select id from turn where task_id = :task_id and status = 'running') as running,
        (select id from turn where task_id = :task_id and status = 'queued') as queued,
        stationkeeper_unsettled(:task_id) as unsettled, stationkeeper_undoable(:task_id) as undoable
"""
_RUNNING = "select id from turn where task_id = :task_id and status = 'running'"
_FLAG = """
    with flagged as (
        update turn
        set cancel = coalesce(cancel, :stop), cancel_at = coalesce(cancel_at, stationkeeper_clock())
        where task_id = :task_id and status = 'running'
    )
    update task
    set cancel = coalesce(cancel, :stop), due_at = case when :wake then stationkeeper_clock() else due_at end
    where id = :task_id
"""
# Whether it is to be tried again is no question any more.
_LET_GO = """
    update hold set lifted_at = stationkeeper_clock(), lifted_by = :by
    where item_key = :item_key and kind = 'dead_letter' and lifted_at is null
"""
_END_QUEUED = """
    with ended as (
        update turn set status = 'cancelled', stop_reason = :stop, ended_at = stationkeeper_clock()
        where task_id = :task_id and status = 'queued'
        returning workflow
    )
    update workflow set open_turns = open_turns - 1 from ended where workflow.name = ended.workflow
"""
_END = """
    with raised as (update item set version = version + 1 where key = :item_key)
    update task
    set status = :status, stop_reason = :stop, cancel = null, due_at = null, ended_at = stationkeeper_clock()
    where id = :task_id
"""
_TELL = """
    insert into history (item_key, workflow, kind, detail) values (:item_key, :workflow, :kind, cast(:detail as jsonb))
"""
_DECIDE = """
    update effect
    set status = :verdict, vouched = true, reason = :reason, outcome = coalesce(cast(:outcome as jsonb), outcome),
        settled_at = case when :verdict in ('committed', 'refused') then stationkeeper_clock() end
    where key = :key and task_id = :task_id and status = any(cast(:sources as text[]))
    returning node, turn_id
"""
_RECORD = """
    insert into step (turn_id, task_id, ordinal, name, output)
    values (:turn_id, :task_id, :ordinal, :node, cast(:outcome as jsonb)) on conflict do nothing
"""
_GO_ON = """
    with lifted as (
        update hold set lifted_at = stationkeeper_clock(), lifted_by = :by
        where item_key = :item_key and kind = 'unknown_effect' and lifted_at is null
    )
    update task set due_at = stationkeeper_clock()
    where id = :task_id and not exists (select from turn where task_id = :task_id and status in ('queued', 'running'))
"""
# A step that a person recorded; no step of a flow bears so high a number.
_BY_HAND = 1_000_000


def start(database: Database, wanted: NewTask) -> Started:
    """Make the task, or find the one that bears this key."""
    name = f"{wanted.workflow}\n{wanted.key}"
    task_id = uuid5(_FAMILY, name) if wanted.key else uuid4()
    identifier = f"{steps.flow_of(wanted.workflow)}-{str(task_id)[:8]}"
    key = wanted.key or str(task_id)
    made = database.row(
        _START,
        workflow=wanted.workflow,
        version=wanted.version,
        key=key,
        task_id=task_id,
        identifier=identifier,
        tenant=wanted.tenant,
        actor=wanted.actor,
        goal=wanted.goal or None,
        input=json.dumps(wanted.input),
        authority=sorted(wanted.authority),
        deadline_seconds=wanted.deadline_seconds,
        card_key=wanted.card_key,
    )
    if made is not None:
        return Started(task_id, identifier, made=True)
    found = database.row(_FOUND, workflow=wanted.workflow, key=key)
    assert found is not None  # noqa: S101 -- the key is taken, and the item comes with its task
    return Started(found.id, found.identifier, made=False)


def cancel(database: Database, task_id: UUID, stop: StopReason) -> TaskStatus | None:
    """Stop the task as far as that is possible now; returns its status then, None when it is over or unknown to us.

    One that is taken back already goes on with that. What is open, or has to be taken back, takes a turn first.
    """
    with database.transaction() as session:
        task = lock(session, task_id)
        if task is None or TaskStatus(task.status) in _OVER:
            return None
        if task.status == TaskStatus.COMPENSATING.value:
            return TaskStatus.COMPENSATING
        now = session.row(_OPEN, task_id=task_id)
        assert now is not None  # noqa: S101 -- it selects from nothing
        if now.queued is not None:
            session.change(_END_QUEUED, task_id=task_id, stop=stop.value)
        if now.running is not None or now.unsettled or (now.undoable and stop in _TAKES_BACK):
            session.change(_FLAG, task_id=task_id, stop=stop.value, wake=now.running is None)
            if now.running is None:
                session.change(_LET_GO, item_key=task.item_key, by=f"stopped: {stop.value}")
            tell(session, task, kind="cancel_asked", detail={"task": str(task_id), "stop": stop.value})
            return TaskStatus(task.status)
        status = TaskStatus.FAILED if stop is StopReason.EXPIRED else TaskStatus.CANCELLED
        session.change(_END, task_id=task_id, item_key=task.item_key, status=status.value, stop=stop.value)
        tell(
            session, task, kind="task_ended", detail={"task": str(task_id), "stop": stop.value, "status": status.value}
        )
        return status


def decide(
    database: Database, task_id: UUID, key: str, *, verdict: EffectStatus, word: Mapping[str, object] | str
) -> bool:
    """A person's word about an effect that nobody else can settle; False: nothing is to be decided, or not now."""
    with database.transaction() as session:
        task = lock(session, task_id)
        if task is None or session.row(_RUNNING, task_id=task_id) is not None:
            return False  # a turn that has read the row as unknown would ask again, about what is settled by then
        committed = verdict is EffectStatus.COMMITTED
        outcome = json.dumps(word) if committed else None
        settled = session.row(
            _DECIDE,
            key=key,
            task_id=task_id,
            verdict=verdict.value,
            reason="a person's word" if committed else str(word),
            outcome=outcome,
            sources=[status.value for status in sources(verdict) if status is not EffectStatus.INTENDED],
        )
        if settled is None:
            return False
        if committed:
            session.change(
                _RECORD, turn_id=settled.turn_id, task_id=task_id, ordinal=_BY_HAND, node=settled.node, outcome=outcome
            )
        session.change(_GO_ON, task_id=task_id, item_key=task.item_key, by="a person's word about the effect")
        tell(session, task, kind="effect_decided", detail={"key": key, "verdict": verdict.value})
    return True


# A deadline that passes fails the task, and a failure takes back; a person says so, or what is committed stays.
_TAKES_BACK = frozenset({StopReason.EXPIRED, StopReason.TAKEN_BACK})
_OVER = frozenset({TaskStatus.SUCCEEDED, TaskStatus.FAILED, TaskStatus.CANCELLED})


def lock(session: Session, task_id: UUID) -> Row | None:
    """The task's row under the locks of its workflow, its item and itself; None: there is none."""
    session.row(_LOCK_WORKFLOW, task_id=task_id)
    return session.row(_LOCK_TASK, task_id=task_id)


def tell(session: Session, task: Row, *, kind: str, detail: Mapping[str, object]) -> None:
    """A line of the item's history."""
    session.change(_TELL, item_key=task.item_key, workflow=task.workflow, kind=kind, detail=json.dumps(detail))
