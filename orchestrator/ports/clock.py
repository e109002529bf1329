"""The local clock. Leases and deadlines are the database's; this one is for pauses of ours and for local deadlines."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Time as this process sees it."""

    def now(self) -> datetime:
        """The wall clock, aware, UTC; for what people read, never for a lease."""
        ...

    def boot_seconds(self) -> float:
        """The boot clock, which goes on in suspend; for local deadlines."""
        ...
