"""Which way a flow's function is called, and what an end that is none of its own means."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from orchestrator.domain.call import Answer, Call, Late, Part, Said
from orchestrator.flows import performing
from orchestrator.flows.loading import FlowFiles
from orchestrator.ports.clock import Clock
from orchestrator.ports.supervisor import EndedBy, Exit, ProcessOrder, Refusal, SpawnFailed, Supervisor
from orchestrator.steps import beside, wire

T = TypeVar("T")

# What the worker does to a program that is no fault of the program's.
_STOPPED = {
    EndedBy.CANCELLED,
    EndedBy.FENCE_LOST,
    EndedBy.FREEZE_LIMIT,
    EndedBy.SHUTDOWN,
    EndedBy.SUPERVISOR_LOST,
}
# A walk is never abandoned in one of these: what it intended is for the walk that knows of it to settle.
_OF_EFFECTS = (Part.PREPARE, Part.ACT, Part.LOOK_UP)


class StepCalls:
    """Fits `ports.steps.Steps`. `environment` is what an isolated function sees."""

    def __init__(
        self,
        flows: FlowFiles,
        clock: Clock,
        *,
        supervisor: Callable[[], Supervisor],
        environment: Mapping[str, str],
        state_dir: Path,
    ) -> None:
        """Starts nothing."""
        self._flows, self._clock, self._supervisor = flows, clock, supervisor
        self._environment, self._state_dir = environment, state_dir

    def perform(self, call: Call, *, isolated: bool) -> Answer:
        """Call it, in a process of its own or beside this thread."""
        if isolated:
            return self._isolated(call)
        flow = self._flows.flow(call.flow)
        work = partial(performing.perform, flow, call, boot_seconds=self._clock.boot_seconds)
        make = beside.elsewhere if call.part in _OF_EFFECTS else beside.here
        return make(work, call.timeout_seconds, partial(_late, call))

    def watched(self, walk: Callable[[Late | None], T], *, shortest_seconds: float) -> T:
        """Let a walk make its calls beside it, without a change of threads for each."""
        return beside.watched(walk, shortest_seconds)

    def _isolated(self, call: Call) -> Answer:
        try:
            running = self._supervisor().spawn(self._order(call))
        except SpawnFailed as fault:
            said = Said.STOPPED if fault.refusal is Refusal.NOT_ADOPTED else Said.TRY_AGAIN
            return Answer(Said.NOT_SENT if call.part is Part.ACT else said, reason=str(fault))
        answer = None
        for line in running.lines():
            answer = answer or wire.read_answer(line)
        ended = running.wait()
        return answer or _without_a_word(call, ended)

    def _order(self, call: Call) -> ProcessOrder:
        scratch = self._state_dir / "turns" / str(call.turn_id)
        scratch.mkdir(parents=True, exist_ok=True)
        return ProcessOrder(
            turn_id=call.turn_id,
            fence=call.fence,
            argv=(sys.executable, "-m", "orchestrator.steps.program"),
            cwd=Path.cwd(),
            environment=self._environment,
            stdin=wire.pack_call(call, self._flows.references),
            transcript=scratch / f"{call.step}.{call.part.value}.log",
            timeout_seconds=call.timeout_seconds,
            stall_seconds=None,
        )


def _without_a_word(call: Call, ended: Exit) -> Answer:
    if ended.ended_by in _STOPPED:
        said = Said.UNKNOWN if call.part in {Part.ACT, Part.LOOK_UP} else Said.STOPPED
        return Answer(said, reason=f"stopped: {ended.ended_by.value}")
    if ended.ended_by is not EndedBy.EXITED:
        return _late(call).answer
    how = f"signal {ended.signal}" if ended.code is None else f"exit code {ended.code}"
    return _unfinished(call, f"its process ended with {how} before it answered")


def _unfinished(call: Call, reason: str) -> Answer:
    """A call without an answer: of an act nobody knows; anything else may be tried again."""
    return Answer(Said.UNKNOWN if call.part in {Part.ACT, Part.LOOK_UP} else Said.TRY_AGAIN, reason=reason)


def _late(call: Call) -> Late:
    return Late(call.step, _unfinished(call, f"it ran longer than {call.timeout_seconds:g} s"))
