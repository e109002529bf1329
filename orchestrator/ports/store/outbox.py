"""Where a write waits: in order for each item, in parallel across items."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol
from uuid import UUID

from orchestrator.domain.serving import Mark
from orchestrator.domain.writeback import Write
from orchestrator.ports.store.workflows import WorkflowRow


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

    A move in it knows what became of its turn's move before it. `seen` is what the card bore right before an earlier
    send of this move, None when none was begun, and `stood` the state in which it stood: who finds the card otherwise
    cannot tell whether the move landed and a person moved on, and leaves it alone.
    `pinned` is the workflow version of the turn that wrote it, `workflow` the one in force. `local_seconds` is how long
    the claim lasts from its sending, for the check right before the write. `detail` is what the last try ended with.
    `mark` is what a status comment says beside its text while the card's business is open.
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
    seen: str | None = None
    detail: str | None = None
    mark: Mark | None = None
    stood: str | None = None


class OutboxStore(Protocol):
    """Where a write waits: in order for each item, in parallel across items."""

    def claim(self, *, seconds: float) -> Claimed | None:
        """Claim the head row of one item that is due and unclaimed, skipping locked ones; None when there is none."""
        ...

    def renew_marks(self) -> int:
        """Have the marks of running turns posted again that are getting old; returns how many."""
        ...

    def begin_move(self, claimed: Claimed, seen: str, *, state: str) -> bool:
        """Remember, right before a move is sent, what the card bears and in which state it stands, for the audit.

        False when another relay has the row.
        """
        ...

    def settle(self, claimed: Claimed, settlement: Settlement, *, detail: str = "", state: str | None = None,
               pause_seconds: float = 0.0) -> bool:  # fmt: skip
        """Record what became of it by compare-and-set on the claim.

        `state` is where a sent move put the card; of a suppressed one where a person had put it, if that is why.
        """
        ...
