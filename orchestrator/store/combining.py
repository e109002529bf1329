"""Calls of one kind that threads make at the same time share one statement, one round trip and one commit.

Who calls while nobody else does asks alone, at once. Who calls meanwhile waits for that exchange to end, and then one
of those who wait asks for all of them: the busier it is, the more go together. What a statement for many left out (a
row that somebody holds) or refused is asked again by each for itself, and nobody waits for an exchange that takes
longer than it should: nobody pays for another's mistake.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from orchestrator.ports.store import StoreUnavailable
from orchestrator.store.database import RowLocked

Q = TypeVar("Q")
A = TypeVar("A")

# More would wait longer for each other than the round trip that they save.
_MOST = 32
# An exchange that takes longer waits for somebody's lock, or lost its thread; those in line go on beside it.
_PATIENCE_SECONDS = 0.25
# Beyond what any exchange of a hot connection takes.
_LONGEST_SECONDS = 7.0


@dataclass(slots=True, eq=False)
class _Call(Generic[Q, A]):
    """What one thread asks. It sleeps on `bell` until it was asked for, or is to ask for `company`, itself included."""

    wanted: Q
    bell: threading.Lock = field(default_factory=threading.Lock)
    company: Sequence[_Call[Q, A]] = ()
    answer: A | None = None
    stop: StoreUnavailable | None = None

    def __post_init__(self) -> None:
        """Nobody has rung yet."""
        self.bell.acquire()


class Combiner(Generic[Q, A]):
    """One kind of call. `alone` asks for one; `together` for many, and has None for each that it left out.

    Two calls of one `key` never go together. `alone` and `together` raise what the database's calls raise.
    """

    def __init__(
        self,
        alone: Callable[[Q], A],
        together: Callable[[Sequence[Q]], Sequence[A | None]],
        *,
        key: Callable[[Q], Hashable],
    ) -> None:
        self._alone, self._together, self._key = alone, together, key
        self._guard = threading.Lock()
        self._waiting: list[_Call[Q, A]] = []
        self._asking: _Call[Q, A] | None = None
        self._since, self._process = 0.0, 0

    def ask(self, wanted: Q) -> A:
        """The answer to one call. Raises what `alone` raises, and StoreUnavailable where it is unknown."""
        call: _Call[Q, A] = _Call(wanted)
        try:
            if not self._begins(call):
                self._wait(call)
            if call.company:
                self._ask_for(call.company)
            elif self._asking is call:
                return self._alone(wanted)
        finally:
            self._leave(call)
        if call.stop is not None:
            raise StoreUnavailable(str(call.stop)) from call.stop
        return call.answer if call.answer is not None else self._alone(wanted)

    def _begins(self, call: _Call[Q, A]) -> bool:
        """Whether nobody is asking, so that this call does; else it stands in line."""
        with self._guard:
            process = os.getpid()
            if process != self._process:
                self._asking, self._waiting, self._process = None, [], process  # those of our parent
            if self._is_busy():
                self._waiting.append(call)
                return False
            self._asking, self._since = call, time.monotonic()
            return True

    def _wait(self, call: _Call[Q, A]) -> None:
        """Until this call was asked for, or is the one to ask."""
        ends = time.monotonic() + _LONGEST_SECONDS
        while not call.bell.acquire(timeout=_PATIENCE_SECONDS):
            if time.monotonic() > ends:
                raise StoreUnavailable("an exchange for several has no end")
            with self._guard:
                if call in self._waiting and not self._is_busy():
                    self._asking = self._next()

    def _is_busy(self) -> bool:
        return self._asking is not None and time.monotonic() - self._since < _PATIENCE_SECONDS

    def _ask_for(self, calls: Sequence[_Call[Q, A]]) -> None:
        """Each call's answer, or why it is unknown; nothing for one that is to ask alone."""
        try:
            answers = self._together([call.wanted for call in calls])
        except StoreUnavailable as stop:
            if not isinstance(stop, RowLocked):
                _stop(calls, stop)
        except Exception:  # noqa: BLE001 -- nothing was written; who of them was refused finds that out alone
            return
        except BaseException:
            _stop(calls, StoreUnavailable("an exchange for several was interrupted"))
            raise
        else:
            for call, answer in zip(calls, answers, strict=True):
                call.answer = answer

    def _leave(self, call: _Call[Q, A]) -> None:
        """Out of the line; whoever asked lets the next one ask, and wakes those for whom it asked."""
        with self._guard:
            if call in self._waiting:
                self._waiting.remove(call)
            elif self._asking is call:
                self._asking = self._next()
        for other in call.company:
            if other is not call:
                other.bell.release()

    def _next(self) -> _Call[Q, A] | None:
        """The one who waits longest, to ask for everybody who may go with it."""
        together: dict[Hashable, _Call[Q, A]] = {}
        for call in self._waiting:
            if len(together) < _MOST:
                together.setdefault(self._key(call.wanted), call)
        company = tuple(together.values())
        if not company:
            return None
        self._waiting = [call for call in self._waiting if call not in company]
        self._since = time.monotonic()
        first = company[0]
        first.company = company if len(company) > 1 else ()
        first.bell.release()
        return first


def _stop(calls: Sequence[_Call[Q, A]], stop: StoreUnavailable) -> None:
    for call in calls:
        call.stop = stop
