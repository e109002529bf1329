"""Carries out a plan. A flat loop; every step is conditional, because a plan is old the moment it is made.

What an action could not do becomes a reason of its item, and its refusal asks for the item again at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID, uuid4

from orchestrator import telemetry
from orchestrator.domain import contract, keys, select
from orchestrator.domain.item import Item
from orchestrator.domain.leaving import HostIsBack, LeaveHost
from orchestrator.domain.reconcile import (
    Action,
    Cancel,
    Dispatch,
    EndTask,
    Expire,
    LiftHold,
    NoteAbsence,
    Plan,
    Refresh,
    Requeue,
)
from orchestrator.domain.records import ItemRecord
from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.domain.turn import StopReason
from orchestrator.domain.workflow import Workflow
from orchestrator.engine import blockers, renamed
from orchestrator.ports import Ports
from orchestrator.ports.leases import LeasesUnavailable
from orchestrator.ports.queue import PublishFailed
from orchestrator.ports.store import Opened, Opening, Refused, TickGrant, WorkflowRow
from orchestrator.ports.tracker import TrackerError

# Between two extensions of a tick's right: well below the ten seconds that each gives.
_EXTEND_AFTER_SECONDS = 2.0
# So many offers are remembered in one commit. A tick that dies in between offers them again, and admission takes one.
_MARKED_AT_ONCE = 50
# A queued turn holds its Redis lease for as long as an admitted one; the supervisor sets it again after that.
_LEASE_SECONDS = 30.0


class TickLost(Exception):
    """Another tick has the right now; this one stops, and what it left undone the other sees."""


@dataclass(slots=True)
class _Run:
    """One plan being carried out: what every step needs, and what the loop remembers."""

    ports: Ports
    grant: TickGrant
    row: WorkflowRow
    workflow: Workflow
    waits: dict[str, Wait]
    extended_at: float
    publishing: bool = True
    published: list[UUID] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)


def carry_out(ports: Ports, grant: TickGrant, plan: Plan, *, row: WorkflowRow, workflow: Workflow) -> dict[str, Wait]:
    """Carry out every action; returns the reasons of the plan and of what could not be done. Raises TickLost."""
    run = _Run(ports, grant, row, workflow, dict(plan.reasons), ports.clock.boot_seconds())
    for action in plan.actions:
        run.extended_at = keep(ports, grant, run.extended_at)
        _carry_out(run, action)
        _mark_enqueued(run, at_least=_MARKED_AT_ONCE)
    _mark_enqueued(run, at_least=1)
    if run.refused:
        ports.store.reconciler.request(row.name, listing=False)
    return run.waits


def _carry_out(run: _Run, action: Action) -> None:
    items = run.ports.store.items
    match action:
        case Dispatch():
            _dispatch(run, action)
        case Cancel(record=record, stop=stop):
            done = _still_unwanted(run, action) and items.cancel(record, stop, workflow=run.row.name)
            _note(run, record, action="cancel", done=done)
        case Expire(record=record):
            done = items.lose(record, run.workflow.turn_limits, workflow=run.row.name)
            _note(run, record, action="lose", done=done)
        case Requeue(record=record):
            _requeue(run, record)
        case EndTask(record=record, stop=stop):
            done = items.end_task(record, stop, workflow=run.row.name)
            _note(run, record, action="end_task", done=done)
        case LiftHold(record=record, reason=reason):
            _note(run, record, action="lift", done=items.lift_holds(record, reason))
        case LeaveHost() | HostIsBack():
            _follow_host(run, action)
        case NoteAbsence(record=record, times=times):
            items.note_absence(record, times)
        case Refresh(record=record, state=state):
            items.refresh(record, state)


def _follow_host(run: _Run, action: LeaveHost | HostIsBack) -> None:
    items, record = run.ports.store.items, action.record
    if isinstance(action, LeaveHost):
        _note(run, record, action="leave_host", done=items.leave_host(record, action.reason, workflow=run.row.name))
    else:
        _note(run, record, action="rejoin", done=items.rejoin(record, workflow=run.row.name))


def keep(ports: Ports, grant: TickGrant, extended_at: float) -> float:
    """Extend the right to this tick, between pages and actions, once some seconds have passed since `extended_at`.

    Returns when it was extended last, by the boot clock; raises TickLost when it is gone.
    """
    now = ports.clock.boot_seconds()
    if not grant.binding or now - extended_at < _EXTEND_AFTER_SECONDS:
        return extended_at
    if not ports.store.reconciler.extend(grant):
        raise TickLost
    return now


def _note(run: _Run, record: ItemRecord, *, action: str, done: bool) -> None:
    if done:
        telemetry.acted(record.identifier, action=action)
    else:
        run.refused.add(record.id)


def _dispatch(run: _Run, action: Dispatch) -> None:
    """Re-read, lease, one transaction, publish; whichever says no gives the item its reason."""
    wait = _try_dispatch(run, action) if run.publishing else Wait(NotDispatched.PUBLISH_FAILED)
    if wait is not None:
        run.waits[action.item.id] = wait
        telemetry.refused(action.item.identifier, reason=wait.reason, detail=wait.detail)


def _try_dispatch(run: _Run, action: Dispatch) -> Wait | None:
    fresh = _reread(run, action)
    if isinstance(fresh, Wait):
        return fresh
    turn_id = uuid4()
    fence = (action.record.fence if action.record else 0) + 1
    lease = keys.lease_key(run.row.scope, fresh.id)
    try:
        if not run.ports.leases.take(lease, turn_id, fence, seconds=_LEASE_SECONDS):
            return Wait(NotDispatched.REDIS_LEASE_TAKEN)
    except LeasesUnavailable as error:
        run.publishing = False
        return Wait(NotDispatched.PUBLISH_FAILED, str(error))
    opening = Opening(
        item=fresh,
        seen_version=action.version,
        turn_id=turn_id,
        workflow=run.row,
        max_concurrent=run.workflow.limits.max_concurrent,
        max_in_state=run.workflow.limits.max_concurrent_by_state.get(contract.fold(fresh.state)),
        host=action.host,
    )
    opened = run.ports.store.items.open_turn(opening)
    if isinstance(opened, Refused):
        _give_back(run, lease, opening, fence=fence)
        run.refused.add(fresh.id)
        return Wait(opened.reason)
    telemetry.dispatched(fresh.identifier, turn_id=turn_id, fence=opened.fence, ordinal=opened.ordinal)
    label = f"{fresh.identifier} turn {opened.ordinal} fence {opened.fence}"
    return _publish(run, opened, label, host=action.host)


def _reread(run: _Run, action: Dispatch) -> Item | Wait:
    """The card by id, right before the spawn, through the same gate (CS-14)."""
    try:
        tracker = run.ports.tracker(run.workflow)
        fresh = tracker.get_items([action.item.id]).get(action.item.id)
        if fresh is None:
            return Wait(NotDispatched.CHANGED_ON_REREAD, "gone")
        fresh = blockers.of(tracker, fresh)
    except TrackerError as error:
        return Wait(NotDispatched.READ_FAILED, str(error))
    if fresh == action.item:
        return fresh
    return select.wants(fresh, run.workflow.contract, run.workflow.limits) or fresh


def _still_unwanted(run: _Run, action: Cancel) -> bool:
    """The card by id, right before its turn is stopped: it may be back already. What cannot be read stops nothing."""
    if action.stop is StopReason.CANCELLED:
        return True  # not for its card
    tracker = run.ports.tracker(run.workflow)
    try:
        fresh = tracker.get_items([action.record.id]).get(action.record.id)
        is_renamed = fresh is not None and renamed.lacking(tracker, fresh.state, run.workflow.contract) is not None
    except TrackerError:
        return False
    if fresh is None:
        return action.stop is StopReason.NOT_VISIBLE
    if action.stop is StopReason.TERMINAL_SEEN:
        return run.workflow.contract.is_terminal(fresh.state)
    if is_renamed:
        return False
    active = run.workflow.contract.is_active(fresh.state)
    return not active or select.not_routable(fresh, run.workflow.limits) is not None


def _give_back(run: _Run, lease: str, opening: Opening, *, fence: int) -> None:
    try:
        run.ports.leases.release(lease, opening.turn_id, fence)
    except LeasesUnavailable as error:
        telemetry.service_failed("redis", error=error)  # the lease runs out by itself


def _publish(run: _Run, opened: Opened, label: str, *, host: str | None) -> Wait | None:
    """Give the turn to the broker. If it fails the turn stays queued, and a later tick enqueues the same one again."""
    try:
        run.ports.queue.turn(opened.turn_id, opened.fence, label=label, host=host)
    except PublishFailed as error:
        run.publishing = False
        return Wait(NotDispatched.PUBLISH_FAILED, str(error))
    run.published.append(opened.turn_id)
    return None


def _mark_enqueued(run: _Run, *, at_least: int) -> None:
    """Remember what was published, so that it is not offered again before its message is stale."""
    if len(run.published) >= at_least:
        run.ports.store.items.mark_enqueued(run.published)
        run.published.clear()


def _requeue(run: _Run, record: ItemRecord) -> None:
    turn = record.turn
    if turn is None or not run.publishing:
        return
    label = f"{record.identifier} fence {turn.fence} again"
    _publish(run, Opened(turn.id, turn.fence, turn.fence), label, host=turn.for_host)
