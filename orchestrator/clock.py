"""The clocks of this host, and the names by which host and boot are known.

Deadlines are measured on the boot clock, which goes on while the machine sleeps; the wall clock is for what people
read. Worker and supervisor must agree to the digit on both boot clock and boot id, so the supervisor's are passed on.
"""

from __future__ import annotations

import socket
from datetime import UTC, datetime

from orchestrator.supervisor import clock, host


class SystemClock:
    """The real clocks."""

    def now(self) -> datetime:
        """The wall clock, aware, UTC."""
        return datetime.now(UTC)

    def boot_seconds(self) -> float:
        """Seconds since boot, suspend included; never set back."""
        return clock.boot_seconds()


def boot_id() -> str:
    """What changes when every process of this host is known to be gone: kernel boot id and start of pid 1."""
    return host.boot_id()


def host_name() -> str:
    """The name under which this host's workers, workspaces and queues are known."""
    return socket.gethostname()
