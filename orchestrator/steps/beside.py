"""Calls in a thread beside the turn's: quick, and no wall. A call that is late is abandoned with its thread.

A whole turn can walk on such a thread, so that each of its calls costs no change of threads: the turn's own thread
watches, and when a call is late it abandons the walk and begins it anew, with the late call's answer.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
import queue
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from orchestrator.domain.call import Answer, Late

T = TypeVar("T")
Work = Callable[[], object]
Walk = Callable[[Late | None], T]


class Abandoned(BaseException):
    """Whoever watches has gone on without this thread: it is to say and do nothing more."""


class _Raised:
    """What a walk raised instead of returning."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Hand:
    """A thread that does one thing after another for one turn thread."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Work] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[object] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="step", daemon=True).start()

    def take(self, work: Work) -> None:
        """Begin this."""
        self._work.put(work)

    def answer(self, seconds: float) -> object:
        """What it returned, or `_Raised`. Raises queue.Empty when it takes longer."""
        return self._done.get(timeout=seconds)

    def _run(self) -> None:
        with contextlib.suppress(Abandoned):
            while True:
                self._done.put(self._work.get()())


class _Watch:
    """The call that a walk makes right now, if it makes one, and until when it may take."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._call: tuple[float, Callable[[], Late]] | None = None
        self._is_abandoned = False

    def call(self, work: Callable[[], Answer], seconds: float, late: Callable[[], Late]) -> Answer:
        """Make it. Raises Abandoned when it took too long, and somebody has said so."""
        self._call = (time.monotonic() + seconds, late)
        answer = work()
        with self._lock:
            self._call = None
            if self._is_abandoned:
                raise Abandoned
        return answer

    def left(self) -> float:
        """How long the call may still take, seconds; without end when there is none."""
        call = self._call
        return call[0] - time.monotonic() if call is not None else math.inf

    def abandon(self) -> Late | None:
        """Go on without the walk, if it is in a call that is late."""
        with self._lock:
            if self._call is None or self.left() > 0:
                return None
            self._is_abandoned = True
            return self._call[1]()


class _Own(threading.local):
    """A turn thread has a hand, a hand's thread has a watch."""

    hand: _Hand | None = None
    watch: _Watch | None = None


_own = _Own()


def watched(walk: Walk[T], shortest_seconds: float) -> T:
    """What the walk returns or raises. No call in it may be given less than `shortest_seconds`.

    A walk that is in a call too long is abandoned, and begun anew with what is to be said of the late call.
    """
    late: Late | None = None
    while True:
        watch, hand = _Watch(), _hand()
        hand.take(_walking(walk, late, watch))
        late, done = _await(hand, watch, shortest_seconds)
        if late is None:
            if isinstance(done, _Raised):
                raise done.error
            return done  # type: ignore[return-value] # what the walk returned
        _own.hand = None


def here(work: Callable[[], Answer], seconds: float, late: Callable[[], Late]) -> Answer:
    """The answer of a call, made here and now in a walk that is watched: if it is late, this never returns."""
    return _own.watch.call(work, seconds, late) if _own.watch is not None else elsewhere(work, seconds, late)


def elsewhere(work: Callable[[], Answer], seconds: float, late: Callable[[], Late]) -> Answer:
    """The answer of a call that takes at most so long. One that takes longer goes on, and nobody listens."""
    hand = _hand()
    hand.take(work)
    try:
        return hand.answer(seconds)  # type: ignore[return-value] # what the work returned
    except queue.Empty:
        _own.hand = None
        return late().answer


def _hand() -> _Hand:
    if _own.hand is None:
        _own.hand = _Hand()
    return _own.hand


def _walking(walk: Walk[T], late: Late | None, watch: _Watch) -> Work:
    """The walk as a hand does it: with the turn's context, and its watch to be found by the calls."""
    context = contextvars.copy_context()

    def work() -> object:
        _own.watch = watch
        try:
            return context.run(walk, late)
        except Abandoned:
            raise
        except BaseException as error:  # noqa: BLE001 -- it is raised where the turn is
            return _Raised(error)
        finally:
            _own.watch = None

    return work


def _await(hand: _Hand, watch: _Watch, shortest_seconds: float) -> tuple[Late | None, object]:
    """What came of a walk, or the call in which it was abandoned.

    A call that begins while we sleep may take `shortest_seconds` at least: we are awake before it is late.
    """
    while True:
        try:
            return None, hand.answer(max(min(watch.left(), shortest_seconds), 0.0))
        except queue.Empty:
            late = watch.abandon()
            if late is not None:
                return late, None
