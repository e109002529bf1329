"""Lends connections to threads, a few in all, the one used last first: its statements are prepared.

A general pool resets, checks and counts at each turn, which costs as much as a quarter of our statements. Ours are in
autocommit and short: what came back without an error is as good as new. A thread that waits for one costs less than a
connection that is made anew, so there is no overflow. One that died with its server is not alone: all of them go.
"""

from __future__ import annotations

import contextlib
import os
import threading
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


@dataclass(slots=True)
class Lent:
    """A connection on loan, what was told to it, and when it was made, as processes and deaths of servers go."""

    connection: PatientConnection
    exchange: Exchange
    era: tuple[int, int]
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
    _free: threading.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        """Nothing is connected yet."""
        self._free = threading.Semaphore(self.most)

    def take(self) -> Lent:
        """A connection of this process. Raises StoreUnavailable when all are busy, and what connecting raises."""
        if not self._free.acquire(timeout=self.patience_seconds):
            raise StoreUnavailable("every connection is busy")
        try:
            return self._found() or self._made()
        except BaseException:
            self._free.release()
            raise

    def give_back(self, lent: Lent) -> None:
        """Once for each that was taken: what was begun on it and not committed is rolled back."""
        try:
            if lent.era == self._era() and (lent.is_clean() or _rolled_back(lent.exchange)):
                self._idle.append(lent)
            else:
                _leave(lent)
        finally:
            self._free.release()

    def drop(self, lent: Lent) -> None:
        """This one is not to be lent again: what it will say next is unknown."""
        lent.connection.close()

    def forget_all(self) -> None:
        """Lend none of those that there are now; those on loan are closed when they come back."""
        self._deaths += 1
        while self._idle:
            with contextlib.suppress(IndexError):  # another thread took the last
                _leave(self._idle.pop())

    def _found(self) -> Lent | None:
        while True:
            try:
                lent = self._idle.pop()
            except IndexError:
                return None
            if lent.era == self._era():
                return lent
            _leave(lent)

    def _made(self) -> Lent:
        era = self._era()
        connection = self.connect()
        return Lent(connection, Exchange(connection), era)

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
