"""What of a board's folder is read and what is not: every file by name, with the reason."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from orchestrator.domain.records import Malformed
from orchestrator.trackers.backlog import card as cards
from orchestrator.trackers.backlog import catalogue, place
from orchestrator.trackers.backlog.card import Card, Unreadable
from orchestrator.trackers.backlog.folder import File, Folder, Shelf

_OTHER_KINDS = {
    "milestones": "a milestone",
    "docs": "a document",
    "decisions": "a decision",
    "archive/milestones": "a milestone",
}


@dataclass(frozen=True, slots=True)
class Survey:
    """A board's files: cards on it, cards beside it (archive, drafts), and those not read, each with the reason."""

    folder: Path
    on_board: tuple[str, ...]
    beside: tuple[str, ...]
    unread: tuple[Malformed, ...]


def survey(path: Path) -> Survey:
    """Look at every file of the board at `path`; raises TrackerError as `connect` and a listing do."""
    board = place.find(path)
    folder, config = Folder(board.folder), place.read_config(board)
    readings = folder.readings(folder.files(prefix=config.prefix))
    rivals: dict[str, list[File]] = {}
    for reading in readings:
        name = reading.card.id if isinstance(reading.card, Card) else cards.id_in_name(reading.file.name)
        rivals.setdefault(cards.same_id(name or reading.file.name), []).append(reading.file)
    read = {reading.file.place: reading.file for reading in readings if isinstance(reading.card, Card)}
    reasons = {reading.file.place: str(reading.card) for reading in readings if isinstance(reading.card, Unreadable)}
    reasons |= {file.place: reason for files in rivals.values() for file, reason in _twice(files)}
    names = [name for name in _every_file(board.folder) if board.folder / name != board.config]
    return Survey(
        folder=board.folder,
        on_board=tuple(name for name in names if name not in reasons and name in read and read[name].shelf.on_board),
        beside=tuple(name for name in names if name not in reasons and name in read and not read[name].shelf.on_board),
        unread=tuple(
            Malformed(name, reasons.get(name) or _why(name, config))
            for name in names
            if name in reasons or name not in read
        ),
    )


def _twice(files: list[File]) -> list[tuple[File, str]]:
    """Of the files with one id, those that do not count, and why."""
    try:
        counts = catalogue.best(files)
    except Unreadable as reason:
        return [(file, str(reason)) for file in files]
    hidden = f"{counts.place} has the same id and comes first"
    return [(file, hidden) for file in files if file is not counts]


def _every_file(folder: Path) -> list[str]:
    found = [Path(where, name).relative_to(folder) for where, _, names in os.walk(folder) for name in names]
    return sorted(str(name) for name in found)


def _why(name: str, config: place.Config) -> str:
    kind = _OTHER_KINDS.get(str(Path(name).parent))
    if kind is not None and cards.id_in_name(Path(name).name):
        return f"{kind}, not a card"
    if str(Path(name).parent) not in {shelf.value for shelf in Shelf}:
        return "not in a folder of cards"
    if not name.endswith(".md") or cards.id_in_name(Path(name).name) is None:
        return "not a card: its name does not begin with an id and end with .md"
    return f"not a card of this board: its id does not begin with {config.prefix}-"
