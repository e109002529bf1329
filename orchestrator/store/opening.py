"""Opens an item's next turn: one transaction, each of its rules re-read under the locks that it takes.

A plan is old the moment it is made. The cap is a counter on the workflow's row, the rest hangs on the item's version;
holds, unsent moves and the cap of a state are read by a statement that begins after the locks were had.
"""

from __future__ import annotations

from typing import NoReturn

from orchestrator.domain import contract
from orchestrator.domain.select import NotDispatched
from orchestrator.ports.store import Opened, Opening, Refused
from orchestrator.store.database import Database, Row, RowLocked, Session
from orchestrator.store.workflows import LOCK_FLEET

_TAKE_SLOT = """
    with slot as (
        update workflow set open_turns = open_turns + 1, served_at = stationkeeper_clock()
        where name = :workflow and scope = :scope and retired_at is null
            and open_turns < :max_concurrent -- rule: cap
        returning name
    )"""
_TAKEN = """
    select (select count(*) from slot) as slots, claimed.key, claimed.fence
    from (select 1) as always left join claimed on true
"""
_FIRST_OF_ITEM = f"""{_TAKE_SLOT}, claimed as (
        insert into item (scope, item_id, identifier, workflow, state, fence)
        select :scope, :item_id, :identifier, slot.name, :state, 1 from slot
        on conflict (scope, item_id) do nothing
        returning key, fence
    ){_TAKEN}
"""
_NEXT_OF_ITEM = f"""{_TAKE_SLOT}, claimed as (
        update item
        set version = item.version + 1, fence = item.fence + 1, identifier = :identifier, workflow = slot.name,
            state = :state, absences = 0, listed = true
        from slot
        where item.scope = :scope and item.item_id = :item_id
            and item.version = :seen -- rule: version
        returning item.key, item.fence
    ){_TAKEN}
"""
# Counted while the fleet's lock is had: only a turn's end can change the sum meanwhile, and it makes room.
_ALL_OPEN = "select sum(open_turns) as turns from workflow"
_STANDING = """
    select stationkeeper_held(:item_key, :workflow) as held,
        exists (
            select from outbox
            where item_key = :item_key and act = 'move' and status in ('pending', 'claimed', 'unknown')
        ) as unsent_move,
        (select count(*) from turn where workflow = :workflow and status in ('queued', 'running')
            and state_folded = :state_folded) as in_state,
        exists (select from turn where item_key = :item_key and status in ('queued', 'running'))
        or exists (
            select from task where item_key = :item_key and status not in ('succeeded', 'failed', 'cancelled')
                and workflow <> :workflow
        ) as running
"""
# A task that is new counts anew: only a person's move on the board brings an item back.
_QUEUE_TURN = """
    with reused as (
        update task set due_at = null
        where item_key = :item_key and status not in ('succeeded', 'failed', 'cancelled')
        returning id
    ), begun as (
        insert into task (item_key, workflow, workflow_version)
        select :item_key, :workflow, :version where not exists (select from reused)
        returning id
    ), counted as (
        update item set attempt = 0, turns_in_row = 0, sessions = 0, retry_kind = null
        from begun where item.key = :item_key
    ), queued as (
        insert into turn
            (id, task_id, item_key, workflow, workflow_version, ordinal, fence, state, state_folded, retry_kind)
        select :turn_id, task.id, item.key, :workflow, :version, item.fence, item.fence, :state, :state_folded,
            case when task.again then item.retry_kind end
        from item, (select id, true as again from reused union all select id, false from begun) as task
        where item.key = :item_key
        returning item_key, workflow, id, fence
    ), answered as (
        delete from wait where workflow = :workflow and item_id = :item_id
    )
    insert into history (item_key, workflow, kind, detail)
    select item_key, workflow, 'turn_opened', jsonb_build_object('turn', id, 'fence', fence) from queued
"""
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

