"""Tells whether somebody touched the board, by the stamps of its files; what this process wrote is not somebody.

A look costs a `stat` a card (20 ms for 5,000): no program of the kernel's to set up, and right on every file system.
"""

from __future__ import annotations

import threading
from pathlib import Path

from orchestrator.trackers.backlog.folder import Folder, Shelf, Stamp


class Watch:
    """The stamps of one board as they were at the last look. Threads may share it."""

    def __init__(self, folder: Folder, config: Path | None) -> None:
        """`config` is the file that names the columns, where there is one: it counts as a card."""
        self._folder = folder
        self._config = config
        self._seen: dict[str, Stamp] | None = None
        self._ours: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def writes(self, path: str, data: bytes) -> None:
        """Say it before the write, so that no look comes in between. Of a write that fails it does no harm."""
        with self._lock:
            self._ours[path] = data

    def disturbed(self) -> bool:
        """Whether a card came, went or changed since the last look, other than to the bytes that we put there."""
        with self._lock:
            stamps = {file.path: file.stamp for file in self._folder.files((Shelf.TASKS, Shelf.COMPLETED), prefix=None)}
            if self._config is not None:
                stamps[str(self._config)] = _stamp(self._config)
            before, self._seen = self._seen, stamps
            if before is None:
                return False
            changed = {path for path, _ in before.items() ^ stamps.items()}
            by_others = [path for path in changed if not self._is_ours(path)]
            return bool(by_others)

    def _is_ours(self, path: str) -> bool:
        written = self._ours.pop(path, None)
        try:
            return written is not None and Path(path).read_bytes() == written
        except OSError:
            return False


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_size, status.st_ino)
