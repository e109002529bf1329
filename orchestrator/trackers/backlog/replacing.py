"""Putting a file in another's place where two cannot be exchanged in one step: compared, replaced, and read back.

A program that writes in place (as Backlog.md and many editors do) may have opened the old file before it was replaced,
and what it saves goes there, where nobody sees it any more. So the old file is kept across the replacement: under a
second name, which makes it possible to put back the very file that is still being written, or, where the file system
has no second names, open. What it says afterwards must be what was compared, else it goes back.

What stays open: a program that renames a file of its own over the card between our last look at which file stands
there and our own rename. It is overwritten, and nothing is left to tell.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

# A save in place empties a file and fills it: what was read in between is not all of it. As for any half-written card.
SETTLING_SECONDS = 0.05
_LOOKS = 20
# From the finding of a file by its name to its being emptied is a microsecond, or a turn of the scheduler. Of saves
# that were made to meet our write 30 of 40,000 were lost without this pause, by exchange as well; with it 5 of 120,000,
# all of them on a machine with more to do than it can. Each write takes that much longer.
UNDER_WAY_SECONDS = 0.002


@dataclass(frozen=True, slots=True)
class _Old:
    """The file that stood there; `name` is its second name, None where the file system has no such thing."""

    file: FileIO
    name: Path | None

    def text(self) -> bytes:
        """What it says now."""
        self.file.seek(0)
        return self.file.readall()

    def settled_text(self) -> bytes:
        """What it says once two looks agree: what is saved in it later is lost."""
        text = self.text()
        for _ in range(_LOOKS):
            time.sleep(SETTLING_SECONDS)
            before, text = text, self.text()
            if text and text == before:
                break
        return text

    def stands_at(self, path: Path) -> bool:
        """Whether nobody has put another file in its place."""
        return os.path.samestat(path.stat(), os.fstat(self.file.fileno()))


def replaced(path: Path, ours: Path, *, seen: bytes, new: bytes) -> bool:
    """Put `ours`, which says `new`, in the place of what says `seen`; False, and nothing written, where that is not so.

    A death in between leaves `ours`, and the old file under the same name with `-old` behind it.
    """
    try:
        with _kept(path, ours.with_name(f"{ours.name}-old")) as old:
            if old.text() == seen and old.stands_at(path):
                ours.replace(path)
                if is_left_alone(old.text, seen):
                    return True
                _put_back(path, old, ours, new=new)
    except FileNotFoundError:  # moved away or deleted
        pass
    ours.unlink(missing_ok=True)
    return False


def _put_back(path: Path, old: _Old, spare: Path, *, new: bytes) -> None:
    """Let the old file stand there again, unless somebody wrote over ours meanwhile: a person's last word stands."""
    if old.name is None:
        write_like(path, spare, old.settled_text())
    if path.read_bytes() == new:
        (old.name or spare).replace(path)


def is_left_alone(text: Callable[[], bytes], seen: bytes) -> bool:
    """Whether a file that was just taken from its place still says what it said, and so a moment later.

    A program that had found it there by its name, and not emptied it yet, does so in that moment.
    """
    if text() != seen:
        return False
    time.sleep(UNDER_WAY_SECONDS)
    return text() == seen


def write_like(model: Path, path: Path, data: bytes) -> None:
    """Write a file with the mode and owner of `model`, down to the disk: a power cut must not leave half a card."""
    status = model.stat()
    with path.open("wb") as file:
        os.fchmod(file.fileno(), status.st_mode & 0o7777)
        with contextlib.suppress(PermissionError):
            os.fchown(file.fileno(), status.st_uid, status.st_gid)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def _kept(path: Path, name: Path) -> Iterator[_Old]:
    with path.open("rb", buffering=0) as file:
        try:
            name.hardlink_to(path)
        except OSError:
            yield _Old(file, None)
            return
        try:
            yield _Old(file, name)
        finally:
            name.unlink(missing_ok=True)
