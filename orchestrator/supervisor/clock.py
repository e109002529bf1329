"""The boot clock: it goes on while the machine sleeps, so an hour of suspend is an hour without a renewal."""

import time
from collections.abc import Callable
from functools import partial

# macOS has no other than the monotonic clock, and that one counts suspend there.
_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


# Seconds since boot, suspend included; the same for all processes of the machine. It is read many times a turn.
boot_seconds: Callable[[], float] = partial(time.clock_gettime, _CLOCK)
