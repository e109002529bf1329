"""Flow tasks: what a person starts, what the tick opens, what a turn records. Decisions are fenced, facts are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from orchestrator.domain.effect import EffectRecord, EffectStatus
from orchestrator.domain.flow import Ending
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import StopReason, TurnLimits
from orchestrator.ports.store.turns import TurnRef


@dataclass(frozen=True, slots=True)
class NewTask:
    """What a task is started with. `key` names it once: a second start with the same key finds the first task.

    `workflow` is the row of its flow, `version` the manifest that it is bound to. `authority` is what it may use,
    `card_key` our row of the card that it belongs to.
    """

    workflow: str
    version: int
    key: str
    input: object
    authority: frozenset[str] = frozenset()
    tenant: str = "default"
    actor: str = "a person"
    goal: str = ""
    deadline_seconds: float | None = None
    card_key: int | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """The card that a task belongs to: the workflow of its board, its id there, and its name for people."""

    workflow: str
    item_id: str
    identifier: str


@dataclass(frozen=True, slots=True)
class Started:
    """The task, and whether this start made it."""

    task_id: UUID
    identifier: str
    made: bool


@dataclass(frozen=True, slots=True)
class Offer:
    """A queued turn to be given to the broker, for the workers of one host where `host` names it.

    `label` is what Flower's list shows, say `BACK-12 turn 3 fence 41`.
    """

    turn_id: UUID
    fence: int
    label: str
    host: str | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A step that was recorded: its output, and why the flow ended there, if it did."""

    output: object
    ends: str | None = None


@dataclass(frozen=True, slots=True)
class FlowTask:
    """A task as its turn finds it. `stopping` is why nothing more may begin, `failures` counts attempts by step."""

    task_id: UUID
    status: TaskStatus
    input: object
    authority: frozenset[str]
    stopping: StopReason | None
    now: datetime
    steps: Mapping[str, Recorded] = field(default_factory=dict)
    effects: Mapping[str, EffectRecord] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    card: Card | None = None


@dataclass(frozen=True, slots=True)
class FlowStep:
    """The durable record after a step. A decision counts only while the turn is ours; what a step found is a fact."""

    ordinal: int
    name: str
    output: object
    ends: str | None = None
    is_decision: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a record: `ours`: the turn may go on; `kept`: it is this one that counts, not an earlier one."""

    ours: bool
    kept: bool


@dataclass(frozen=True, slots=True)
class Intent:
    """An effect that is about to be done: its derived key, its exact parameters, and how long the act may take.

    `undone_by` names the step that takes it back once it is committed and its task fails; None: nothing does.
    """

    key: str
    node: str
    parameters: Mapping[str, object]
    act_seconds: float
    safe_seconds: float
    undone_by: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that failed, with the stored reason."""

    step: str
    attempt: int
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Asking:
    """A question that a step has for a person: its words, who is asked, and for how long; None: for ever."""

    ordinal: int
    step: str
    words: str
    owner: str
    expires_seconds: float | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it stands: until when, and whether its answer is recorded."""

    words: str
    until: datetime | None
    is_answered: bool


class FlowStore(Protocol):
    """The room of tasks that have no card."""

    def start(self, wanted: NewTask) -> Started:
        """Make a task, accepted and due at once; or find the one that was made with this key."""
        ...

    def prune(self, *, days: float, at_most: int, workflow: str | None = None) -> int:
        """Delete tasks that are over for so long, of one flow or of all, and forgotten by targets; returns how many."""
        ...

    def open_due(self, workflow: str, *, cap: int) -> Sequence[Offer]:
        """Open the next turn of each task that is due, as far as slots and cap allow; store why the others wait."""
        ...

    def stale(self, workflow: str) -> Sequence[Offer]:
        """The queued turns whose message was never sent, or is too old."""
        ...

    def lose_silent(self, workflow: str, limits: TurnLimits) -> int:
        """Conclude the running turns whose lease ran out; returns how many."""
        ...

    def expire(self, workflow: str) -> int:
        """Stop the tasks whose deadline passed: at once where nothing is open, else once it is settled."""
        ...

    def load(self, ref: TurnRef) -> FlowTask | None:
        """The task of a turn, with everything recorded; None when the turn is not ours any more."""
        ...

    def checkpoint(self, ref: TurnRef, step: FlowStep, *, lease_seconds: float) -> Kept:
        """Record a step and a longer lease in one statement."""
        ...

    def asked(self, task_id: UUID, step: str) -> Asked | None:
        """The question that a step of a task has put; None: it has put none yet."""
        ...

    def ask(self, ref: TurnRef, asking: Asking) -> Asked | None:
        """Put a question, or find the one that stands; None: the turn is not ours any more, or is to stop."""
        ...

    def answer(self, task_id: UUID, step: str, *, said: Recorded, by: str) -> bool:
        """Record a person's answer as the step's output, and wake the task; False: nobody waits for it (any more)."""
        ...

    def fail(self, ref: TurnRef, failure: Failure) -> None:
        """Record an attempt that failed: a fact."""
        ...

    def intend(self, ref: TurnRef, intent: Intent, *, lease_seconds: float) -> bool:
        """Write an effect's intent, or write it again after `absent`; False: it must not be done by this turn."""
        ...

    def committed(self, ref: TurnRef, key: str, *, step: FlowStep, lease_seconds: float) -> Kept:
        """Record that an effect happened, with the target's answer, and its step: facts, whoever brings them."""
        ...

    def refuse(self, ref: TurnRef, key: str, reason: str) -> bool:
        """Record that the target said no. Needs the current fence."""
        ...

    def absent(self, ref: TurnRef, key: str, reason: str) -> bool:
        """Record that an effect did not happen. Needs the current fence, and for a look-up the act's deadline."""
        ...

    def looked(self, key: str, reason: str) -> None:
        """Record a look-up that found out nothing: a fact."""
        ...

    def conclude(self, ref: TurnRef, ending: Ending) -> TaskStatus | None:
        """End the turn in one statement; returns the task's status, None when the turn is not ours any more."""
        ...

    def cancel(self, task_id: UUID, stop: StopReason) -> TaskStatus | None:
        """Stop a task: at once where nothing is open, else once its turn has seen it; None: it is over already."""
        ...

    def decide(self, task_id: UUID, key: str, *, verdict: EffectStatus, word: Mapping[str, object] | str) -> bool:
        """A person's word about an unsettled effect: committed (with the target's answer), absent, or refused."""
        ...
