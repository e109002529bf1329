"""Gives way to another installation that works on a card: its mark is remembered, and a hold stands while it is fresh.

Fresh is a mark that did not stand unchanged for its time yet, by our own clock. Nothing of this is written in the life
of a card that nobody else serves, but the renewal of our own mark.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from orchestrator.domain.hold import Hold, HoldKind, HoldScope, Lift
from orchestrator.domain.serving import FIRST_LOOK_SECONDS, OVER_SECONDS, RENEWALS, Mark
from orchestrator.domain.turn import StopReason, TurnStatus
from orchestrator.domain.writeback import Role
from orchestrator.ports.store import Sight
from orchestrator.store import concluding, history, holds, writes
from orchestrator.store.cancelling import OPEN_TURN
from orchestrator.store.concluding import Parting
from orchestrator.store.database import Database, Row, Session

_KNOW_ITEM = """
    insert into item (scope, item_id, identifier, workflow, state, listed, fence)
    select :scope, :item_id, :identifier, :workflow, :state, true, installation.fence_base from installation
    on conflict (scope, item_id) do nothing
"""
_LOCK_ITEM = "select key from item where scope = :scope and item_id = :item_id for no key update"
# A person's release is for a day: who serves the card then is looked at anew.
_REMEMBER = """
    insert into mark_elsewhere as known (item_key, installation, said, first_seen_at)
    values (:item_key, :installation, :said, stationkeeper_clock())
    on conflict (item_key, installation) do update
    set said = excluded.said,
        first_seen_at = case when known.said = excluded.said then known.first_seen_at else excluded.first_seen_at end
    returning first_seen_at + make_interval(secs => :served) as until,
        first_seen_at + make_interval(secs => :served) > stationkeeper_clock()
            and coalesce(released_at < stationkeeper_clock() - make_interval(secs => :over), true) as fresh
"""
_OVER = """
    update hold set lifted_at = until, lifted_by = 'its time passed'
    where item_key = :item_key and kind = :kind and lifted_at is null and until <= stationkeeper_clock()
"""
_RAISE = "update item set version = version + 1 where key = :item_key"
_FLAG = "update turn set cancel = :stop, cancel_at = stationkeeper_clock() where id = :turn_id and cancel is null"
_RELEASE = "update mark_elsewhere set released_at = stationkeeper_clock() where item_key = :item_key"
# The comment that a turn runs is posted again, with a mark that is good for longer. It is the last word under its key:
# one that was said since has its own row, and a turn that has ended says so. The first time comes early.
_RENEW = """
    with aging as (
        select outbox.id from turn join outbox on outbox.item_key = turn.item_key and outbox.turn_id = turn.id
        where turn.status = 'running' and turn.cancel is null and outbox.kind = 'started' and outbox.act = 'comment'
            and outbox.status = 'sent'
            and (outbox.settled_at < stationkeeper_now() - make_interval(secs => case
                    when outbox.settled_at < outbox.written_at + make_interval(secs => :first) then :first
                    else :again end)
                or outbox.settled_at > stationkeeper_now() + interval '1 minute') -- the clock was set back
        for no key update of outbox skip locked
    )
    update outbox set status = 'pending', due_at = null, settled_at = null, tries = 0
    from aging where outbox.id = aging.id
"""


def give_way(database: Database, sight: Sight, *, served_seconds: float) -> Mark | None:
    """Remember the marks of others on a card; where one is fresh and comes before ours, stand back and return it.

    The card is held until that mark is old, and a running turn of it is asked to stop.
    """
    workflow = sight.workflow
    values = {"item_id": sight.item_id, "identifier": sight.identifier, "state": sight.state}
    with database.transaction() as session:
        marks = _not_over(session, sight.marks)
        if not marks:
            return None  # nothing to remember: a card that nobody serves gets no row for it
        session.row(concluding.LOCK_WORKFLOW, workflow=workflow.name)
        session.change(_KNOW_ITEM, scope=workflow.scope, workflow=workflow.name, **values)
        item = session.row(_LOCK_ITEM, scope=workflow.scope, item_id=sight.item_id)
        assert item is not None  # noqa: S101 -- it was put there in this transaction
        fresh = list(_fresh(session, item.key, marks, served_seconds=served_seconds))
        first = [(mark, until) for mark, until in fresh if sight.ours is None or mark.is_before(sight.ours)]
        if not first:
            return None
        mark, until = max(first, key=lambda found: found[1])
        _stand_back(session, item.key, mark, until=until, workflow=workflow.name)
    return mark


def renew(database: Database, *, served_seconds: float) -> int:
    """Have the marks of running turns posted again that are getting old; returns how many."""
    again = served_seconds / RENEWALS
    return database.change(_RENEW, first=min(FIRST_LOOK_SECONDS, again), again=again)


def release(session: Session, item_key: int) -> None:
    """A person says that nobody else works on the card, whatever stands on it. The caller holds the item's row."""
    session.change(_RELEASE, item_key=item_key)


def mark_of(row: Row) -> Mark | None:
    """Our own mark for a comment of a card whose business is open; None where nothing is left to serve."""
    return Mark(row.installation, row.written_at, row.served_until) if row.served_until is not None else None


def _not_over(session: Session, marks: Iterable[Mark]) -> list[Mark]:
    clock = session.row("select stationkeeper_clock() as now")
    assert clock is not None  # noqa: S101 -- it is always some time
    return [mark for mark in marks if mark.until > clock.now - timedelta(seconds=OVER_SECONDS)]


def _fresh(
    session: Session, item_key: int, marks: Iterable[Mark], *, served_seconds: float
) -> Iterable[tuple[Mark, datetime]]:
    for mark in marks:
        values = {"installation": mark.installation, "said": mark.line()}
        row = session.row(_REMEMBER, item_key=item_key, served=served_seconds, over=OVER_SECONDS, **values)
        if row is not None and row.fresh:
            yield mark, row.until


def _stand_back(session: Session, item_key: int, mark: Mark, *, until: datetime, workflow: str) -> None:
    stop = StopReason.SERVED_ELSEWHERE.value
    session.change(_OVER, item_key=item_key, kind=HoldKind.SERVED_ELSEWHERE.value)
    reason = f"installation {mark.installation} works on it, since {mark.since:%Y-%m-%d %H:%M:%S} UTC by its clock"
    hold = Hold(HoldScope.ITEM, HoldKind.SERVED_ELSEWHERE, Lift.TIME, reason, until=until)
    holds.place_on_item(session, hold, item_key=item_key)
    writes.withdraw_moves(session, item_key=item_key, detail=f"held: {stop}", role=Role.IN_PROGRESS)
    turn = session.row(OPEN_TURN, item_key=item_key)
    if turn is not None and turn.status == TurnStatus.QUEUED.value:
        ended = concluding.Ended(turn.id, turn.task_id, item_key, workflow, turn.fence)
        over = concluding.cancelled(StopReason.SERVED_ELSEWHERE, turn=TurnStatus.CANCELLED)
        concluding.apply(session, ended, over, parting=Parting())
    elif turn is not None:
        session.change(_FLAG, turn_id=turn.id, stop=stop)
    session.change(_RAISE, item_key=item_key)
    history.note(session, "gave_way", item_key=item_key, workflow=workflow, to=mark.installation)
