"""The Redis lease of an item: it lets whoever lacks it skip. It never stops a turn and never proves death."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


class LeasesUnavailable(Exception):
    """Redis did not answer in time."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A turn about to be opened wants its item's lease."""

    key: str
    turn_id: UUID
    fence: int


class Leases(Protocol):
    """SET NX PX per item; the value is `turn:fence`. Every method raises LeasesUnavailable."""

    def take(self, claims: Sequence[Claim], *, seconds: float) -> Sequence[bool]:
        """Take leases, in one round trip; whether each was had. True also where the holder's fence is a smaller one.

        The holder of a smaller fence is over: our records, read before, showed no open turn of the item.
        """
        ...

    def renew(self, key: str, turn_id: UUID, fence: int, *, seconds: float) -> None:
        """Set it again if it is missing (FLUSHALL), extend it if it is ours, leave it alone otherwise."""
        ...

    def release(self, key: str, turn_id: UUID, fence: int) -> None:
        """Delete it if it is still ours."""
        ...
