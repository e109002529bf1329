"""The room of a person's commands. Each takes the row of what it is about, so that no two of them pass each other.

A release is never undone by a tick that began before it: the brake is placed only by a look that is younger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from orchestrator.domain.hold import Hold, HoldKind, HoldScope, Lift
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import Counters, Recheck, StopReason, TurnStatus
from orchestrator.domain.writeback import Role
from orchestrator.ports.store.operators import Hand, Place
from orchestrator.store import cancelling, concluding, history, holds, leaving, resting, serving, writes
from orchestrator.store.concluding import Parting
from orchestrator.store.database import Database, Session
from orchestrator.store.workflows import LOCK_FLEET

_PLACES = """
    with known as (
        select item.key, item.identifier, item.workflow from item
        where lower(item.identifier) = lower(:key) or item.item_id = :key
    ), made as (
        insert into item (scope, item_id, identifier, workflow, state, listed, fence)
        select distinct on (workflow.scope, wait.item_id)
            workflow.scope, wait.item_id, wait.identifier, wait.workflow, '', true, installation.fence_base
        from installation, wait join workflow on workflow.name = wait.workflow
        where lower(wait.identifier) = lower(:key) or wait.item_id = :key
        order by workflow.scope, wait.item_id, wait.reason = 'not_active'
        on conflict (scope, item_id) do nothing
        returning key, identifier, workflow
    )
    select * from known union all select * from made order by key
"""
_WORKFLOW = "select name from workflow where name = :name"
_DEAD = """
    select item.key, item.identifier, item.workflow
    from hold join item on item.key = hold.item_key
    where hold.kind = 'dead_letter' and hold.lifted_at is null
        and (cast(:workflow as text) is null or item.workflow = :workflow)
    order by hold.placed_at, item.key
"""
_RAISE = "update item set version = version + 1 where key = :item_key returning attempt, turns_in_row, sessions"
_OPEN_TURN = """
    select id, task_id, fence, status, workflow, stationkeeper_clock() as now from turn
    where item_key = :item_key and status in ('queued', 'running') for no key update
"""
_FLAG = """
    update turn set cancel = 'cancelled', cancel_at = stationkeeper_clock() where id = :turn_id and cancel is null
"""
_LIVE_TASK = """
    select id, stop_reason from task
    where item_key = :item_key and status not in ('succeeded', 'failed', 'cancelled') for no key update
"""
_FLAG_TASK = """
    update task set cancel = coalesce(cancel, :stop), due_at = stationkeeper_clock()
    where id = :task_id and status <> 'compensating'
        and (stationkeeper_unsettled(id) or stationkeeper_undoable(id))
"""
# A release takes no wait away that stands for another reason.
_MAKE_DUE = """
    update task set due_at = coalesce(due_at, stationkeeper_clock())
    where item_key = :item_key and status not in ('succeeded', 'failed', 'cancelled')
        and not exists (select from turn where turn.item_key = task.item_key and turn.status in ('queued', 'running'))
"""
_LISTING = """
    update reconciler set list_requested_at = greatest(stationkeeper_clock(), list_began_at + interval '1 microsecond')
    where cast(:workflow as text) is null or workflow = :workflow
