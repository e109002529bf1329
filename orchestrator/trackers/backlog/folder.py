"""The files of a board: which card stands where, and what it says, without reading again what has not changed.

A listing trusts a file's stamp (time, size, inode); what is asked for by id is always read anew. A file that cannot
be read is read once more a moment later, as the program writes in place and a reader may meet half a file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.trackers.backlog import card
from orchestrator.trackers.backlog.card import Card, Unreadable

# The program's own writes take less; a file that is still broken after it is broken.
HALF_WRITTEN_SECONDS = 0.05
# A file changed so shortly before it was read may change again without a new time: its stamp proves nothing.
_RACY_NANOSECONDS = 50_000_000

Stamp = tuple[int, int, int]


class Shelf(Enum):
    """A folder of cards, best first: where an id stands in two, the earlier one counts."""

    TASKS = "tasks"
    COMPLETED = "completed"
    DRAFTS = "drafts"
    ARCHIVE = "archive/tasks"
    ARCHIVED_DRAFTS = "archive/drafts"

    @property
    def on_board(self) -> bool:
        """Whether people see its cards on the board."""
        return self is Shelf.TASKS or self is Shelf.COMPLETED


@dataclass(frozen=True, slots=True)
class File:
    """A file that should be a card, as it lay there when the folder was listed."""

    path: str
    name: str
    shelf: Shelf
    stamp: Stamp

    @property
    def place(self) -> str:
        """Where it lies on the board, for people."""
        return f"{self.shelf.value}/{self.name}"


@dataclass(frozen=True, slots=True)
class Reading:
    """A file and what was read of it; `card` is the reason where it could not be read."""

    file: File
    card: Card | Unreadable


class Folder:
    """A board's folder with the cards that were read of it. Threads may share it."""

    def __init__(self, folder: Path, *, pause: Callable[[float], None] = time.sleep) -> None:
        """`pause` waits for a file that somebody may be writing."""
        self.folder = folder
        self._pause = pause
        self._known: dict[str, tuple[Stamp, Card | Unreadable]] = {}

    def files(self, shelves: Iterable[Shelf] = Shelf, *, prefix: str | None) -> list[File]:
        """Every file whose name makes it a card; on the board, only those with the `prefix`, as the program sees it.

        Raises TrackerError (NOT_FOUND) when the board is not there, and OSError.
        """
        return [
            _file(entry, shelf)
            for shelf in shelves
            for entry in self._entries(shelf)
            if _is_card(entry.name, shelf, prefix) and entry.is_file()
        ]

    def readings(self, files: Iterable[File]) -> list[Reading]:
        """What the files say; a file that has gone since is left out."""
        known = [(file, self._recall(file)) for file in files]
        if any(self._doubtful(file, said) for file, said in known):
            self._pause(HALF_WRITTEN_SECONDS)
            known = [(file, self._read(file) if self._doubtful(file, said) else said) for file, said in known]
        return [Reading(file, said) for file, said in known if said is not None]

    def fresh(self, file: File) -> tuple[bytes, Card]:
        """The bytes of a file now, and the card in them; raises Unreadable, FileNotFoundError and OSError."""
        data = Path(file.path).read_bytes()
        try:
            return data, card.parse(data)
        except Unreadable:
            self._pause(HALF_WRITTEN_SECONDS)
        data = Path(file.path).read_bytes()
        return data, card.parse(data)

    def by_id(self, ids: AbstractSet[str], *, prefix: str | None, thorough: bool) -> Mapping[str, list[File]]:
        """The files of these ids (as `card.same_id` spells them), best shelf first; an id without a file is left out.

        A file that was not read yet is known by its name; `thorough` reads every one first, as a name may be wrong.
        """
        readings = self.readings(self.files(prefix=prefix)) if thorough else []
        said = {reading.file.path: reading.card for reading in readings}
        found: dict[str, list[File]] = {}
        for shelf in Shelf:
            for entry in self._entries(shelf):
                file_id = self._id(entry, said)
                if file_id in ids and _is_card(entry.name, shelf, prefix) and entry.is_file():
                    found.setdefault(file_id, []).append(_file(entry, shelf))
        return found

    def _entries(self, shelf: Shelf) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.folder / shelf.value) as entries:
                return list(entries)
        except FileNotFoundError as error:
            if shelf is not Shelf.TASKS:
                return []
            message = f"{self.folder}/tasks is not there: an absent folder is not an empty board; is the disk mounted?"
            raise TrackerError(TrackerFault.NOT_FOUND, message) from error

    def _id(self, entry: os.DirEntry[str], said: Mapping[str, Card | Unreadable]) -> str:
        known = said.get(entry.path) or self._known.get(entry.path, (None, None))[1]
        return card.same_id(known.id if isinstance(known, Card) else card.id_in_name(entry.name) or entry.name)

    def _recall(self, file: File) -> Card | Unreadable | None:
        known = self._known.get(file.path)
        return known[1] if known and known[0] == file.stamp else self._read(file)

    def _doubtful(self, file: File, said: Card | Unreadable | None) -> bool:
        """Whether a file could not be read and is so young that somebody may be writing it."""
        return isinstance(said, Unreadable) and self._known.get(file.path) != (file.stamp, said)

    def _read(self, file: File) -> Card | Unreadable | None:
        began = time.time_ns()
        said: Card | Unreadable
        try:
            said = card.parse(Path(file.path).read_bytes())
        except FileNotFoundError:
            self._known.pop(file.path, None)
            return None
        except OSError as error:
            return Unreadable(f"it cannot be opened: {error.strerror}")
        except Unreadable as reason:
            said = reason
        if began - file.stamp[0] > _RACY_NANOSECONDS:
            self._known[file.path] = (file.stamp, said)
        return said


def _is_card(name: str, shelf: Shelf, prefix: str | None) -> bool:
    ours = prefix is None or not shelf.on_board or name.casefold().startswith(f"{prefix}-")
    return ours and name.endswith(".md") and card.id_in_name(name) is not None


def _file(entry: os.DirEntry[str], shelf: Shelf) -> File:
    status = entry.stat()
    return File(entry.path, entry.name, shelf, (status.st_mtime_ns, status.st_size, status.st_ino))
