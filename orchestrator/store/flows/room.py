"""The room of flow tasks: what fits `ports.store.FlowStore`."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from uuid import UUID

from orchestrator.domain.effect import EffectStatus
from orchestrator.domain.flow import Ending
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import StopReason, TurnLimits
from orchestrator.ports.store import (
    Asked,
    Asking,
    Failure,
    FlowStep,
    FlowTask,
    Intent,
    Kept,
    NewTask,
    Offer,
    Recorded,
    Started,
    TurnRef,
)
from orchestrator.store import records
from orchestrator.store.combining import Combiner
from orchestrator.store.database import Database
from orchestrator.store.flows import asking as questions
from orchestrator.store.flows import concluding, ledger, pruning, recording, starting, ticking
from orchestrator.store.flows.concluding import Concluded
from orchestrator.store.flows.recording import Checkpoint


class FlowTasks:
    """Ticks and people on the slow pool, turns on the hot one."""

    def __init__(self, slow: Database, hot: Database, *, requeue_seconds: float, max_turns: int | None) -> None:
        self._slow, self._hot = slow, hot
        self._requeue_seconds, self._max_turns = requeue_seconds, max_turns
        self._loads: Combiner[TurnRef, FlowTask | None] = Combiner(
            functools.partial(recording.load, hot),
            functools.partial(recording.load_together, hot),
            key=lambda ref: ref.turn_id,
        )
        self._checkpoints: Combiner[Checkpoint, Kept] = Combiner(
            functools.partial(recording.checkpoint, hot),
            functools.partial(recording.checkpoint_together, hot),
            key=lambda brought: brought.ref.turn_id,
        )
        self._conclusions: Combiner[Concluded, TaskStatus | None] = Combiner(
            functools.partial(concluding.conclude, hot),
            functools.partial(concluding.conclude_together, hot),
            key=lambda asked: asked.turn_id,
        )

    def start(self, wanted: NewTask) -> Started:
        """Make a task, due at once; or find the one with this key."""
        return starting.start(self._slow, wanted)

    def cancel(self, task_id: UUID, stop: StopReason) -> TaskStatus | None:
        """Stop a task; None when it is over, or there is none."""
        return starting.cancel(self._slow, task_id, stop)

    def decide(self, task_id: UUID, key: str, *, verdict: EffectStatus, word: Mapping[str, object] | str) -> bool:
        """A person's word about an unknown effect."""
        return starting.decide(self._slow, task_id, key, verdict=verdict, word=word)

    def prune(self, *, days: float, at_most: int, workflow: str | None = None) -> int:
        """Delete tasks that are over for so long; returns how many."""
        return pruning.prune(self._slow, days=days, at_most=at_most, workflow=workflow)

    def open_due(self, workflow: str, *, cap: int) -> Sequence[Offer]:
        """Open the turns of due tasks, as far as slots and cap allow, and store why the others wait."""
        free = records.free_slots(self._slow, workflow, max_turns=self._max_turns)
        offers = ticking.open_due(self._slow, workflow, at_most=free, cap=cap) if free > 0 else ()
        ticking.note_waits(self._slow, workflow, cap=cap)
        return offers

    def stale(self, workflow: str) -> Sequence[Offer]:
        """The queued turns whose message was never sent, or is too old."""
        return ticking.stale(self._slow, workflow, requeue_seconds=self._requeue_seconds)

    def lose_silent(self, workflow: str, limits: TurnLimits) -> int:
        """Conclude the running turns whose lease ran out."""
        return ticking.lose_silent(self._slow, workflow, limits)

    def expire(self, workflow: str) -> int:
        """Stop the tasks whose deadline passed."""
        return ticking.expire(self._slow, workflow)

    def load(self, ref: TurnRef) -> FlowTask | None:
        """The task of a turn of ours."""
        return self._loads.ask(ref)

    def checkpoint(self, ref: TurnRef, step: FlowStep, *, lease_seconds: float) -> Kept:
        """Record a step and a longer lease in one statement."""
        return self._checkpoints.ask(Checkpoint(ref, step, lease_seconds))

    def asked(self, task_id: UUID, step: str) -> Asked | None:
        """The question that a step has put."""
        return questions.asked(self._hot, task_id, step)

    def ask(self, ref: TurnRef, asking: Asking) -> Asked | None:
        """Put a question, or find the one that stands."""
        return questions.ask(self._hot, ref, asking)

    def answer(self, task_id: UUID, step: str, *, said: Recorded, by: str) -> bool:
        """Record a person's answer, and wake the task."""
        return questions.answer(self._slow, task_id, step, said=said, by=by)

    def fail(self, ref: TurnRef, failure: Failure) -> None:
        """Record an attempt that failed."""
        recording.fail(self._hot, ref, failure)

    def intend(self, ref: TurnRef, intent: Intent, *, lease_seconds: float) -> bool:
        """Write an effect's intent, the first or the next."""
        return ledger.intend(self._hot, ref, intent, lease_seconds=lease_seconds)

    def committed(self, ref: TurnRef, key: str, *, step: FlowStep, lease_seconds: float) -> Kept:
        """Record that an effect happened."""
        return ledger.committed(self._hot, ref, key, step=step, lease_seconds=lease_seconds)

    def refuse(self, ref: TurnRef, key: str, reason: str) -> bool:
        """Record that the target said no."""
        return ledger.settle(self._hot, ref, key, status=EffectStatus.REFUSED, reason=reason)

    def absent(self, ref: TurnRef, key: str, reason: str) -> bool:
        """Record that an effect did not happen."""
        return ledger.settle(self._hot, ref, key, status=EffectStatus.ABSENT, reason=reason)

    def looked(self, key: str, reason: str) -> None:
        """Record a look-up that found out nothing."""
        ledger.looked(self._hot, key, reason)

    def conclude(self, ref: TurnRef, ending: Ending) -> TaskStatus | None:
        """End the turn in one statement."""
        return self._conclusions.ask(Concluded(ref.turn_id, ending, ref.fence, ref.token))
