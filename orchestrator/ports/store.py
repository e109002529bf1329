"""The store: what we did and mean to do, in Postgres. One call is one commit; a refusal is a value.

Locks are taken in the order fleet, workflow, item, task, turn. An exception out of a call that writes means *unknown*,
never "not committed": every write can be asked for again, since each is conditional on a version, a fence or a claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Protocol
from uuid import UUID

from orchestrator.domain.hold import Hold, HoldKind
from orchestrator.domain.item import Item
from orchestrator.domain.records import ItemRecord, Records
from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.domain.turn import Conclusion, Counters, StopReason, TurnLimits
from orchestrator.domain.writeback import Write


class StoreUnavailable(Exception):
    """Postgres did not answer in time, or is gone; whether the last write happened is not known."""


@dataclass(frozen=True, slots=True)
class WorkflowRow:
    """A workflow version: `body` as written, `path` where it was read, `problem` what the board lacks for it now."""

    name: str
    version: int
    digest: str
    body: str
    path: str
    scope: str
    problem: str | None = None

    def source(self) -> Path:
        """Where the file was read: relative paths in the body resolve against its folder."""
        return Path(self.path)


@dataclass(frozen=True, slots=True)
class TickGrant:
    """The right to run one tick of a workflow, until `running_until` on the reconciler row passes unextended.

    `listing` says whether the whole board is to be read. `began_at` is the database's clock. `trusted` is False after a
    blind spell (Postgres restarted, or no tick for a lease): nothing is taken over in this tick.
    """

    workflow: str
    run: UUID
    listing: bool
    began_at: datetime
    trusted: bool = True


class ReconcilerStore(Protocol):
    """The rings: one row a workflow, so that any number of beats is one tick."""

    def request(self, workflow: str | None, *, listing: bool) -> None:
        """Ask for a tick of one workflow, or of all; a request is due while it is later than the last begin."""
        ...

    def begin(self, workflow: str | None) -> TickGrant | None:
        """Begin a tick of a due workflow by compare-and-set; None when none is due, or a tick of it still runs."""
        ...

    def peek(self, workflow: str) -> TickGrant:
        """A grant to read with: begins nothing, writes nothing, and gives no right to act."""
        ...

    def extend(self, grant: TickGrant) -> bool:
        """Keep the right for ten more seconds; False when it is lost, and the tick must stop."""
        ...

    def finish(self, grant: TickGrant, report: Mapping[str, object]) -> bool:
        """Give the right back with what was done; True when another tick, of any workflow, is due already."""
        ...


class WorkflowStore(Protocol):
    """The workflows in force; a changed, valid file becomes the next version."""

    def publish(self, row: WorkflowRow, *, interval_ms: int) -> WorkflowRow:
        """Put a file in force as `row.version` + 1 by compare-and-set (0: the first); returns what is in force then."""
        ...

    def current(self, name: str) -> WorkflowRow | None:
        """The version in force."""
        ...

    def all(self) -> tuple[WorkflowRow, ...]:
        """Every workflow in force, by name."""
        ...

    def version(self, name: str, number: int) -> WorkflowRow:
        """A version that a turn was opened with."""
        ...

    def set_problem(self, name: str, problem: str | None) -> bool:
        """Store what the board lacks for the workflow's contract; True when that changed."""
        ...


@dataclass(frozen=True, slots=True)
class Opening:
    """A turn to be opened: the item as re-read, the version that the plan saw (0: no row), the turn's id."""

    item: Item
    seen_version: int
    turn_id: UUID
    workflow: WorkflowRow
    max_concurrent: int
    max_in_state: int | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """The turn is queued with this fence; `ordinal` is its number on the item, for people."""

    turn_id: UUID
    fence: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The turn was not opened; the reason is stored, and the next tick decides."""

    reason: NotDispatched


class ItemStore(Protocol):
    """What the tick reads and does. Every action on a record is conditional on the version that it carries."""

    def records(self, grant: TickGrant) -> Records:
        """Our side of a workflow, in one REPEATABLE READ snapshot, versions included."""
        ...

    def due_ids(self, records: Records, now: datetime) -> tuple[str, ...]:
        """The ids of items that something is due for without a listing: a retry, an expired lease, a stale message."""
        ...

    def open_turn(self, opening: Opening) -> Opened | Refused:
        """Open an item's next turn `queued` with the next fence: cap, version, holds, task, turn in one transaction."""
        ...

    def mark_enqueued(self, turn_id: UUID) -> None:
        """Remember that the turn's message was given to the broker just now."""
        ...

    def cancel(self, record: ItemRecord, stop: StopReason, *, workflow: str) -> bool:
        """End a queued turn with its task; set the cancel flag of a running one. Withdraws the item's unsent moves."""
        ...

    def lose(self, record: ItemRecord, limits: TurnLimits, *, workflow: str) -> bool:
        """Conclude a running turn whose lease ran out: tried again, held, or cancelled if it was flagged."""
        ...

    def end_task(self, record: ItemRecord, stop: StopReason, *, workflow: str) -> bool:
        """Cancel a task without an open turn. Withdraws the item's unsent moves."""
        ...

    def lift_holds(self, record: ItemRecord, reason: str) -> bool:
        """End the holds of an item because of what a person did on the board; makes its open task due."""
        ...

    def note_absence(self, record: ItemRecord, times: int) -> None:
        """Remember in how many separate reads in a row the item was missing. Bumps no version."""
        ...

    def refresh(self, record: ItemRecord, state: str) -> None:
        """Remember where the board shows the item of an open turn. Bumps no version."""
        ...

    def hold_workflow(self, workflow: str, hold: Hold | None, kind: HoldKind) -> None:
        """Place the hold of `kind` on a workflow, once; None lifts it."""
        ...

    def save_waits(
        self,
        workflow: str,
        waits: Mapping[str, Wait],
        *,
        identifiers: Mapping[str, str],
        whole: bool,
        known: Mapping[str, str],
    ) -> int:
        """Store one reason per candidate left out, changes only against `known`.

        With `whole`, items that are not named have none any more.

        Returns how many rows were written: an unchanged board writes nothing.
        """
        ...


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

    `ordinal` counts the item's turns. `admitted_at` is the database's clock at admission: with the boot clock's reading
    then, it tells the database's time during the turn without asking, whatever the worker's wall clock shows.
    """

    ref: TurnRef
    item_key: int
    item_id: str
    identifier: str
    state: str
    ordinal: int
    counters: Counters
    session: str | None
    retry_kind: str | None
    workflow: WorkflowRow
    admitted_at: datetime
    deadline_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a renewal found of a turn: still ours for a lease from its sending, or not; and its cancel flag."""

    ours: bool
    cancel: StopReason | None = None


