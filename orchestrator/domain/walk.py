"""The slow look at a board whose whole listing would cost: what it has reached, and what it and a listing leave alone.

Pure. A round goes from the board's beginning to its end, a stretch with each listing; it starts nothing and stops
nothing. What a listing shows of a card is never overruled by it: both are of one tick, and the listing decides.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from orchestrator.domain.records import Board, Records
from orchestrator.domain.select import NotDispatched

# Cards that left the listed columns since the last look are read by id, so many in one tick: a person who moves more
# of them in half a minute waits a tick longer for the rest.
MAX_LEFT = 250

# The reasons of cards that no listing shows: a listing that does not show them says nothing about them.
_ELSEWHERE = (NotDispatched.NOT_ACTIVE.value, NotDispatched.MALFORMED.value)


@dataclass(frozen=True, slots=True)
class Walk:
    """How far a workflow has come on the board `scope`.

    `began_at` is when the round under way began (None: none is), `behind` the adapter's word for where its next stretch
    begins, `whole_at` when the last round began that came to its end: what the board bore then was seen.
    """

    scope: str = ""
    began_at: datetime | None = None
    behind: str | None = None
    whole_at: datetime | None = None

    def is_due(self, now: datetime, interval_ms: int) -> bool:
        """Whether to go on with a round, or to begin one."""
        if self.began_at is not None or self.whole_at is None:
            return True
        return (now - self.whole_at).total_seconds() * 1000 >= interval_ms

    def gone_on(self, now: datetime, behind: str | None) -> Walk:
        """After a stretch, with what the next one begins behind; None: that was the last."""
        began_at = self.began_at or now
        if behind is None:
            return Walk(self.scope, whole_at=began_at)
        return Walk(self.scope, began_at, behind, self.whole_at)

    def as_row(self) -> dict[str, str | None]:
        """As it is kept on the reconciler row."""
        times = {"began_at": self.began_at, "whole_at": self.whole_at}
        told = {name: at.isoformat() if at is not None else None for name, at in times.items()}
        return {"scope": self.scope, "behind": self.behind, **told}


def of_row(row: Mapping[str, str | None] | None) -> Walk:
    """What was kept."""
    if row is None:
        return Walk()
    began_at, whole_at = (datetime.fromisoformat(at) if at else None for at in (row["began_at"], row["whole_at"]))
    return Walk(row["scope"] or "", began_at, row["behind"], whole_at)


def kept(records: Records, board: Board) -> frozenset[str]:
    """The cards whose stored reason a listing of some columns leaves as it is."""
    shown = {*board.items, *board.gone, *(bad.id for bad in board.malformed)}
    return frozenset(
        item_id for item_id, text in records.waits.items() if item_id not in shown and text.startswith(_ELSEWHERE)
    )


def left(records: Records, board: Board, kept_ids: Collection[str]) -> tuple[str, ...]:
    """The cards that stood in a listed column when we looked last, as far as we know, and do not now."""
    seen = {*records.waits, *records.items} - board.items.keys() - board.gone - set(kept_ids)
    return tuple(sorted(seen - {bad.id for bad in board.malformed}))
