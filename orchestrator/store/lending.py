"""Lends connections to threads, a few in all, the one used last first: its statements are prepared.

A general pool resets, checks and counts at each turn, which costs as much as a quarter of our statements. Ours are in
autocommit and short: what came back without an error is as good as new. A thread that waits for one costs less than a
connection that is made anew, so there is no overflow. One that died with its server is not alone: all of them go.

A signal may raise between any two steps here. So nothing is counted up and down: a place is taken as long as somebody
refers to it, and what was lost on its way to or from a caller is a place free again.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import psycopg
from psycopg.pq import TransactionStatus

from orchestrator.ports.store import StoreUnavailable
from orchestrator.store.connections import PatientConnection
from orchestrator.store.exchange import Exchange

# Few: our statements are short, and each connection is a process of the server.
_MOST = 16
# Who waits is woken by what comes back; by this at the latest, where that was lost.
_LOOK_AGAIN_SECONDS = 0.1


class _Place:
    """One of the connections that there may be at a time."""

    __slots__ = ("__weakref__",)


@dataclass(slots=True)
class Lent:
    """A connection on loan, what was told to it, and when it was made, as processes and deaths of servers go."""

    connection: PatientConnection
    exchange: Exchange
    era: tuple[int, int]
    place: _Place
    offset: str | None = None
    recognised: bool = False

    def is_clean(self) -> bool:
        """Whether nothing was begun on it that is not over."""
        return self.connection.pgconn.transaction_status == TransactionStatus.IDLE


@dataclass(slots=True)
class Lender:
    """At most so many connections at a time; `patience_seconds` is how long a thread waits for one."""

    connect: Callable[[], PatientConnection]
    patience_seconds: float
    most: int = _MOST
    _idle: deque[Lent] = field(default_factory=deque)
    _deaths: int = 0
    _taken: set[weakref.ref[_Place]] = field(default_factory=set)
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _bell: queue.SimpleQueue[None] = field(default_factory=queue.SimpleQueue)

    def take(self) -> Lent:
        """A connection of this process. Raises StoreUnavailable when all are busy, and what connecting raises."""
        ends = time.monotonic() + self.patience_seconds
        while (lent := self._found() or self._made()) is None:
            left = ends - time.monotonic()
            if left <= 0:
                raise StoreUnavailable("every connection is busy")
            with contextlib.suppress(queue.Empty):
                self._bell.get(timeout=min(left, _LOOK_AGAIN_SECONDS))
        return lent

    def give_back(self, lent: Lent) -> None:
        """Once for each that was taken: what was begun on it and not committed is rolled back."""
        if lent.era == self._era() and (lent.is_clean() or _rolled_back(lent.exchange)):
            self._idle.append(lent)
        else:
            self._part_with(lent)
        if self._bell.empty():
            self._bell.put(None)

    def drop(self, lent: Lent) -> None:
        """This one is not to be lent again: what it will say next is unknown."""
        lent.connection.close()

    def forget_all(self) -> None:
        """Lend none of those that there are now; those on loan are closed when they come back."""
        self._deaths += 1
        while self._idle:
            with contextlib.suppress(IndexError):  # another thread took the last
                self._part_with(self._idle.pop())

    def _found(self) -> Lent | None:
        while True:
            try:
                lent = self._idle.pop()
            except IndexError:
                return None
            if lent.era == self._era():
                return lent
            self._part_with(lent)

    def _made(self) -> Lent | None:
        """A new one; None where there may be no more."""
        place = _Place()
        with self._guard:
            if len(self._taken) >= self.most:
                return None
            known = weakref.ref(place, self._taken.discard)
            self._taken.add(known)
        era = self._era()
        try:
            connection = self.connect()
        except BaseException:
            self._taken.discard(known)
            raise
        return Lent(connection, Exchange(connection), era, place)

    def _part_with(self, lent: Lent) -> None:
        self._taken.discard(weakref.ref(lent.place))
        _leave(lent)

    def _era(self) -> tuple[int, int]:
        """No connection is used by a child of the process that made it (it would share its socket)."""
        return os.getpid(), self._deaths


def _leave(lent: Lent) -> None:
    """Closed, unless it is our parent's, who goes on with it."""
    if lent.era[0] == os.getpid():
        lent.connection.close()


def _rolled_back(exchange: Exchange) -> bool:
    try:
        exchange.tell("rollback")
    except psycopg.Error:
        return False
    return True
