"""Opens items' next turns: one statement each, each of its rules re-read under the locks that it takes.

A plan is old the moment it is made. The statement locks the workflow's row and the item's, then looks (by a function
that sees what was committed while it waited) and gives a verdict; everything that it writes hangs on that verdict, so a
refusal has nothing to roll back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.domain import contract
from orchestrator.domain.select import NotDispatched
from orchestrator.ports.store import Opened, Opening, Refused
from orchestrator.store.database import Database, Row, RowLocked
from orchestrator.store.workflows import LOCK_FLEET

# The workflow's row before the item's: the order of locks.
_LOCKED = """
    with flow as (
        select name, open_turns, scope = :scope and retired_at is null as in_force
        from workflow where name = :workflow for no key update
    ), known as (
        select item.key, item.version from item, flow
        where item.scope = :scope and item.item_id = :item_id
        for no key update of item
    )"""
_VERDICT = """, verdict as (
        select known.key, standing.task_id, case
            when not flow.in_force then 'no_slot_total'
            when flow.open_turns >= :max_concurrent then 'no_slot_total' -- rule: cap
            when :seen = 0 and known.key is not null then 'changed_since'
            when :seen > 0 and known.version is distinct from :seen then 'changed_since' -- rule: version
            when standing.running then 'running'
            when standing.unsent_move then 'unsent_move'
            when standing.held is not null then 'held_' || standing.held
            when standing.state_full then 'no_slot_state'
            end as refusal
        from flow left join known on true
        cross join lateral
            stationkeeper_standing(known.key, :workflow, :state_folded, cast(:max_in_state as int)) as standing
    )"""
_FIRST_OF_ITEM = """, taken as (
        insert into item (scope, item_id, identifier, workflow, state, fence)
        select :scope, :item_id, :identifier, :workflow, :state, installation.fence_base + 1
        from verdict, installation where refusal is null
        on conflict (scope, item_id) do nothing
        returning key, fence, retry_kind
    )"""
# A task that is new counts anew: only a person's move on the board brings an item back.
_NEXT_OF_ITEM = """, taken as (
        update item
        set version = item.version + 1, fence = item.fence + 1, identifier = :identifier, workflow = :workflow,
            state = :state, absences = 0, listed = true,
            attempt = case when verdict.task_id is null then 0 else item.attempt end,
            turns_in_row = case when verdict.task_id is null then 0 else item.turns_in_row end,
            sessions = case when verdict.task_id is null then 0 else item.sessions end,
            retry_kind = case when verdict.task_id is null then null else item.retry_kind end
        from verdict where verdict.refusal is null and item.key = verdict.key
        returning item.key, item.fence, item.retry_kind
    )"""
_QUEUED = """, slot as (
        update workflow set open_turns = workflow.open_turns + 1, served_at = stationkeeper_clock()
        from taken where workflow.name = :workflow
    ), reused as (
        update task set due_at = null
        from taken, verdict where task.id = verdict.task_id
        returning task.id
    ), begun as (
        insert into task (item_key, workflow, workflow_version)
        select taken.key, :workflow, :version from taken, verdict where verdict.task_id is null
        returning id
    ), queued as (
        insert into turn
            (id, task_id, item_key, workflow, workflow_version, ordinal, fence, state, state_folded, seen_updated_at,
            retry_kind, for_host)
        select :turn_id, task.id, taken.key, :workflow, :version, taken.fence - installation.fence_base, taken.fence,
            :state, :state_folded, cast(:seen_updated_at as timestamptz), taken.retry_kind, :for_host
        from installation, taken, (select id from reused union all select id from begun) as task
        returning turn.ordinal
    ), answered as (
        delete from wait using taken where wait.workflow = :workflow and wait.item_id = :item_id
    ), told as (
        insert into history (item_key, workflow, kind, detail)
        select key, :workflow, 'turn_opened', jsonb_build_object('turn', cast(:turn_id as uuid), 'fence', fence)
        from taken
    )
    select coalesce(verdict.refusal, case when taken.key is null then 'changed_since' end) as refusal, taken.fence,
        queued.ordinal
    from verdict left join taken on true left join queued on true
