"""The processes of this machine, as the kernel tells of them through `/proc`.

A pid alone names nobody: it is used again. A process is its pid *and* its start; whoever signals one goes through
`send`, which cannot hit a stranger. Without `/proc` the table is empty, and only process groups can be reached.
"""

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
PR_SET_CHILD_SUBREAPER = 36  # from linux/prctl.h

# The environment variable that marks a turn's processes.
MARKER_VARIABLE = "STATIONKEEPER_RUN"
_MARKER_ENTRY = f"{MARKER_VARIABLE}=".encode()


@dataclass(frozen=True, slots=True)
class Identity:
    """One process, once and for all: its pid and its start in clock ticks after boot."""

    pid: int
    start: int


@dataclass(frozen=True, slots=True)
class Process:
    """A process at the moment of a look. `state` is the kernel's letter: T stopped, Z ended but not yet reaped."""

    identity: Identity
    parent: int
    session: int
    state: str
    threads: int
    marker: str

    @property
    def is_alive(self) -> bool:
        """Whether it can still do anything; one whose first thread ended and whose others run shows as Z."""
        return self.state not in "ZX" or self.threads > 1


Table = Mapping[int, Process]


def boot_id() -> str:
    """This boot of this host: the kernel's id, and the start of pid 1, by which a container's restart is one too."""
    with contextlib.suppress(OSError):
        kernel = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        init = look(1)
        return f"{kernel}.{init.identity.start if init else 0}"
    return "unknown"  # the same for ever: without `/proc` a new boot is never taken for a death


def table() -> Table:
    """Every process of the machine, by pid."""
    if not PROC.is_dir():
        return {}
    looks = (look(int(name)) for name in os.listdir(PROC) if name.isdecimal())  # noqa: PTH208 - a Path each is slow
    return {process.identity.pid: process for process in looks if process}


def look(pid: int) -> Process | None:
    """One process; None when there is none. Its marker is empty where its environment is not ours to read."""
    try:
        stat = _read(f"/proc/{pid}/stat").decode(errors="replace")
    except OSError:
        return None
    state, parent, _group, session, *rest = stat.rpartition(")")[2].split()
    threads, start = int(rest[13]), int(rest[15])
    return Process(Identity(pid, start), int(parent), int(session), state, threads, _marker(pid))


def is_alive(identity: Identity, among: Table) -> bool:
    """Whether this very process still runs."""
    found = among.get(identity.pid)
    return found is not None and found.identity == identity and found.is_alive


def descendants(of: Iterable[Identity], among: Table) -> set[Identity]:
    """`of` and all that descend from them, the living only."""
    family = {identity.pid for identity in of if is_alive(identity, among)}
    while more := {pid for pid, process in among.items() if process.parent in family and process.is_alive} - family:
        family |= more
    return {among[pid].identity for pid in family}


def send(identity: Identity, signum: int) -> bool:
    """Signal this very process; False when it is gone. A process that was given its pid since is never hit."""
    try:
        handle = os.pidfd_open(identity.pid)
    except OSError:
        return False
    try:
        found = look(identity.pid)  # after the handle is held: from here on it cannot come to mean another process
        if found is None or found.identity != identity:
            return False
        signal.pidfd_send_signal(handle, signum)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def become_subreaper() -> None:
    """Make every orphan among our descendants our child, so that none gets out of sight."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _marker(pid: int) -> str:
    try:
        environment = _read(f"/proc/{pid}/environ")
    except OSError:
        return ""
    for entry in environment.split(b"\0"):
        if entry.startswith(_MARKER_ENTRY):
            return entry[len(_MARKER_ENTRY) :].decode(errors="replace")
    return ""


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - read for every process of the machine, many times
        return file.readall()
