"""The boot clock: it goes on while the machine sleeps, so an hour of suspend is an hour without a renewal."""

import time

# macOS has no other than the monotonic clock, and that one counts suspend there.
_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def boot_seconds() -> float:
    """Seconds since boot, suspend included; the same for all processes of the machine."""
    return time.clock_gettime(_CLOCK)
