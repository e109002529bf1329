"""The lease's twin in memory, for simulations: the same rules, in one process, on a clock in the hand."""

import threading
from collections.abc import Callable, Sequence
from time import monotonic
from uuid import UUID

from orchestrator.ports.leases import Claim


class MemoryLeases:
    """Leases in a dict; `seconds_now` is the clock that lets them expire."""

    def __init__(self, seconds_now: Callable[[], float] = monotonic) -> None:
        self._seconds_now = seconds_now
        self._held: dict[str, tuple[UUID, int, float]] = {}
        self._lock = threading.Lock()

    def take(self, claims: Sequence[Claim], *, seconds: float) -> Sequence[bool]:
        """Take each unless a turn with its fence or a later one has it."""
        with self._lock:
            return [self._take(claim.key, (claim.turn_id, claim.fence), seconds) for claim in claims]

    def renew(self, key: str, turn_id: UUID, fence: int, *, seconds: float) -> None:
        """Set it again if it is missing, extend it if it is ours, leave it alone otherwise."""
        with self._lock:
            if self._holder(key) in (None, (turn_id, fence)):
                self._held[key] = (turn_id, fence, self._seconds_now() + seconds)

    def release(self, key: str, turn_id: UUID, fence: int) -> None:
        """Delete it if it is still ours."""
        with self._lock:
            if self._holder(key) == (turn_id, fence):
                del self._held[key]

    def flush(self) -> None:
        """Forget everything, as FLUSHALL does."""
        with self._lock:
            self._held.clear()

    def _take(self, key: str, wanted: tuple[UUID, int], seconds: float) -> bool:
        holder = self._holder(key)
        if holder is not None and holder != wanted and holder[1] >= wanted[1]:
            return False
        self._held[key] = (*wanted, self._seconds_now() + seconds)
        return True

    def _holder(self, key: str) -> tuple[UUID, int] | None:
        held = self._held.get(key)
        return held[:2] if held is not None and held[2] > self._seconds_now() else None