@dataclass(frozen=True, slots=True)
class StepRecord:
    """The durable record after a step: its number in the turn, its name, its output (JSON)."""

    ordinal: int
    name: str
    output: Mapping[str, object] = field(default_factory=dict)


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

    def record_transcript(self, ref: TurnRef, transcript: str) -> None:
        """Record where everything that the agent says is kept: a fact."""
        ...

    def conclude(
        self, ref: TurnRef, conclusion: Conclusion, *, summary: str, writes: Sequence[Write], now_state: str | None
    ) -> bool:
        """End the turn: status, history, holds, outbox, version, cap in one transaction; False: not ours any more."""
        ...

    def renew(self, refs: Sequence[TurnRef], *, lease_seconds: float) -> Mapping[UUID, Renewal]:
        """Extend the leases of a worker's turns in one statement; a turn missing from the answer was locked."""
        ...

    def lose(self, refs: Sequence[TurnRef], death: str) -> int:
        """Conclude turns as lost by their supervisor's word, and ask for a tick; returns how many there were."""
        ...

    def orphans(self, host: str, boot_id: str) -> Mapping[UUID, tuple[TurnRef, int]]:
        """The running turns of this host with the pid of the worker that admitted each."""
        ...


class Settlement(Enum):
    """What became of a claimed write."""

    SENT = "sent"  # it is on the card
    SUPPRESSED = "suppressed"  # a person decided first; never sent
    DEFERRED = "deferred"  # not now; pending again after a pause
    UNKNOWN = "unknown"  # it may have happened; looked up before anything is sent again
    PARKED = "parked"  # it cannot be made; a hold on the item says so


@dataclass(frozen=True, slots=True)
class Claimed:
    """The head row of one item's outbox, claimed. `uncertain`: an earlier claim of it ended without a word.

    `pinned` is the workflow version of the turn that wrote it, `workflow` the one in force. `local_seconds` is how long
    the claim lasts from its sending, for the check right before the write.
    """

    id: int
    token: UUID
    item_key: int
    item_id: str
    identifier: str
    write: Write
    tries: int
    uncertain: bool
    pinned: WorkflowRow
    workflow: WorkflowRow
    local_seconds: float


class OutboxStore(Protocol):
    """Where a write waits: in order for each item, in parallel across items."""

    def claim(self, *, seconds: float) -> Claimed | None:
        """Claim the head row of one item that is due and unclaimed, skipping locked ones; None when there is none."""
        ...

    def settle(self, claimed: Claimed, settlement: Settlement, *, detail: str = "", state: str | None = None,
               pause_seconds: float = 0.0) -> bool:  # fmt: skip
        """Record what became of it by compare-and-set on the claim. `state` is where a move put the card."""
        ...


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker as it tells of itself each second."""

    id: UUID
    host: str
    boot_id: str
    pid: int
    slots: int
    busy: int
    queues: tuple[str, ...]


class WorkerStore(Protocol):
    """The workers' rows: who is there, with how many free turn slots."""

    def beat(self, row: WorkerRow) -> None:
        """Say that the worker is alive."""
        ...

    def leave(self, worker_id: UUID) -> None:
        """Say that it has ended."""
        ...


class Store(Protocol):
    """Everything durable, by room. `installation` is the id that our hidden keys carry."""

    @property
    def installation(self) -> str:
        """This installation's id: short, stable, the same for every process."""
        ...

    @property
    def reconciler(self) -> ReconcilerStore:
        """The rings."""
        ...

    @property
    def workflows(self) -> WorkflowStore:
        """The workflows in force."""
        ...

    @property
    def items(self) -> ItemStore:
        """What the tick reads and does."""
        ...

    @property
    def turns(self) -> TurnStore:
        """What workers write."""
        ...

    @property
    def outbox(self) -> OutboxStore:
        """Where writes wait."""
        ...

    @property
    def workers(self) -> WorkerStore:
        """Who is there."""
        ...
