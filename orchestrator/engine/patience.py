"""Waits out a silent database: an hour's work must not be lost to a two-minute outage.

Every call made through here may be repeated: it is conditional on a fence, so a second one after an unknown first is
harmless.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import stamina

from orchestrator.ports.store import StoreUnavailable

T = TypeVar("T")

# As long as a frozen agent waits for its fence to be confirmed: after that the turn is given up anyway.
_PATIENCE_SECONDS = 300.0
# A database that restarts is back within seconds; asking more often than this only adds load to its start.
_LONGEST_PAUSE_SECONDS = 5.0


def persist(call: Callable[[], T]) -> T:
    """The call's answer, asked for again while the store is away; raises StoreUnavailable after five minutes."""
    try:
        return call()  # as nearly always: what follows costs more than it does
    except StoreUnavailable:
        return _again(call)


def _again(call: Callable[[], T]) -> T:
    for attempt in stamina.retry_context(
        on=StoreUnavailable, attempts=None, timeout=_PATIENCE_SECONDS, wait_max=_LONGEST_PAUSE_SECONDS
    ):
        with attempt:
            return call()
    raise AssertionError  # pragma: no cover -- stamina returns or raises
