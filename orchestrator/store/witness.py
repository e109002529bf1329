"""What this process saw of the database last, kept outside of it: a copy that is put in its place cannot know that.

The mark grows with each ring and was committed when it was seen. It lives in memory and, for the next process, in a
small file of the state folder. It bears the installation's id, so that another database is not taken for an old one.
"""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mark:
    """What a ring left in the database: of which installation, and a moment that only grows."""

    installation: str
    at: datetime


class Witness:
    """One process's memory of the database."""

    def __init__(self, file: Path | None = None) -> None:
        """`file` is where an earlier process left its mark, and this one leaves its own; None: memory alone."""
        self._file = file
        self._lock = threading.Lock()
        self._mark = _read(file) if file is not None else None

    @property
    def mark(self) -> Mark | None:
        """What was seen last, None when nothing was."""
        return self._mark

    def saw(self, mark: Mark) -> None:
        """Remember a ring that is committed. A file that cannot be written leaves the memory."""
        with self._lock:
            self._mark = mark
            if self._file is not None:
                with contextlib.suppress(OSError):
                    _write(self._file, mark)


def _read(file: Path) -> Mark | None:
    try:
        installation, at = file.read_text(encoding="ascii").split()
        return Mark(installation, datetime.fromisoformat(at))
    except (OSError, ValueError):
        return None


def _write(file: Path, mark: Mark) -> None:
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_text(f"{mark.installation} {mark.at.isoformat()}\n", encoding="ascii")
    draft.replace(file)
