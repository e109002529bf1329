"""Opens an item's next turn: one transaction, each of its rules re-read under the locks that it takes.

A plan is old the moment it is made. The cap is a counter on the workflow's row, the rest hangs on the item's version;
holds, unsent moves and the cap of a state are read by a statement that begins after the locks were had.
"""

from __future__ import annotations

from typing import NoReturn

from orchestrator.domain import contract
from orchestrator.domain.select import NotDispatched
from orchestrator.ports.store import Opened, Opening, Refused
from orchestrator.store import history
from orchestrator.store.database import Database, Row, RowLocked, Session

_TAKE_SLOT = """
    update workflow set open_turns = open_turns + 1
    where name = :workflow
        and open_turns < :max_concurrent -- rule: cap
"""
_FIRST_OF_ITEM = """
    insert into item (scope, item_id, identifier, workflow, state, fence)
    values (:scope, :item_id, :identifier, :workflow, :state, 1)
    on conflict (scope, item_id) do nothing
    returning key, fence
"""
_NEXT_OF_ITEM = """
    update item
    set version = version + 1, fence = fence + 1, identifier = :identifier, workflow = :workflow, state = :state,
        absences = 0, listed = true
    where scope = :scope and item_id = :item_id
        and version = :seen -- rule: version
    returning key, fence
"""
_STANDING = """
    select stationkeeper_held(:item_key, :workflow) as held,
        exists (
            select from outbox
            where item_key = :item_key and act = 'move' and status in ('pending', 'claimed', 'unknown')
        ) as unsent_move,
        (select count(*) from turn where workflow = :workflow and status in ('queued', 'running')
            and state_folded = :state_folded) as in_state,
        (select id from turn where item_key = :item_key and status in ('queued', 'running')) as open_turn
"""
_REUSE_TASK = """
    update task set due_at = null
    where item_key = :item_key and status not in ('succeeded', 'failed', 'cancelled')
    returning id, workflow
"""
# A task that is new begins its counting anew: only a person's move on the board brings an item back.
_NEW_TASK = """
    with counted as (
        update item set attempt = 0, turns_in_row = 0, sessions = 0, retry_kind = null where key = :item_key
    )
    insert into task (item_key, workflow, workflow_version) values (:item_key, :workflow, :version)
    returning id, workflow
"""
_QUEUE_TURN = """
    with answered as (delete from wait where workflow = :workflow and item_id = :item_id)
    insert into turn
        (id, task_id, item_key, workflow, workflow_version, ordinal, fence, state, state_folded, retry_kind)
    select :turn_id, :task_id, key, :workflow, :version, fence, fence, :state, :state_folded, retry_kind
    from item where key = :item_key
"""
# A row that the plan did not see: the next tick will, and serves it, unless another workflow is at it.
_SHOW_ROW = """
    update item set listed = true, workflow = :workflow
    where scope = :scope and item_id = :item_id and not exists (
        select from task where task.item_key = item.key and task.status not in ('succeeded', 'failed', 'cancelled'))
"""
_ASK_AGAIN = "update reconciler set list_requested_at = stationkeeper_clock() where workflow = :workflow"

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


def open_turn(database: Database, opening: Opening) -> Opened | Refused:
    """Open the turn `queued` with the item's next fence, or say why not."""
    try:
        with database.transaction() as session:
            return _open(session, opening)
    except RowLocked:
        return Refused(NotDispatched.CHANGED_SINCE)
    except _Refusal as refusal:
        if refusal.reason is NotDispatched.CHANGED_SINCE and opening.seen_version == 0:
            _show_row(database, opening)
        return Refused(refusal.reason)


def _open(session: Session, opening: Opening) -> Opened:
    workflow = opening.workflow
    if session.change(_TAKE_SLOT, workflow=workflow.name, max_concurrent=opening.max_concurrent) == 0:
        _refuse(NotDispatched.NO_SLOT_TOTAL)
    item = _claim_item(session, opening)
    _stand(session, opening, item)
    task = session.row(_REUSE_TASK, item_key=item.key) or session.row(
        _NEW_TASK, item_key=item.key, workflow=workflow.name, version=workflow.version
    )
    if task is None or task.workflow != workflow.name:
        _refuse(NotDispatched.RUNNING)
    session.change(
        _QUEUE_TURN,
        turn_id=opening.turn_id,
        task_id=task.id,
        item_key=item.key,
        item_id=opening.item.id,
        workflow=workflow.name,
        version=workflow.version,
        state=opening.item.state,
        state_folded=contract.fold(opening.item.state),
    )
    history.note(
        session, "turn_opened", item_key=item.key, workflow=workflow.name, turn=opening.turn_id, fence=item.fence
    )
    return Opened(opening.turn_id, item.fence, ordinal=item.fence)


def _claim_item(session: Session, opening: Opening) -> Row:
    """The item's row, ours until the commit; refuses when it is not as the plan saw it."""
    values = {
        "scope": opening.workflow.scope,
        "item_id": opening.item.id,
        "identifier": opening.item.identifier,
        "workflow": opening.workflow.name,
        "state": opening.item.state,
    }
    if opening.seen_version == 0:
        row = session.row(_FIRST_OF_ITEM, **values)
    else:
        row = session.row(_NEXT_OF_ITEM, **values, seen=opening.seen_version)
    return row if row is not None else _refuse(NotDispatched.CHANGED_SINCE)


def _stand(session: Session, opening: Opening, item: Row) -> None:
    """Re-read under the locks what the plan was made from; refuses by the first rule that is broken."""
    found = session.row(
        _STANDING,
        item_key=item.key,
        workflow=opening.workflow.name,
        state_folded=contract.fold(opening.item.state),
    )
    assert found is not None  # noqa: S101 -- it selects from nothing
    if found.open_turn is not None:
        _refuse(NotDispatched.RUNNING)
    if found.unsent_move:
        _refuse(NotDispatched.UNSENT_MOVE)
    if found.held is not None:
        _refuse(_HELD[found.held])
    if opening.max_in_state is not None and found.in_state >= opening.max_in_state:
        _refuse(NotDispatched.NO_SLOT_STATE)


def _refuse(reason: NotDispatched) -> NoReturn:
    raise _Refusal(reason)


def _show_row(database: Database, opening: Opening) -> None:
    workflow = opening.workflow
    database.change(_SHOW_ROW, scope=workflow.scope, item_id=opening.item.id, workflow=workflow.name)
    database.change(_ASK_AGAIN, workflow=workflow.name)
