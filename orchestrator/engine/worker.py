"""This worker as the engine sees it: who it is, how many turns it may run, and whether it is being stopped."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

from orchestrator.ports.store import Owner

# A worker's threads: turn slots of our own count, and these for ticks and write-backs, at most two each, so that a
# plain worker on all queues is never full (a full threads pool looks at its queue once a second only).
SPARE_THREADS = 4


def turn_slots(wanted: int, *, threads: int, shared: bool) -> int:
    """How many turns a worker takes at a time: never so many that its ticks and write-backs find no thread.

    `threads` is the pool's size (`-c`), `shared` whether the worker also serves ticks or write-backs. A pool too small
    to spare four keeps one turn: a worker that takes no turn at all would be a riddle.
    """
    spared = SPARE_THREADS if shared else 0
    return max(min(wanted, threads - spared), 1)


# One turn of a worker makes ready at a time. A checkout, or a board that takes its time, holds up the turns behind it
# no longer than this.
STARTING_WIDTH = 1
STARTING_PATIENCE_SECONDS = 3.0
# And none while messages still come in: of a burst all turns are taken first, which is the shortest part of each.
CALM_SECONDS = 0.02


class Slots:
    """So many at a time, without waiting: who finds none goes away, and the next tick or hint comes again."""

    def __init__(self, count: int) -> None:
        """`count` may be 0: a worker that takes no turns."""
        self.count = count
        self.busy = 0
        self._closed = False
        self._lock = threading.Lock()

    @contextmanager
    def slot(self) -> Iterator[bool]:
        """A slot for the length of the block; False when all are taken, or they are closed."""
        free = self._take()
        try:
            yield free
        finally:
            if free:
                self._give_back()

    def open(self, count: int) -> None:
        """Give out so many from now on."""
        self.count = count

    def close(self) -> None:
        """Give out no more: the worker is being stopped, or drained."""
        self._closed = True

    @property
    def offered(self) -> int:
        """How many it gives out in all; none once it is closed, whatever is busy still."""
        return 0 if self._closed else self.count

    @property
    def is_closed(self) -> bool:
        """Whether the worker is being stopped."""
        return self._closed

    def _take(self) -> bool:
        with self._lock:
            free = not self._closed and self.busy < self.count
            self.busy += free
            return free

    def _give_back(self) -> None:
        with self._lock:
            self.busy -= 1


class Lane:
    """So many at a time, in turn; who has waited too long goes in all the same: one that is slow must not stop others.

    Of turns that begin at the same moment each wants the interpreter, the disk and the database at once, and all of
    them together take longer than one after the other.
    """

    def __init__(self, width: int, *, patience_seconds: float, calm_seconds: float = 0.0) -> None:
        """`width` go in without waiting, once nobody has come for `calm_seconds`."""
        self._free = threading.BoundedSemaphore(width)
        self._patience_seconds, self._calm_seconds = patience_seconds, calm_seconds
        self._came_at = -math.inf

    def notice(self) -> None:
        """Somebody comes, who will want to go in."""
        self._came_at = time.monotonic()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Be in the lane for the length of the block."""
        until = time.monotonic() + self._patience_seconds
        had = self._free.acquire(timeout=self._patience_seconds)
        try:
            while (left := min(self._came_at + self._calm_seconds, until) - time.monotonic()) > 0:
                time.sleep(left)
            yield
        finally:
            if had:
                self._free.release()


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a worker process is: its host, the kernel's boot id with the start of pid 1, and its pid."""

    host: str
    boot_id: str
    pid: int
    id: UUID = field(default_factory=uuid4)


def calm_lane() -> Lane:
    """What the turns of a real worker make ready in."""
    return Lane(STARTING_WIDTH, patience_seconds=STARTING_PATIENCE_SECONDS, calm_seconds=CALM_SECONDS)


@dataclass(frozen=True, slots=True)
class Worker:
    """What a turn needs to know of its worker.

    Turn slots are ours, not Celery's: threads are kept for ticks and write-backs.
    `state_dir` is where transcripts and scratch folders go.
    """

    identity: Identity
    turns: Slots
    state_dir: Path
    lease_seconds: float
    starting: Lane = field(default_factory=lambda: Lane(STARTING_WIDTH, patience_seconds=STARTING_PATIENCE_SECONDS))

    def owner(self) -> Owner:
        """Who runs a turn, with a fresh run token for its admission."""
        who = self.identity
        return Owner(who.host, who.boot_id, who.pid, who.id, uuid4())
