"""A clock in the hand: it stands still until somebody moves it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(slots=True)
class HandClock:
    """Wall and boot clock in one; `offset_seconds` is what the database's clock is moved by as well."""

    offset_seconds: float = 0.0

    def now(self) -> datetime:
        """The wall clock, moved by hand on top of the real one, as the database's is."""
        return datetime.now(UTC) + timedelta(seconds=self.offset_seconds)

    def boot_seconds(self) -> float:
        """The boot clock, moved with it."""
        return datetime.now(UTC).timestamp() + self.offset_seconds

    def jump(self, seconds: float) -> None:
        """Move on."""
        self.offset_seconds += seconds
