"""Holds: placed once, lifted by the one thing that they name. Whoever places one on an item holds the item's row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from orchestrator.domain import notes
from orchestrator.domain.hold import Hold, HoldKind
from orchestrator.domain.writeback import Comment, Write, WriteKind
from orchestrator.ports.store.operators import Hand, Place
from orchestrator.store import writes
from orchestrator.store.database import Database, Session

# A tick that began before a person released it does not place it again: the person has seen what that tick saw.
_PLACE_ON_WORKFLOW = """
    insert into hold (scope, workflow, kind, lift, reason, owner, until)
    select 'workflow', :workflow, :kind, :lift, :reason, :owner, :until
    where not exists (
        select from hold
        where scope = 'workflow' and workflow = :workflow and kind = :kind and by_hand
            and lifted_at >= cast(:seen_at as timestamptz))
    on conflict do nothing
"""
_PLACE = """
    insert into hold (scope, workflow, item_key, kind, lift, reason, owner, placed_by, until, state_seen)
    values (:scope, :workflow, :item_key, :kind, :lift, :reason, :owner, :owner,
        stationkeeper_clock() + make_interval(secs => cast(:seconds as double precision)),
        (select state from item where key = :item_key))
    on conflict do nothing
"""
_THERE = """
    lifted_at is null and scope = :scope and item_key is not distinct from cast(:item_key as bigint)
        and (scope = 'item' or workflow is not distinct from :workflow)
"""
_CLOSE_EXPIRED = f"""
    update hold set lifted_at = until, lifted_by = 'its time passed'
    where {_THERE} and until <= stationkeeper_clock()
"""
_LIFT = f"""
    update hold set lifted_at = stationkeeper_clock(), lifted_by = :by, lifted_reason = :why, by_hand = true
    where {_THERE} and kind = any(:kinds)
    returning kind
"""

_PLACE_ON_ITEM = """
    insert into hold (scope, workflow, item_key, kind, lift, reason, owner, until, state_seen)
    select 'item', item.workflow, item.key, :kind, :lift, :reason, :owner, :until, item.state
    from item where item.key = :item_key
    on conflict do nothing
"""
_LIFT_OF_ITEM = """
    update hold set lifted_at = stationkeeper_clock(), lifted_by = :by where item_key = :item_key and lifted_at is null
    returning kind
"""
# The card was moved, and by no person's hand.
FOLLOW = "update hold set state_seen = :state where item_key = :item_key and lifted_at is null"
# What stands on the card about its holds, or is on its way there: the last text under each key.
_SAID_OF_HOLDS = """
    select distinct on (key) key, body, turn_id from outbox
    where item_key = :item_key and act = 'comment' and kind = 'hold'
        and status in ('pending', 'claimed', 'unknown', 'sent')
    order by key, seq desc
"""
_LIFT_OF_WORKFLOW = """
    update hold set lifted_at = stationkeeper_clock(), lifted_by = :by
    where scope = 'workflow' and workflow = :workflow and kind = :kind and lifted_at is null
        and (cast(:seen_at as timestamptz) is null or placed_at <= :seen_at)
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
    """End every hold of an item, also on its card; returns how many stood."""
    kinds = [HoldKind(row.kind) for row in session.rows(_LIFT_OF_ITEM, item_key=item_key, by=by)]
    tell_over(session, item_key, kinds, why=by)
    return len(kinds)


def tell_over(session: Session, item_key: int, kinds: Collection[HoldKind], *, why: str) -> None:
    """Edit the comments of holds of these kinds that have ended. The caller holds the item's row."""
    for row in session.rows(_SAID_OF_HOLDS, item_key=item_key) if kinds else ():
        body = notes.over(row.body, kinds, why=why)
        if body is not None:
            writes.put(session, (Write(WriteKind.HOLD, Comment(row.key, body)),), turn_id=row.turn_id)


def place(session: Session, there: Place, hold: Hold, *, seconds: float | None) -> bool:
    """A person's hold on an item, a workflow or the fleet; False when one of its kind stands there."""
    values = {"kind": hold.kind.value, "lift": hold.lift.value, "reason": hold.reason, "owner": hold.owner}
    return session.change(_PLACE, **_where(there), **values, seconds=seconds) == 1


def lift(session: Session, there: Place, hand: Hand, *, kinds: frozenset[HoldKind]) -> Sequence[HoldKind]:
    """End the holds of these kinds that stand there; returns which did."""
    wanted = [kind.value for kind in kinds]
    rows = session.rows(_LIFT, **_where(there), kinds=wanted, by=hand.by, why=hand.reason)
    return sorted((HoldKind(row.kind) for row in rows), key=lambda kind: kind.value)


def close_expired(session: Session, there: Place) -> None:
    """Write down the end of what ended by itself, so that another of its kind finds room."""
    session.change(_CLOSE_EXPIRED, **_where(there))


def _where(there: Place) -> dict[str, object]:
    return {"scope": there.scope.value, "workflow": there.workflow, "item_key": there.item_key}


def hold_workflow(
    database: Database, workflow: str, hold: Hold | None, *, kind: HoldKind, seen_at: datetime | None
) -> None:
    """Place the hold of `kind` on a workflow, once; None lifts it. `seen_at` is when the look behind it began."""
    if hold is None:
        by = "the tick saw otherwise"
        database.change(_LIFT_OF_WORKFLOW, workflow=workflow, kind=kind.value, by=by, seen_at=seen_at)
        return
    database.change(
        _PLACE_ON_WORKFLOW,
        workflow=workflow,
        kind=kind.value,
        lift=hold.lift.value,
        reason=hold.reason,
        owner=hold.owner,
        until=hold.until,
        seen_at=seen_at,
    )