_HELD = {
    "fleet": NotDispatched.HELD_FLEET,
    "workflow": NotDispatched.HELD_WORKFLOW,
    "item": NotDispatched.HELD_ITEM,
}


class _Refusal(Exception):
    """Leaves the transaction, which is rolled back, with the reason."""

    def __init__(self, reason: NotDispatched) -> None:
        super().__init__(reason.value)
        self.reason = reason


def open_turn(database: Database, opening: Opening, *, max_turns: int | None = None) -> Opened | Refused:
    """Open the turn `queued` with the item's next fence, or say why not; `max_turns` is the fleet's cap."""
    try:
        with database.transaction() as session:
            if max_turns is not None:
                _fit(session, max_turns)
            item = _take(session, opening)
            _stand(session, opening, item)
            _queue(session, opening, item)
    except RowLocked:
        return Refused(NotDispatched.CHANGED_SINCE)
    except _Refusal as refusal:
        unseen = refusal.reason is NotDispatched.CHANGED_SINCE and opening.seen_version == 0
        return Refused(_show_row(database, opening) if unseen else refusal.reason)
    return Opened(opening.turn_id, item.fence, ordinal=item.fence)


def _fit(session: Session, max_turns: int) -> None:
    """The fleet's lock, ours until the commit; refuses when the cap over all workflows is reached."""
    session.row(LOCK_FLEET)
    found = session.row(_ALL_OPEN)
    if found is not None and (found.turns or 0) >= max_turns:
        _refuse(NotDispatched.NO_WORKER_SLOT)


def _take(session: Session, opening: Opening) -> Row:
    """The cap slot and the item's row, ours until the commit; refuses when there is none, or it is not as seen."""
    taken = session.row(
        _FIRST_OF_ITEM if opening.seen_version == 0 else _NEXT_OF_ITEM,
        workflow=opening.workflow.name,
        max_concurrent=opening.max_concurrent,
        scope=opening.workflow.scope,
        item_id=opening.item.id,
        identifier=opening.item.identifier,
        state=opening.item.state,
        seen=opening.seen_version,
    )
    assert taken is not None  # noqa: S101 -- it always answers
    if not taken.slots:
        _refuse(NotDispatched.NO_SLOT_TOTAL)
    if taken.key is None:
        _refuse(NotDispatched.CHANGED_SINCE)
    return taken


def _stand(session: Session, opening: Opening, item: Row) -> None:
    """Re-read under the locks what the plan was made from; refuses by the first rule that is broken."""
    found = session.row(
        _STANDING,
        item_key=item.key,
        workflow=opening.workflow.name,
        state_folded=contract.fold(opening.item.state),
    )
    assert found is not None  # noqa: S101 -- it selects from nothing
    if found.running:
        _refuse(NotDispatched.RUNNING)
    if found.unsent_move:
        _refuse(NotDispatched.UNSENT_MOVE)
    if found.held is not None:
        _refuse(_HELD[found.held])
    if opening.max_in_state is not None and found.in_state >= opening.max_in_state:
        _refuse(NotDispatched.NO_SLOT_STATE)


def _queue(session: Session, opening: Opening, item: Row) -> None:
    session.change(
        _QUEUE_TURN,
        turn_id=opening.turn_id,
        item_key=item.key,
        item_id=opening.item.id,
        workflow=opening.workflow.name,
        version=opening.workflow.version,
        state=opening.item.state,
        state_folded=contract.fold(opening.item.state),
    )


def _refuse(reason: NotDispatched) -> NoReturn:
    raise _Refusal(reason)


def _show_row(database: Database, opening: Opening) -> NotDispatched:
    """Let the next tick see the row that was met, and ask for it; or say that a task of the item is open."""
    workflow = opening.workflow
    if database.change(_SHOW_ROW, scope=workflow.scope, item_id=opening.item.id, workflow=workflow.name) == 0:
        return NotDispatched.RUNNING
    database.change(_ASK_AGAIN, workflow=workflow.name)
    return NotDispatched.CHANGED_SINCE
