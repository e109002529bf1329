"""What workers and supervisors write; decisions are fenced, facts are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from orchestrator.domain.push import Branch, Intended, Settled
from orchestrator.domain.sighting import Sighting
from orchestrator.domain.turn import Conclusion, Counters, StopReason
from orchestrator.domain.writeback import Write
from orchestrator.ports.store.workflows import WorkflowRow
from orchestrator.ports.store.workspaces import Made


@dataclass(frozen=True, slots=True)
class Owner:
    """Who runs a turn: host, kernel boot id with the start of pid 1, the worker's pid and start, a random run token."""

    host: str
    boot_id: str
    pid: int
    worker_id: UUID
    token: UUID


@dataclass(frozen=True, slots=True)
class TurnRef:
    """What every fenced write names: the turn, its fence, and the run token of its admission."""

    turn_id: UUID
    fence: int
    token: UUID


@dataclass(frozen=True, slots=True)
class Admitted:
    """A turn that is ours to run, and everything stored that it starts from.

    `sighting` is the card as the turn was opened for it, `ordinal` counts the item's turns. `admitted_at` is the
    database's clock at admission: with the boot clock's reading then, it tells the database's time during the turn
    without asking, whatever the worker's wall clock shows. `home` is
    the host on which the item was worked on last, None for none or any; `branch` is what we know of its pushed branch.
    """

    ref: TurnRef
    item_key: int
    item_id: str
    identifier: str
    sighting: Sighting
    ordinal: int
    counters: Counters
    session: str | None
    retry_kind: str | None
    workflow: WorkflowRow
    admitted_at: datetime
    deadline_at: datetime | None = None
    home: str | None = None
    branch: Branch = field(default_factory=Branch)


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a renewal found of a turn: still ours for a lease from its sending, or not; and its cancel flag."""

    ours: bool
    cancel: StopReason | None = None


@dataclass(frozen=True, slots=True)
class StepRecord:
    """The durable record after a step: its number in the turn, its name, its output (JSON).

    `transcript` names the file in which everything is kept that an agent says after this step, `made` is the workspace
    that it prepared: that one is a fact, recorded also when the step is refused. A step with writes makes none.
    `push` is what is about to be pushed, or was: it is recorded with the step, or not at all.
    """

    ordinal: int
    name: str
    output: Mapping[str, object] = field(default_factory=dict)
    transcript: str | None = None
    made: Made | None = None
    push: Intended | Settled | None = None


class TurnStore(Protocol):
    """What workers and supervisors write. Decisions need turn, fence, token and `running`; facts need nothing."""

    def admit(self, turn_id: UUID, fence: int, owner: Owner, *, lease_seconds: float) -> Admitted | None:
        """Start a queued turn in one statement; None when it is not queued with this fence, cancelled or held."""
        ...

    def checkpoint(self, ref: TurnRef, step: StepRecord, *, writes: Sequence[Write] = (), lease_seconds: float) -> bool:
        """Record a step, its outbox rows and a longer lease in one statement; False: not ours, or to stop."""
        ...

    def record_usage(self, ref: TurnRef, usage: Mapping[str, object]) -> None:
        """Record what the agent spent: a fact, taken from whoever brings it, moving no status."""
        ...

    def record_session(self, ref: TurnRef, session: str) -> None:
        """Record the agent's session, by which its next turn goes on: a fact."""
        ...

    def record_step(self, ref: TurnRef, step: StepRecord) -> None:
        """Record what happened beside the steps, such as a hook's end: a fact, also after a cancel."""
        ...

    def first_step(self, ref: TurnRef, name: str) -> Mapping[str, object] | None:
        """What the step of that name recorded in the first turn of this turn's task that has one."""
        ...

    def conclude(self, ref: TurnRef, conclusion: Conclusion, *, summary: str, writes: Sequence[Write]) -> bool:
        """End the turn: status, history, holds, outbox, version, cap in one transaction; False: not ours any more."""
        ...

    def renew(self, refs: Sequence[TurnRef], *, lease_seconds: float) -> Mapping[UUID, Renewal]:
        """Extend the leases of a worker's turns in one statement; a turn missing from the answer was locked."""
        ...

    def lost_among(self, refs: Sequence[TurnRef]) -> frozenset[UUID]:
        """Which of these turns are not ours any more; extends nothing, so it may be asked for a silent worker."""
        ...

    def lose(self, refs: Sequence[TurnRef], death: str) -> int:
        """Conclude turns as lost by their supervisor's word, and ask for a tick; returns how many there were."""
        ...

    def orphans(self, host: str, boot_id: str) -> Mapping[UUID, tuple[TurnRef, int]]:
        """The running turns of this host with the pid of the worker that admitted each."""
        ...
