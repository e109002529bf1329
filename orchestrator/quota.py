"""When a server may be asked again, as it says itself: nothing is sent before, whoever in this process asks.

Three signs are read, on answers that went well too: `Retry-After`, an `X-RateLimit-Remaining` of 0 with its
`X-RateLimit-Reset` (GitHub gives a time, Roundup and others seconds from now), and a refusal (429) that says neither.
"""

from __future__ import annotations

import email.utils
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

# What GitHub asks for after a refusal that names no delay.
UNSAID_SECONDS = 60.0
# Windows are an hour at the most (GitHub's); more than a day is a slip that must not park a board for years.
_LONGEST_SECONDS = 86_400.0
# A reset above this is a time since 1970 and no number of seconds from now.
_A_TIME = 1_000_000_000.0
_REFUSED = 429


@dataclass(slots=True)
class Quota:
    """What one server allows one account of ours; threads may share it."""

    monotonic: Callable[[], float]
    _closed_until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def seconds_left(self) -> float:
        """How long nothing may be sent; 0 when it may."""
        return max(0.0, self._closed_until - self.monotonic())

    def learn(self, status: int, headers: Mapping[str, str]) -> None:
        """Heed what an answer said; a later word never shortens an earlier one."""
        wait = self._asked(headers)
        if wait is None and status == _REFUSED:
            wait = UNSAID_SECONDS
        if wait:
            with self._lock:
                self._closed_until = max(self._closed_until, self.monotonic() + min(wait, _LONGEST_SECONDS))

    def _asked(self, headers: Mapping[str, str]) -> float | None:
        wait = retry_after(headers.get("Retry-After"))
        if wait is not None or _number(headers.get("X-RateLimit-Remaining")) != 0:
            return wait
        reset = _number(headers.get("X-RateLimit-Reset"))
        if reset is not None and reset > _A_TIME:
            return max(0.0, reset - datetime.now(UTC).timestamp())
        return reset


def retry_after(value: str | None) -> float | None:
    """Seconds from now: a number, or a date; None for neither."""
    if value is None:
        return None
    number = _number(value)
    if number is not None:
        return min(number, _LONGEST_SECONDS)
    try:
        at = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    seconds = ((at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
    return min(max(0.0, seconds), _LONGEST_SECONDS)


def _number(value: str | None) -> float | None:
    try:
        number = None if value is None else float(value)
    except ValueError:
        return None
    return max(0.0, number) if number is not None and math.isfinite(number) else None
