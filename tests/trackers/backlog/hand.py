"""A Backlog.md folder in a test, and a person's hand on it: files as people and the real program write them."""

import os
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orchestrator.domain.item import Item
from orchestrator.ports.tracker import Tracker, TrackerError, TrackerFault
from orchestrator.trackers.backlog import folder as folders
from orchestrator.trackers.backlog import place, tracker, write

NOW = datetime(2026, 11, 29, 12, 34, 56, tzinfo=UTC)

CONFIG = """\
project_name: "sample"
default_status: "To Do"
statuses: ["To Do", "In Progress", "In Review", "Done"]
labels: []
task_prefix: "task"
auto_commit: false
"""

CARD = """\
---
id: TASK-1
title: 'Mend the pump'
status: To Do
assignee:
  - '@ada'
created_date: '2026-01-02 03:04'
updated_date: '2026-02-03 04:05'
labels:
  - Hull
dependencies: []
priority: high
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
It leaks.
<!-- SECTION:DESCRIPTION:END -->
"""

PEOPLE_TALK = """
## Comments

<!-- COMMENTS:BEGIN -->
author: @ada
created: 2026-03-01 10:00
---
Which pump?
---

created: 2026-03-02 11:00
---
The left one.
---
<!-- COMMENTS:END -->
"""


class Hand:
    """A board's folder and what a person does to it with an editor; `project` is the root that it lies in."""

    def __init__(self, project: Path, config: str = CONFIG) -> None:
        """Make an empty board, as `backlog init` does."""
        self.project = project
        self.folder = project / "backlog"
        for shelf in folders.Shelf:
            (self.folder / shelf.value).mkdir(parents=True)
        (self.folder / "config.yml").write_text(config)
        self.pauses: list[float] = []
        self.while_paused: Callable[[], None] = lambda: None

    def write(self, number: int, text: str | bytes = CARD, *, shelf: str = "tasks", name: str = "A-card") -> Path:
        """Put a file for card `number` on a shelf; text gets that number as its id, bytes are taken as they are."""
        path = self.folder / shelf / f"task-{number} - {name}.md"
        path.write_bytes(text if isinstance(text, bytes) else text.replace("TASK-1", f"TASK-{number}", 1).encode())
        return path

    def aged(self, *paths: Path) -> None:
        """Let files look as if nobody had touched them for a minute, so that their stamps are trusted."""
        for path in paths or self.folder.rglob("*.md"):
            past = path.stat().st_mtime_ns - 60_000_000_000
            os.utime(path, ns=(past, past))

    def open(self) -> tracker.BacklogTracker:
        """The board through our door, with a clock in the hand and without waiting."""
        found = place.find(self.project)
        return tracker.BacklogTracker(found, folders.Folder(found.folder, pause=self._pause), now=lambda: NOW)

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.while_paused()


def drag(path: Path, to: str) -> None:
    """A person's editor: another state, the rest as it was, saved in place."""
    path.write_bytes(re.sub(rb"(?m)^status:[^\r\n]*", b"status: " + to.encode(), path.read_bytes(), count=1))


def state_in(path: Path) -> str:
    """The state line of a card's file, without its key."""
    found = re.search(rb"(?m)^status:[ \t]*([^\r\n]*)", path.read_bytes())
    assert found is not None, f"{path} has no status"
    return found[1].decode()


def changed_lines(before: bytes, after: bytes) -> list[tuple[bytes, bytes]]:
    """The lines that differ between two texts of equally many lines."""
    old, new = before.split(b"\n"), after.split(b"\n")
    assert len(old) == len(new), "a line was added or removed"
    return [(one, other) for one, other in zip(old, new, strict=True) if one != other]


def is_insertion(before: bytes, after: bytes) -> bool:
    """Whether `after` is `before` with one run of bytes put in."""
    if len(after) < len(before):
        return False
    same = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), len(before))
    # What was put in may begin as that goes on behind which it was put: then the place is further to the front.
    return any(after.endswith(before[at:]) for at in range(same, -1, -1))


def listed(board: Tracker, *states: str) -> list[Item]:
    """All pages of a listing as one."""
    return [item for page in board.list_items(states or ("To Do",)) for item in page.items]


def malformed(board: Tracker, *states: str) -> dict[str, str]:
    """What a listing could not read."""
    return {bad.id: bad.reason for page in board.list_items(states or ("To Do",)) for bad in page.malformed}


def fault_of(attempt: Callable[[], object]) -> TrackerFault:
    """The fault with which an attempt fails."""
    with pytest.raises(TrackerError) as failure:
        attempt()
    return failure.value.fault


def say_many(folder: str, item_id: str, keys: Iterable[str]) -> None:
    """A process of ours that comments under each of `keys`, as the relay does: again where somebody else was first."""
    board = tracker.connect({"path": folder})
    for key in keys:
        _until_free(lambda key=key: board.comment(item_id, key, f"said under {key}"))


def append_many(path: str, item_id: str, lines: Iterable[str]) -> None:
    """A process as the real program is one: takes the lock, reads, adds a line, and writes the file in place."""
    file = Path(path)

    def append(line: str) -> None:
        with write.locked(file.parent.parent, item_id):
            file.write_text(f"{file.read_text()}{line}\n")

    for line in lines:
        _until_free(lambda line=line: append(line))


def _until_free(attempt: Callable[[], None]) -> None:
    """Try again for as long as somebody else is writing; any other fault ends the process."""
    while True:
        try:
            return attempt()
        except TrackerError as error:
            if error.fault is not TrackerFault.CONFLICT:
                raise
