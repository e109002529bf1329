"""The Redis lease of an item: it lets whoever lacks it skip. It never stops a turn and never proves death."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID


class LeasesUnavailable(Exception):
    """Redis did not answer in time."""


class Leases(Protocol):
    """SET NX PX per item; the value is `turn:fence`. Every method raises LeasesUnavailable."""

    def take(self, key: str, turn_id: UUID, fence: int, *, seconds: float) -> bool:
        """Take the lease of an item for a turn about to be opened; True also when the holder's fence is below `fence`.

        The holder of a smaller fence is over: our records, read before, showed no open turn of the item.
        """
        ...

    def renew(self, key: str, turn_id: UUID, fence: int, *, seconds: float) -> None:
        """Set it again if it is missing (FLUSHALL), extend it if it is ours, leave it alone otherwise."""
        ...

    def release(self, key: str, turn_id: UUID, fence: int) -> None:
        """Delete it if it is still ours."""
        ...