"""

# After these a person has looked at the work itself: attempts and sessions count anew.
_LOOKED_AT = frozenset({HoldKind.BLOCKED, HoldKind.FINISHED, HoldKind.DISCARDED, HoldKind.PARKED_MOVE})


class Operators:
    """The room of the commands that change something."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def places(self, key: str) -> Sequence[Place]:
        """Every item of that key."""
        return [_item(row) for row in self._database.rows(_PLACES, key=key)]

    def workflow(self, name: str) -> Place | None:
        """A workflow in force."""
        row = self._database.row(_WORKFLOW, name=name)
        return None if row is None else Place(HoldScope.WORKFLOW, f"workflow {row.name}", row.name)

    def dead_letters(self, workflow: str | None) -> Sequence[Place]:
        """The items that are dead letters, the oldest first."""
        return [_item(row) for row in self._database.rows(_DEAD, workflow=workflow)]

    def hold(self, place: Place, hand: Hand, *, seconds: float | None, stop: bool = False) -> bool:
        """Hold it; False when a person's hold stands on it already."""
        lift = Lift.PERSON if seconds is None else Lift.TIME
        hold = Hold(place.scope, HoldKind.OPERATOR, lift, hand.reason, owner=hand.by)
        with self._locked(place) as session:
            holds.close_expired(session, place)
            if not holds.place(session, place, hold, seconds=seconds):
                return False
            if place.item_key is not None:
                _stand_down(session, place.item_key, stop=stop)
            _told(session, place, hand, what="held", hold=hold.kind.value, seconds=seconds)
        return True

    def release(self, place: Place, hand: Hand) -> Sequence[HoldKind]:
        """Lift what a person may lift there."""
        with self._locked(place) as session:
            kept = {HoldKind.DEAD_LETTER} | ({HoldKind.RECOVERY} if place.scope is HoldScope.FLEET else set())
            kinds = holds.lift(session, place, hand, kinds=frozenset(HoldKind) - kept)
            if kinds and place.item_key is not None:
                if HoldKind.WORK_LEFT in kinds:
                    leaving.forget_host(session, place.item_key)
                if HoldKind.SERVED_ELSEWHERE in kinds:
                    serving.release(session, place.item_key)
                if _LOOKED_AT & set(kinds):
                    session.change(cancelling.COUNT_ANEW, item_key=place.item_key)
                session.change(_MAKE_DUE, item_key=place.item_key)
                holds.tell_over(session, place.item_key, kinds, why=f"{hand.by} released it ({hand.reason})")
            if HoldKind.PARKED_MOVE in kinds and place.item_key is not None:
                writes.append_again(session, item_key=place.item_key)
            for kind in kinds:
                _told(session, place, hand, what="released", hold=kind.value)
        return kinds

    def wake(self, place: Place, hand: Hand) -> bool:
        """End a workflow's rest: the provider is asked again now."""
        with self._locked(place) as session:
            if place.workflow is None or not resting.end(session, place.workflow):
                return False
            _told(session, place, hand, what="woken")
        return True

    def resume(self, place: Place, hand: Hand) -> bool:
        """Lift an item's dead letter."""
        with self._locked(place) as session:
            if not holds.lift(session, place, hand, kinds=frozenset({HoldKind.DEAD_LETTER})):
                return False
            session.change(cancelling.COUNT_ANEW, item_key=place.item_key)
            session.change(_MAKE_DUE, item_key=place.item_key)
            if place.item_key is not None:
                why = f"{hand.by} resumed it ({hand.reason})"
                holds.tell_over(session, place.item_key, [HoldKind.DEAD_LETTER], why=why)
            _told(session, place, hand, what="resumed")
        return True

    def discard(self, place: Place, hand: Hand) -> bool:
        """Fail a dead letter's task; a hold that only a person's move or release lifts takes the letter's place.

        A task with an effect that may have happened, or has to be taken back, gets the turns that this takes first.
        """
        with self._locked(place) as session:
            if not holds.lift(session, place, hand, kinds=frozenset({HoldKind.DEAD_LETTER})):
                return False
            task = session.row(_LIVE_TASK, item_key=place.item_key)
            if task is not None and _goes_on(session, task.id):
                _told(session, place, hand, what="discarded")
                return True
            if task is not None:
                stop = StopReason(task.stop_reason) if task.stop_reason else StopReason.CANCELLED
                writes.withdraw_moves(session, item_key=place.item_key or 0, detail=f"discarded: {stop.value}")
                concluding.end_task(session, task.id, TaskStatus.FAILED, stop=stop)
            hold = Hold(HoldScope.ITEM, HoldKind.DISCARDED, Lift.PERSON, hand.reason, owner=hand.by)
            holds.place(session, place, hold, seconds=None)
            _told(session, place, hand, what="discarded")
        return True

    @contextmanager
    def _locked(self, place: Place) -> Iterator[Session]:
        """The rows in the order of locks: the workflow's comes first, since an item's queued turn may give a slot."""
        with self._database.transaction() as session:
            if place.scope is HoldScope.FLEET:
                session.row(LOCK_FLEET)
            if place.workflow is not None:
                session.row(concluding.LOCK_WORKFLOW, workflow=place.workflow)
            if place.item_key is not None:
                session.change(_RAISE, item_key=place.item_key)
            yield session
            session.change(_LISTING, workflow=place.workflow)


def _goes_on(session: Session, task_id: UUID) -> bool:
    """Whether a task that is given up has to find something out, or to take something back, before it ends."""
    return session.change(_FLAG_TASK, task_id=task_id, stop=StopReason.TAKEN_BACK.value) == 1


def _item(row: object) -> Place:
    return Place(HoldScope.ITEM, row.identifier, row.workflow, row.key)  # type: ignore[attr-defined]


def _stand_down(session: Session, item_key: int, *, stop: bool) -> None:
    """A queued turn gives its slot back and is opened again after the hold; a running one goes on, unless stopped."""
    writes.withdraw_moves(session, item_key=item_key, detail="held: operator", role=Role.IN_PROGRESS)
    turn = session.row(_OPEN_TURN, item_key=item_key)
    if turn is None:
        return
    if turn.status == TurnStatus.QUEUED.value:
        item = session.row(_RAISE, item_key=item_key)
        assert item is not None  # noqa: S101 -- its turn refers to it
        counters = Counters(item.attempt, item.turns_in_row, item.sessions)
        ended = concluding.Ended(turn.id, turn.task_id, item_key, turn.workflow, turn.fence)
        again = Recheck(turn.now, TurnStatus.CANCELLED, StopReason.CANCELLED, counters)
        concluding.apply(session, ended, again, parting=Parting("a person held the card before it began"))
    elif stop:
        writes.withdraw_moves(session, item_key=item_key, detail="cancelled: a person's command")
        session.change(_FLAG, turn_id=turn.id)


def _told(session: Session, place: Place, hand: Hand, *, what: str, **more: object) -> None:
    """The audit: who did what to which, and why."""
    said = {"by": hand.by, "reason": hand.reason, "on": place.scope.value, **more}
    history.note(session, what, item_key=place.item_key, workflow=place.workflow, **said)
