"""Waiting for a state, never for a time.

A test names what it waits for; when that does not come, the failure says what was seen last.
"""

import threading
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

Seen = TypeVar("Seen")

# Between two looks: short enough to add nothing to a test, long enough to leave the processor to what is waited for.
LOOK_EVERY_SECONDS = 0.02


class NeverCame(AssertionError):
    """What a test waited for did not come in time."""


def until(predicate: Callable[[], Seen], *, timeout_seconds: float = 20, what: str = "") -> Seen:
    """Look until `predicate()` is truthy, and return what it then gave.

    An `AssertionError` of the predicate counts as "not yet": a block of asserts can be waited for. Any other exception
    ends the wait.

    Raises:
        NeverCame: it was not truthy within `timeout_seconds`; the message names `what` and what was seen last.
    """
    ends, pause = monotonic() + timeout_seconds, threading.Event()
    while True:
        seen: object
        try:
            seen = predicate()
        except AssertionError as not_yet:
            seen = not_yet
        else:
            if seen:
                return seen
        if monotonic() > ends:
            name = what or getattr(predicate, "__name__", "the state")
            raise NeverCame(f"{name} did not come within {timeout_seconds:g} s; last seen: {seen!r}")
        pause.wait(LOOK_EVERY_SECONDS)
