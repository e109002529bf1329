"""A card as somebody saw it, and whether a later look can be trusted to show it at a later time.

A tracker may answer from a copy that lags: what it shows was true once. Only its own stamps tell which of two looks is
the later one, and they are coarse (a minute in a file) and may be set by hand: so a doubt asks for another look, and is
never a proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from orchestrator.domain.contract import fold
from orchestrator.domain.item import Item


class Age(Enum):
    """How a look stands to an earlier sighting of the same card."""

    LATER = "later"  # its stamp is later, or nothing that counts has changed: it is believed
    UNSURE = "unsure"  # the card stands elsewhere, and no stamp tells which of the two came first
    EARLIER = "earlier"  # its stamp is older: the card as it was before


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where a card stood, and the tracker's stamp of its last change (None: the tracker has none)."""

    state: str
    updated_at: datetime | None = None

    @staticmethod
    def of(item: Item) -> Sighting:
        """What is remembered of a look."""
        return Sighting(item.state, item.updated_at)

    def then(self, look: Item | None) -> Sighting:
        """What is known once `look` was taken: that, unless it failed or may be of an earlier time."""
        return Sighting.of(look) if look is not None and self.age(look) is Age.LATER else self

    def age(self, look: Item) -> Age:
        """Whether `look`, asked for after this sighting, also shows the card after it."""
        if self.updated_at is not None and look.updated_at is not None and self.updated_at != look.updated_at:
            return Age.LATER if self.updated_at < look.updated_at else Age.EARLIER
        return Age.LATER if fold(self.state) == fold(look.state) else Age.UNSURE
