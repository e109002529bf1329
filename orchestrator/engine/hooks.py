"""The hooks around a turn's work: when each runs, what its failure means, and the record of its end.

A hook's end is a fact, recorded also after a cancel; the record names the file that keeps all it said.
"""

from __future__ import annotations

from orchestrator import telemetry
from orchestrator.domain.turn import Ending, Outcome, StopReason
from orchestrator.domain.workflow import Hook
from orchestrator.engine import patience
from orchestrator.engine.desk import Desk
from orchestrator.ports.hooks import HookEnd, HookOrder
from orchestrator.ports.store import StepRecord
from orchestrator.ports.workspaces import Workspace, WorkspaceBusy, WorkspaceFailed

# Beside the turn's own steps, which count from 1.
_ORDINALS = {Hook.AFTER_CREATE: 101, Hook.BEFORE_RUN: 102, Hook.AFTER_RUN: 103}


def complete(desk: Desk, workspace: Workspace) -> Ending | None:
    """Finish the making of a workspace: `after_create` runs in a new one, and its failure undoes the making (WS-09).

    None when it is ready. A making that was lost with the fence is left to the next owner, who makes it anew.
    """
    try:
        if workspace.created_now and (ending := _run(desk, workspace, Hook.AFTER_CREATE)):
            if ending.stop is not StopReason.LOST_WORKER:
                desk.ports.workspaces.undo(workspace)
            return ending
        desk.ports.workspaces.finish(workspace)
    except WorkspaceBusy as fault:
        return Ending(Outcome.FAILED, StopReason.WORKSPACE_BUSY, reason=str(fault))
    except WorkspaceFailed as fault:
        return Ending(Outcome.FAILED, StopReason.CONTRACT_BROKEN, reason=str(fault))
    return None


def before(desk: Desk, workspace: Workspace) -> Ending | None:
    """`before_run`, before each attempt; its failure fails the attempt."""
    return _run(desk, workspace, Hook.BEFORE_RUN)


def after(desk: Desk, workspace: Workspace, ending: Ending) -> None:
    """`after_run`, whatever happened, also after a cancel; only a turn that is not ours any more has none."""
    if ending.stop is not StopReason.LOST_WORKER:
        _run(desk, workspace, Hook.AFTER_RUN)


def _run(desk: Desk, workspace: Workspace, hook: Hook) -> Ending | None:
    settings = desk.workflow.hooks
    command = settings.commands.get(hook)
    if command is None:
        return None
    order = HookOrder(
        hook=hook,
        command=command,
        turn_id=desk.admitted.ref.turn_id,
        fence=desk.admitted.ref.fence,
        issue_id=desk.admitted.item_id,
        identifier=desk.admitted.identifier,
        attempt=desk.admitted.counters.attempt,
        workspace=workspace.path,
        output=desk.folder() / f"{hook.value}.log",
        timeout_seconds=settings.timeout_ms / 1000,
        lock_path=workspace.lock_path,
        env=settings.env,
    )
    end = desk.ports.hooks.run(order, desk.ports.supervisor())
    _record(desk, hook, end)
    if end.stop is None:
        return None
    return Ending(Outcome.FAILED, end.stop, reason=_told(hook, end))


def _record(desk: Desk, hook: Hook, end: HookEnd) -> None:
    output = {"ended": end.how, "said": end.tail, "output": str(end.output)}
    step = StepRecord(_ORDINALS[hook], f"hook {hook.value}", output)
    patience.persist(lambda: desk.ports.store.turns.record_step(desk.admitted.ref, step))
    if end.stop is not None:
        telemetry.hook_failed(desk.admitted.identifier, hook=hook.value, how=end.how, output=end.output)


def _told(hook: Hook, end: HookEnd) -> str:
    """Why the attempt failed, for the card and for `explain`: how it ended, its last line, where the rest is."""
    last = end.tail.splitlines()[-1].strip() if end.tail else ""
    return f"hook {hook.value} {end.how}{': ' + last if last else ''} (all it said: {end.output})"
