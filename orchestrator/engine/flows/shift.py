"""What every part of a flow's turn works with, and the few things that all of them do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from orchestrator import telemetry
from orchestrator.domain import flow
from orchestrator.domain.call import Answer, Call, Late, Part
from orchestrator.domain.effect import EffectRecord, EffectStatus
from orchestrator.domain.flow import Ending
from orchestrator.domain.step import FlowContract, StepContract
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import StopReason
from orchestrator.engine import patience
from orchestrator.engine.worker import Worker
from orchestrator.ports import Ports
from orchestrator.ports.store import Admitted, Failure, FlowTask, Intent

# A step that announces no more than this needs no word to the supervisor, which renews as long between two steps.
_COVERED_SECONDS = 60.0
# A word to the supervisor takes longer than a short step: it is good for the steps that begin within this time, too.
_AHEAD_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Done:
    """A step is over: its output, and why the flow ends with it, if it does."""

    output: object
    ends: str | None = None


class NotOurs(Exception):
    """The turn is somebody else's by now, or over: there is nothing more to say in its name."""


@dataclass(slots=True)
class Shift:
    """A turn under way; `sent_at` is the boot clock's at its admission, `outputs` what is recorded.

    `late` is the call in which this turn's walk was abandoned before.
    """

    ports: Ports
    worker: Worker
    admitted: Admitted
    contract: FlowContract
    task: FlowTask
    sent_at: float
    late: Late | None = None
    outputs: dict[str, object] = field(default_factory=dict)
    covered_until: float = 0.0
    task_name: str = field(init=False)

    def __post_init__(self) -> None:
        """Spell the task's id once, not in each call."""
        self.task_name = str(self.task.task_id)

    @property
    def is_undoing(self) -> bool:
        """Whether the task is being taken back: from then on nothing else is done about it."""
        return self.task.status is TaskStatus.COMPENSATING

    @property
    def stopping(self) -> StopReason | None:
        """Why nothing more may begin; what takes a task back is not kept from it by the reason to do so."""
        stopping = self.task.stopping
        return None if stopping is None or self.is_undoing else stopping

    def now(self) -> datetime:
        """The database's time, reckoned from the admission."""
        return self.admitted.admitted_at + timedelta(seconds=self.boot_seconds() - self.sent_at)

    def boot_seconds(self) -> float:
        """The boot clock."""
        return self.ports.clock.boot_seconds()

    def perform(
        self,
        step: StepContract,
        part: Part,
        *,
        of: Intent | EffectRecord | None = None,
        until: float | None = None,
        told: Mapping[str, object] | None = None,
    ) -> Answer:
        """Call one function of a step; `of` has the ledger's key and parameters, an act must be sent before `until`.

        `told` is what a part is told beside that.

        An act whose target takes a key twice is never made where it cannot be killed.
        """
        isolated = self.contract.isolated or (part is Part.ACT and not step.deduplicates)
        self.cover(step.timeout_seconds)
        call = Call(
            turn_id=self.admitted.ref.turn_id,
            fence=self.admitted.ref.fence,
            flow=self.contract.name,
            step=step.name,
            part=part,
            task=self.task_name,
            timeout_seconds=step.timeout_seconds,
            input=self.task.input,
            outputs=self.outputs,
            authority=self.task.authority,
            key=of.key if of is not None else "",
            parameters=of.parameters if of is not None else told or {},
            send_before=until,
        )
        answer = self.ports.steps.perform(call, isolated=isolated)
        if isolated:
            self.uncover()
        return answer

    def cover(self, seconds: float) -> None:
        """Let the supervisor renew for as long as the step may take."""
        now = self.boot_seconds()
        if now + seconds > self.covered_until:
            seconds = max(seconds, _COVERED_SECONDS) + _AHEAD_SECONDS
            self.ports.supervisor().begin_step(self.admitted.ref.turn_id, seconds)
            self.covered_until = now + seconds

    def uncover(self) -> None:
        """A program has ended, and with it what was announced: the supervisor gives the gap between two steps."""
        self.covered_until = 0.0

    def recorded(self, step: StepContract) -> Done | None:
        """What an earlier turn recorded of it."""
        found = self.task.steps.get(step.name)
        return Done(found.output, found.ends) if found is not None else None

    def is_open(self, step: StepContract) -> bool:
        """Whether it is an effect that may have happened, and nobody knows."""
        record = self.task.effects.get(step.name)
        return record is not None and record.status in {EffectStatus.INTENDED, EffectStatus.UNKNOWN}

    def between(self, step: StepContract) -> Ending | None:
        """What keeps the next step from beginning; finding out what became of an effect is no beginning."""
        stopping = self.stopping
        if stopping is not None and not self.is_open(step):
            return flow.stopped(stopping)
        if self.worker.turns.is_closed:
            return flow.handed_back(self.now())
        if self.boot_seconds() - self.sent_at >= self.contract.quantum_seconds:
            return flow.yielded(self.now())
        return None

    def fail(self, step: StepContract, kind: str, reason: str) -> int:
        """Record a failed attempt; returns which one it was."""
        attempt = self.task.failures.get(step.name, 0) + 1
        failure = Failure(step.name, attempt, kind, reason)
        patience.persist(lambda: self.ports.store.flows.fail(self.admitted.ref, failure))
        telemetry.step_failed(self.admitted.identifier, step=step.name, kind=kind, reason=reason)
        return attempt

    def why(self) -> Ending:
        """What a refused write asks for: a cancel, or the deadline. Raises NotOurs."""
        ref = self.admitted.ref
        renewed = patience.persist(
            lambda: self.ports.store.turns.renew([ref], lease_seconds=self.worker.lease_seconds)
        ).get(ref.turn_id)
        if renewed is None or not renewed.ours:
            raise NotOurs
        return flow.stopped(renewed.cancel or StopReason.EXPIRED)
