"""Runs a hook: `sh -c`, no login shell, under the supervisor, with the environment that agents get."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from orchestrator import environment
from orchestrator.domain.turn import StopReason
from orchestrator.domain.workflow import Hook
from orchestrator.ports.hooks import HookEnd, HookOrder
from orchestrator.ports.supervisor import Duty, EndedBy, Exit, ProcessOrder, Refusal, SpawnFailed, Supervisor

# What is kept of a hook's output: an install prints tens of kilobytes, and nobody reads more than this of it.
LONGEST_OUTPUT_BYTES = 256 * 1024
# What stands beside the record of its end: enough to see why.
_TAIL_BYTES = 2_000

_DUTIES = {Hook.AFTER_RUN: Duty.FAREWELL, Hook.BEFORE_REMOVE: Duty.ERRAND}

_STOPPED = {
    EndedBy.FENCE_LOST: StopReason.LOST_WORKER,
    EndedBy.FREEZE_LIMIT: StopReason.LOST_WORKER,
    EndedBy.SUPERVISOR_LOST: StopReason.LOST_WORKER,
    EndedBy.SHUTDOWN: StopReason.DEPLOY,
}


class SupervisedHooks:
    """Fits `ports.hooks.Hooks`."""

    def __init__(self, inherited: Mapping[str, str]) -> None:
        """`inherited` is the worker's environment, of which a hook sees an allow-list."""
        self._inherited = inherited

    def run(self, order: HookOrder, supervisor: Supervisor) -> HookEnd:
        """Run it to its end."""
        try:
            running = supervisor.spawn(self._process(order))
        except SpawnFailed as fault:
            busy = fault.refusal is Refusal.WORKSPACE_BUSY
            stop = StopReason.WORKSPACE_BUSY if busy else StopReason.HOOK_FAILED
            return HookEnd(stop, str(fault), "", order.output)
        for _ in running.lines():
            pass  # a hook has nothing to say to us: it is all in the file
        exit_ = running.wait()
        return HookEnd(_stop(exit_, order, supervisor), _how(exit_, order), _tail(order.output), order.output)

    def _process(self, order: HookOrder) -> ProcessOrder:
        passed_on = {**environment.named(order.command, self._inherited), **order.env}
        return ProcessOrder(
            turn_id=order.turn_id,
            fence=order.fence,
            argv=("sh", "-c", order.command),
            cwd=order.workspace,
            environment=environment.build(order, passed_on, self._inherited, key="hooks.env"),
            stdin=b"",
            transcript=order.output,
            timeout_seconds=order.timeout_seconds,
            stall_seconds=None,
            transcript_bytes=LONGEST_OUTPUT_BYTES,
            lock_path=order.lock_path,
            duty=_DUTIES.get(order.hook, Duty.WORK),
        )


def _stop(exit_: Exit, order: HookOrder, supervisor: Supervisor) -> StopReason | None:
    if exit_.ended_by is EndedBy.EXITED:
        return None if exit_.code == 0 else StopReason.HOOK_FAILED
    if exit_.ended_by is EndedBy.CANCELLED:
        return supervisor.cancelled(order.turn_id) or StopReason.CANCELLED
    return _STOPPED.get(exit_.ended_by, StopReason.HOOK_FAILED)


def _how(exit_: Exit, order: HookOrder) -> str:
    match exit_.ended_by:
        case EndedBy.EXITED:
            return f"ended by signal {exit_.signal}" if exit_.code is None else f"exited with {exit_.code}"
        case EndedBy.TIMED_OUT:
            return f"ran longer than {order.timeout_seconds:g} s (hooks.timeout_ms)"
        case _:
            return f"stopped: {exit_.ended_by.value}"


def _tail(output: Path) -> str:
    """The last words, as one text; a file that cannot be read has none."""
    try:
        with output.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - _TAIL_BYTES, 0))
            return file.read().decode(errors="replace").replace("\0", "").strip()
    except OSError:
        return ""
