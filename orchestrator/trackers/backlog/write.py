"""Putting a task file back: under the program's own lock, and only over the bytes that were read.

The lock keeps out those who ask for it; editors and bulk moves do not. So the new file is *exchanged* with the old
one in one step of the kernel, and what came out must be what was read; else it is put back, and nothing was written.
Where there is no such step, the file is compared, replaced and read back (`replacing`); `Profile` says what stays open.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.trackers.backlog import replacing

# The program takes a lock over at this age, and expects the same of others; it holds one for milliseconds.
STALE_LOCK_SECONDS = 10

_AT_FDCWD = -100
_RENAME_EXCHANGE = _RENAME_SWAP = 2
_NO_SUCH_STEP = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})
_DIGITS = 16


class NoExchange(OSError):
    """This system or file system cannot exchange two files in one step."""


@contextlib.contextmanager
def locked(board: Path, card_id: str) -> Iterator[None]:
    """Hold the program's lock of a card; raises TrackerError (CONFLICT) when somebody else does."""
    lock = board / ".locks" / f"task-{lock_name(card_id)}"
    lock.parent.mkdir(exist_ok=True)
    if not _taken(lock) and not (_removed_if_stale(lock) and _taken(lock)):
        raise TrackerError(
            TrackerFault.CONFLICT, f"{card_id} is being modified by another process (its lock is {lock})"
        )
    mine = lock.stat().st_ino
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if lock.stat().st_ino == mine:  # not when somebody found us too slow and took it over
                lock.rmdir()


def lock_name(card_id: str) -> str:
    """A card's id as the program's lock spells it."""
    return re.sub(r"^\.+", "", re.sub(r"[^a-z0-9._-]+", "-", card_id.strip().lower())) or "unknown"


def replace(path: Path, seen: bytes, new: bytes) -> bool:
    """Put `new` in the place of `seen`; False, and nothing written, when something else stands there. Hold the lock.

    A death in between leaves a `.stationkeeper-…` file, which the next write of the same file clears up.
    """
    path = path.resolve()
    ours = path.with_name(f"{_leftover_stem(path)}{_digest(seen)}-{_digest(new)}")
    try:
        _clear_leftovers(path)
        replacing.write_like(path, ours, new)
        exchange(ours, path)
    except NoExchange:
        return replacing.replaced(path, ours, seen=seen, new=new)
    except FileNotFoundError:  # moved away or deleted
        ours.unlink(missing_ok=True)
        return False
    if not replacing.is_left_alone(ours.read_bytes, seen):
        _put_back(path, ours, new)
        return False
    ours.unlink()
    return True


def can_exchange(board: Path) -> bool:
    """Whether the board's file system exchanges two names in one step; tried on two folders of our own by the locks."""
    try:
        (board / ".locks").mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=board / ".locks", prefix="probe-") as folder:
            one, other = Path(folder, "one"), Path(folder, "other")
            one.mkdir()
            other.mkdir()
            exchange(one, other)
    except OSError:
        return False
    return True


def exchange(one: Path, other: Path) -> None:
    """Let two names change places in one step; raises NoExchange, and OSError as a rename does."""
    system, names = ctypes.CDLL(None, use_errno=True), (os.fsencode(one), os.fsencode(other))
    if hasattr(system, "renameat2"):
        failed = system.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    elif hasattr(system, "renamex_np"):  # macOS
        failed = system.renamex_np(*names, _RENAME_SWAP)
    else:
        raise NoExchange(errno.ENOSYS, "this system has no such step", str(one))
    if not failed:
        return
    number = ctypes.get_errno()
    raise (NoExchange if number in _NO_SUCH_STEP else OSError)(number, os.strerror(number), str(one))


def _put_back(path: Path, ours: Path, new: bytes) -> None:
    exchange(ours, path)
    if ours.read_bytes() != new:  # somebody wrote over ours in the meantime: the last word of a person stands
        exchange(ours, path)
    ours.unlink()


def _clear_leftovers(path: Path) -> None:
    """Finish what a write that died left behind: if it took a person's text out by exchange, that text goes back."""
    stem = _leftover_stem(path)
    # Neither by a pattern nor as paths: of a board of thousands that takes four times as long, at each write.
    names = [name for name in os.listdir(path.parent) if name.startswith(stem)]  # noqa: PTH208
    for leftover in map(path.with_name, names):
        seen, new = leftover.name.removeprefix(stem).split("-")[:2]
        stands, is_second_name = _digest(path.read_bytes()), leftover.samefile(path)
        if not is_second_name and stands != seen and _digest(leftover.read_bytes()) not in {seen, new}:
            if stands == new:
                leftover.replace(path)
            continue  # else it is a text that nobody can place any more: better left lying than lost
        leftover.unlink()


def _leftover_stem(path: Path) -> str:
    return f".stationkeeper-{_digest(path.name.encode())}-"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def _taken(lock: Path) -> bool:
    try:
        lock.mkdir()
    except FileExistsError:
        return False
    return True


def _removed_if_stale(lock: Path) -> bool:
    try:
        if time.time() - lock.stat().st_mtime <= STALE_LOCK_SECONDS:
            return False
        lock.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
