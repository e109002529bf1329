"""The clocks of this host, and the names by which host and boot are known.

Deadlines are measured on the boot clock, which goes on while the machine sleeps; the wall clock is for what people
read. Worker and supervisor must agree to the digit on both boot clock and boot id, so the supervisor's are passed on.
"""

from __future__ import annotations

import os
import re
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.supervisor import clock, host


class SystemClock:
    """The real clocks."""

    def now(self) -> datetime:
        """The wall clock, aware, UTC."""
        return datetime.now(UTC)

    # Seconds since boot, suspend included; never set back.
    boot_seconds = staticmethod(clock.boot_seconds)


def boot_id() -> str:
    """What changes when every process of this host is known to be gone: kernel boot id and start of pid 1."""
    return host.boot_id()


HOST_FILE = "host"


def host_name(state_dir: Path, given: str | None = None) -> str:
    """The name under which this host's workers, workspaces and queues are known.

    `given` by the setting, else what the state folder keeps: the machine's name at the first start. So a container that
    is made anew, or a machine that is renamed, is no new host: the work is in the folder's neighbourhood still.
    """
    if given is not None:
        return given
    file = state_dir / HOST_FILE
    if not file.exists():
        _keep(file, _FOREIGN.sub("-", socket.gethostname()).strip("-") or "host")
    return file.read_text(encoding="utf-8").strip()


# What neither a queue nor a row should have to quote.
_FOREIGN = re.compile(r"[^A-Za-z0-9._-]")


def _keep(file: Path, name: str) -> None:
    """Write the name down whole, unless another process of this host was first."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(f".{os.getpid()}")
    draft.write_text(f"{name}\n", encoding="utf-8")
    with suppress(FileExistsError):
        os.link(draft, file)
    draft.unlink()
