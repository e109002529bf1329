"""What the kernel tells of processes: descendants, who the supervisor is, who still lives, and memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_KB_PER_MB = 1024


def lives(pid: int) -> bool:
    """Whether a process is there and not a corpse that waits for its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(pid: int) -> list[int]:
    """The children of all threads of a process."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for thread in threads for child in thread.read_text().split()]


def supervisor(worker: int) -> int:
    """The pid of a worker's supervisor; raises StopIteration when it has none."""
    return next(pid for pid in children(worker) if b"supervise" in Path(f"/proc/{pid}/cmdline").read_bytes())


def private_mb(pids: Iterable[int]) -> float:
    """What processes have for themselves, and would give back: a page that another one shares is not counted."""
    return sum(_private_kb(pid) for pid in pids) / _KB_PER_MB


def _private_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