"""
_OPEN_FIRST = f"{_LOCKED}{_VERDICT}{_FIRST_OF_ITEM}{_QUEUED}"
_OPEN_NEXT = f"{_LOCKED}{_VERDICT}{_NEXT_OF_ITEM}{_QUEUED}"

# Counted while the fleet's lock is had: only a turn's end can change the sum meanwhile, and it makes room.
_ALL_OPEN = "select sum(open_turns) as turns from workflow"
# A row that the plan did not see: the next tick will, unless something is going on with it, here or elsewhere.
_SHOW_ROW = """
    update item set listed = true, workflow = :workflow
    where scope = :scope and item_id = :item_id and not exists (
        select from task where task.item_key = item.key and task.status not in ('succeeded', 'failed', 'cancelled'))
"""
_ASK_AGAIN = """
    update reconciler set list_requested_at = greatest(stationkeeper_clock(), list_began_at + interval '1 microsecond')
    where workflow = :workflow
"""


def open_turns(
    database: Database, openings: Sequence[Opening], *, max_turns: int | None = None
) -> Sequence[Opened | Refused]:
    """Open each turn `queued` with its item's next fence, or say why not; `max_turns` is the fleet's cap.

    One commit for all, unless somebody holds one of the rows: then each by itself, so that one holds up no other.
    """
    try:
        answers = _open(database, openings, max_turns)
    except RowLocked:
        if len(openings) == 1:
            return [Refused(NotDispatched.CHANGED_SINCE)]
        return [answer for opening in openings for answer in open_turns(database, [opening], max_turns=max_turns)]
    return [_met(database, opening, answer) for opening, answer in zip(openings, answers, strict=True)]


def _open(database: Database, openings: Sequence[Opening], max_turns: int | None) -> Sequence[Opened | Refused]:
    if max_turns is not None:
        return _open_where_they_fit(database, openings, max_turns)
    if len(openings) == 1:
        return [_answer(openings[0], database.row(_statement(openings[0]), **_values(openings[0])))]
    with database.transaction() as session:
        rows = session.each([(_statement(opening), _values(opening)) for opening in openings])
    return [_answer(opening, row) for opening, row in zip(openings, rows, strict=True)]


def _open_where_they_fit(database: Database, openings: Sequence[Opening], max_turns: int) -> list[Opened | Refused]:
    """The same under the fleet's lock, for as long as the cap over all workflows leaves room."""
    answers: list[Opened | Refused] = []
    with database.transaction() as session:
        session.row(LOCK_FLEET)
        for opening in openings:
            found = session.row(_ALL_OPEN)
            if found is not None and (found.turns or 0) >= max_turns:
                answers.append(Refused(NotDispatched.NO_WORKER_SLOT))
            else:
                answers.append(_answer(opening, session.row(_statement(opening), **_values(opening))))
    return answers


def _statement(opening: Opening) -> str:
    return _OPEN_FIRST if opening.seen_version == 0 else _OPEN_NEXT


def _values(opening: Opening) -> Mapping[str, object]:
    return {
        "turn_id": opening.turn_id,
        "workflow": opening.workflow.name,
        "version": opening.workflow.version,
        "max_concurrent": opening.max_concurrent,
        "max_in_state": opening.max_in_state,
        "scope": opening.workflow.scope,
        "item_id": opening.item.id,
        "identifier": opening.item.identifier,
        "state": opening.item.state,
        "state_folded": contract.fold(opening.item.state),
        "seen_updated_at": opening.item.updated_at,
        "for_host": opening.host,
        "seen": opening.seen_version,
    }


def _answer(opening: Opening, row: Row | None) -> Opened | Refused:
    assert row is not None  # noqa: S101 -- a workflow with a plan has a row, and each row has a verdict
    if row.refusal is not None:
        return Refused(NotDispatched(row.refusal))
    return Opened(opening.turn_id, row.fence, ordinal=row.ordinal)


def _met(database: Database, opening: Opening, answer: Opened | Refused) -> Opened | Refused:
    """The answer; where a row was met that the plan did not see, the next tick is to see it."""
    if answer == Refused(NotDispatched.CHANGED_SINCE) and opening.seen_version == 0:
        return Refused(_show_row(database, opening))
    return answer


def _show_row(database: Database, opening: Opening) -> NotDispatched:
    """Let the next tick see the row that was met, and ask for it; or say that a task of the item is open."""
    workflow = opening.workflow
    if database.change(_SHOW_ROW, scope=workflow.scope, item_id=opening.item.id, workflow=workflow.name) == 0:
        return NotDispatched.RUNNING
    database.change(_ASK_AGAIN, workflow=workflow.name)
    return NotDispatched.CHANGED_SINCE
