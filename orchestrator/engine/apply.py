"""Carries out a plan. A flat loop; every step is conditional, because a plan is old the moment it is made.

What an action could not do becomes a reason of its item, and its refusal asks for the item again at once.
"""

from __future__ import annotations

from orchestrator import telemetry
from orchestrator.domain import contract, select
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
from orchestrator.domain.select import Wait
from orchestrator.domain.turn import StopReason
from orchestrator.domain.workflow import Workflow
from orchestrator.engine import dispatch, looking, renamed, serving
from orchestrator.engine.run import Run
from orchestrator.ports import Ports
from orchestrator.ports.store import Offer, TickGrant, WorkflowRow
from orchestrator.ports.tracker import TrackerError


def carry_out(ports: Ports, grant: TickGrant, plan: Plan, *, row: WorkflowRow, workflow: Workflow) -> dict[str, Wait]:
    """Carry out every action; returns the reasons of the plan and of what could not be done. Raises TickLost."""
    run = Run(ports, grant, row, workflow, dict(plan.reasons), ports.clock.boot_seconds())
    group = dispatch.Group(run)
    for action in plan.actions:
        run.go_on()
        match action:
            case Dispatch():
                group.add(action)
            case Requeue(record=record):
                _requeue(group, record)
            case _:
                _carry_out(run, action)
    group.go()
    if run.refused:
        ports.store.reconciler.request(row.name, listing=False)
    return run.waits


def _carry_out(run: Run, action: Action) -> None:
    """Any action that begins nothing."""
    items = run.ports.store.items
    match action:
        case Cancel(record=record, stop=stop):
            done = _still_unwanted(run, action) and items.cancel(record, stop, workflow=run.row.name)
            _note(run, record, action="cancel", done=done)
        case Expire(record=record):
            done = items.lose(record, run.workflow.turn_limits, workflow=run.row.name)
            _note(run, record, action="lose", done=done)
        case EndTask(record=record, stop=stop):
            done = items.end_task(record, stop, workflow=run.row.name)
            _note(run, record, action="end_task", done=done)
        case LiftHold(record=record, reason=reason):
            done = _still_moved(run, action) and items.lift_holds(record, reason)
            _note(run, record, action="lift", done=done)
        case LeaveHost() | HostIsBack():
            _follow_host(run, action)
        case NoteAbsence(record=record, times=times):
            items.note_absence(record, times)
        case Refresh(record=record, state=state):
            items.refresh(record, state)


def _follow_host(run: Run, action: LeaveHost | HostIsBack) -> None:
    items, record = run.ports.store.items, action.record
    if isinstance(action, LeaveHost):
        _note(run, record, action="leave_host", done=items.leave_host(record, action.reason, workflow=run.row.name))
    else:
        _note(run, record, action="rejoin", done=items.rejoin(record, workflow=run.row.name))


def _note(run: Run, record: ItemRecord, *, action: str, done: bool) -> None:
    if done:
        telemetry.acted(record.identifier, action=action)
    else:
        run.refused.add(record.id)


def _still_unwanted(run: Run, action: Cancel) -> bool:
    """The card by id, right before its turn is stopped: it may be back already. What cannot be read stops nothing."""
    if action.stop is StopReason.CANCELLED:
        return True  # not for its card
    tracker = run.ports.tracker(run.workflow)
    try:
        fresh = looking.by_id(tracker, action.record.id)
        live = renamed.columns(tracker, fresh.state, run.workflow.contract) if fresh is not None else None
        if fresh is not None and live is not None and not renamed.has(live, fresh.state):
            fresh = looking.by_id(tracker, action.record.id)  # its column has its old name back since that look
    except TrackerError:
        return False
    if fresh is None:
        return action.stop is StopReason.NOT_VISIBLE
    if action.stop is StopReason.TERMINAL_SEEN:
        return run.workflow.contract.is_terminal(fresh.state)
    if live is not None and renamed.missing(run.workflow.contract, live) is not None:
        return False
    active = run.workflow.contract.is_active(fresh.state)
    return not active or select.not_routable(fresh, run.workflow.limits) is not None


def _still_moved(run: Run, action: LiftHold) -> bool:
    """The held card by id, right before its hold ends: the listing may be old, or its column renamed since.

    A move of another installation is no person's: the hold goes along, and the next move is told from it.
    """
    tracker = run.ports.tracker(run.workflow)
    try:
        fresh = looking.by_id(tracker, action.record.id)
        if fresh is None or contract.fold(fresh.state) != contract.fold(action.state):
            return False
        if renamed.lacking(tracker, fresh.state, run.workflow.contract) is not None:
            return False
        if run.workflow.contract.is_terminal(fresh.state) or not serving.may_have_moved(run.ports, tracker, fresh.id):
            return True
        run.ports.store.items.holds_follow(action.record, fresh.state)
        return False
    except TrackerError:
        return False


def _requeue(group: dispatch.Group, record: ItemRecord) -> None:
    turn = record.turn
    if turn is not None:
        label = f"{record.identifier} fence {turn.fence} again"
        group.add_again(Offer(turn.id, turn.fence, label, turn.for_host))
