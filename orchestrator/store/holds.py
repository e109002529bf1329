"""Holds: placed once, lifted by the one thing that they name. Whoever places one on an item holds the item's row."""

from __future__ import annotations

from orchestrator.domain.hold import Hold, HoldKind
from orchestrator.store.database import Database, Session

_PLACE_ON_WORKFLOW = """
    insert into hold (scope, workflow, kind, lift, reason, owner, until)
    values ('workflow', :workflow, :kind, :lift, :reason, :owner, :until)
    on conflict do nothing
"""
_PLACE_ON_ITEM = """
    insert into hold (scope, workflow, item_key, kind, lift, reason, owner, until, state_seen)
    select 'item', item.workflow, item.key, :kind, :lift, :reason, :owner, :until, item.state
    from item where item.key = :item_key
    on conflict do nothing
"""
_LIFT_OF_ITEM = """
    update hold set lifted_at = stationkeeper_clock(), lifted_by = :by where item_key = :item_key and lifted_at is null
"""
_LIFT_OF_WORKFLOW = """
    update hold set lifted_at = stationkeeper_clock(), lifted_by = :by
    where scope = 'workflow' and workflow = :workflow and kind = :kind and lifted_at is null
"""


def place_on_item(session: Session, hold: Hold, *, item_key: int) -> None:
    """Hold an item, once for each kind; the hold remembers the state of the item's row."""
    session.change(
        _PLACE_ON_ITEM,
        item_key=item_key,
        kind=hold.kind.value,
        lift=hold.lift.value,
        reason=hold.reason,
        owner=hold.owner,
        until=hold.until,
    )


def lift_of_item(session: Session, *, item_key: int, by: str) -> int:
    """End every hold of an item; returns how many stood."""
    return session.change(_LIFT_OF_ITEM, item_key=item_key, by=by)


def hold_workflow(database: Database, workflow: str, hold: Hold | None, *, kind: HoldKind) -> None:
    """Place the hold of `kind` on a workflow, once; None lifts it."""
    if hold is None:
        database.change(_LIFT_OF_WORKFLOW, workflow=workflow, kind=kind.value, by="the tick saw otherwise")
        return
    database.change(
        _PLACE_ON_WORKFLOW,
        workflow=workflow,
        kind=kind.value,
        lift=hold.lift.value,
        reason=hold.reason,
        owner=hold.owner,
        until=hold.until,
    )
