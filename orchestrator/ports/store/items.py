"""What the tick reads and does; every action is conditional on the version that its record carries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from orchestrator.domain.hold import Hold, HoldKind
from orchestrator.domain.item import Item
from orchestrator.domain.records import ItemRecord, Records
from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.domain.serving import Mark
from orchestrator.domain.turn import StopReason, TurnLimits
from orchestrator.ports.store.reconciler import TickGrant
from orchestrator.ports.store.workflows import WorkflowRow


@dataclass(frozen=True, slots=True)
class Opening:
    """A turn to be opened: the item as re-read, the version that the plan saw (0: no row), the turn's id.

    `host` is the only one whose workers may admit it, where its work lies there.
    """

    item: Item
    seen_version: int
    turn_id: UUID
    workflow: WorkflowRow
    max_concurrent: int
    max_in_state: int | None = None
    host: str | None = None


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


@dataclass(frozen=True, slots=True)
class Sight:
    """A look at a card that bears marks of other installations; `ours` is our own there, None where it is not yet."""

    workflow: WorkflowRow
    item_id: str
    identifier: str
    state: str
    marks: tuple[Mark, ...]
    ours: Mark | None = None


class ItemStore(Protocol):
    """What the tick reads and does. Every action on a record is conditional on the version that it carries."""

    def records(self, grant: TickGrant) -> Records:
        """Our side of a workflow, in one REPEATABLE READ snapshot, versions included."""
        ...

    def due_ids(self, records: Records, now: datetime) -> tuple[str, ...]:
        """The ids of items that something is due for without a listing: a retry, an expired lease, a stale message."""
        ...

    def open_turns(self, openings: Sequence[Opening]) -> Sequence[Opened | Refused]:
        """Open each item's next turn `queued` with the next fence: cap, version, holds, task, turn; in one commit.

        All are of one workflow. Each has an answer of its own, and a refusal of one is nothing to the others.
        """
        ...

    def give_way(self, sight: Sight) -> Mark | None:
        """Remember the marks; where one is fresh and comes before ours, hold the item, stop its turn and return it."""
        ...

    def mark_enqueued(self, turn_ids: Sequence[UUID]) -> None:
        """Remember that the turns' messages were given to the broker just now."""
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

    def holds_follow(self, record: ItemRecord, state: str) -> bool:
        """A machine moved the held card: its holds stand on it where it is now, as after a move of ours."""
        ...

    def leave_host(self, record: ItemRecord, reason: str | None, *, workflow: str) -> bool:
        """The host of the item's work is gone: end its queued turn; with `reason` hold the item and tell the card."""
        ...

    def rejoin(self, record: ItemRecord, *, workflow: str) -> bool:
        """The host is back: end the hold that named it, and no other; makes the open task due."""
        ...

    def note_absence(self, record: ItemRecord, times: int) -> None:
        """Remember in how many separate reads in a row the item was missing. Bumps no version."""
        ...

    def refresh(self, record: ItemRecord, state: str) -> None:
        """Remember where the board shows the item of an open turn. Bumps no version."""
        ...

    def hold_workflow(
        self, workflow: str, hold: Hold | None, kind: HoldKind, *, seen_at: datetime | None = None
    ) -> None:
        """Place the hold of `kind` on a workflow, once; None lifts it.

        `seen_at` is when the look that says so began: what a person released after it is not placed again.
        """
        ...

    def save_elsewhere(
        self,
        grant: TickGrant,
        waits: Mapping[str, Wait],
        *,
        gone: Collection[str],
        identifiers: Mapping[str, str],
        known: Mapping[str, str],
    ) -> int | None:
        """Store the reasons of cards that no listing showed, changes only; those of `gone` have none any more.

        Returns how many rows were written; None when the right to the tick is lost: another one may have looked since,
        and nothing was written.
        """
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
