"""The rings: one row a workflow, so that any number of beats is one tick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from orchestrator.domain.walk import Walk


@dataclass(frozen=True, slots=True)
class TickGrant:
    """The right to run one tick of a workflow, until `running_until` on the reconciler row passes unextended.

    `listing` says whether the whole board is to be read. `began_at` is the database's clock. `trusted` is False after a
    blind spell (Postgres restarted, or no tick for a lease): nothing is taken over in this tick. `binding` is False for
    a grant that was only peeked at: it gives no right to act. `blockers_read_to` is the id of the item up to which the
    ticks before this one have read blockers, `walk` how far they have come with the slow look at the whole board.
    """

    workflow: str
    run: UUID
    listing: bool
    began_at: datetime
    trusted: bool = True
    binding: bool = True
    blockers_read_to: str | None = None
    walk: Walk = field(default_factory=Walk)


class ReconcilerStore(Protocol):
    """The rings: one row a workflow, so that any number of beats is one tick."""

    def request(self, workflow: str | None, *, listing: bool) -> None:
        """Ask for a tick of one workflow, or of all; a request is due while it is later than the last begin."""
        ...

    def hint(self, workflow: str | None) -> bool:
        """Ask for a listing of one workflow, or of all, unless one is asked for already; True where that was new."""
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
        """Give the right back with what was done; True when another tick, of any workflow, is due already.

        What the report says under `blockers_read_to` and `walk` is what the next grant brings; one without it changes
        nothing.
        """
        ...
