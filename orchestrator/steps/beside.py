"""Calls in a thread beside the turn's: quick, and no wall. A call that is late is abandoned with its thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from orchestrator.domain.call import Answer

Work = Callable[[], Answer]


class _Hand:
    """A thread that makes one call after another for one turn thread."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Work] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="step", daemon=True).start()

    def make(self, work: Work, seconds: float) -> Answer | None:
        """The call's answer; None when it is late, and this hand is of no use any more."""
        self._calls.put(work)
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            return None

    def _run(self) -> None:
        while True:
            self._answers.put(self._calls.get()())


_hands = threading.local()


def make(work: Work, seconds: float) -> Answer | None:
    """The answer of a call that takes at most so long; None when it takes longer: it goes on, and nobody listens."""
    hand: _Hand | None = getattr(_hands, "own", None)
    if hand is None:
        hand = _hands.own = _Hand()
    answer = hand.make(work, seconds)
    if answer is None:
        _hands.own = None
    return answer
