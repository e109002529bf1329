"""One bench for each tracker adapter: a small board behind its door, and a person's hand on that board.

The bench of a tracker that only `make peers` installs is beside its server, in tests/peers.
"""

from pathlib import Path
from typing import Protocol

from orchestrator.domain.item import Blocker, Item
from orchestrator.ports.tracker import Tracker
from orchestrator.trackers import memory
from orchestrator.trackers.backlog import board, tracker
from tests.trackers.backlog import hand

STATES = ("To Do", "In Progress", "In Review", "Done")


class Bench(Protocol):
    """A board with `STATES`, and what a person does to it; none of it through the door."""

    def connect(self) -> Tracker:
        """The door, opened anew as another process would."""
        ...

    def add(self, title: str, state: str, *, labels: tuple[str, ...] = (), blocked_by: tuple[str, ...] = ()) -> str:
        """A card; gives its id."""
        ...

    def drag(self, item_id: str, to: str) -> None:
        """A person moves a card."""
        ...

    def retitle(self, item_id: str, title: str) -> None:
        """A person edits a card but does not move it."""
        ...

    def say(self, item_id: str, body: str) -> None:
        """A person comments."""
        ...

    def delete(self, item_id: str) -> None:
        """A person deletes a card."""
        ...

    def spoil(self, item_id: str) -> None:
        """The record of a card cannot be read any more."""
        ...

    def double_comments(self, item_id: str) -> None:
        """Each comment of the card stands there twice, as after a race of two writers."""
        ...


class MemoryBench:
    """The board in memory."""

    def __init__(self, _: Path) -> None:
        self.board = memory.MemoryBoard(key="bench", states=STATES)
        self.count = 0

    def connect(self) -> Tracker:
        """The door, opened anew."""
        return memory.MemoryTracker(self.board)

    def add(self, title: str, state: str, *, labels: tuple[str, ...] = (), blocked_by: tuple[str, ...] = ()) -> str:
        """A new card."""
        self.count += 1
        name = f"TASK-{self.count}"
        blockers = tuple(Blocker(other, other, None) for other in blocked_by)
        return self.board.add(Item(name, name, title, state, labels=labels, blocked_by=blockers))

    def drag(self, item_id: str, to: str) -> None:
        """Another state."""
        self.board.drag(item_id, to)

    def retitle(self, item_id: str, title: str) -> None:
        """Another title."""
        self.board.edit(item_id, title=title)

    def say(self, item_id: str, body: str) -> None:
        """A person's comment."""
        self.board.say(item_id, body)

    def delete(self, item_id: str) -> None:
        """The card is gone."""
        self.board.delete(item_id)

    def spoil(self, item_id: str) -> None:
        """The record makes no sense."""
        self.board.spoil(item_id, "it makes no sense")

    def double_comments(self, item_id: str) -> None:
        """Every comment twice."""
        self.board._comments[item_id] *= 2


class BacklogBench:
    """A Backlog.md folder."""

    def __init__(self, folder: Path) -> None:
        self.hand = hand.Hand(folder)

    def connect(self) -> Tracker:
        """The door, opened anew."""
        return tracker.connect({"path": str(self.hand.project)})

    def add(self, title: str, state: str, *, labels: tuple[str, ...] = (), blocked_by: tuple[str, ...] = ()) -> str:
        """A new card."""
        card = board.NewCard(title, "What to do.", state, labels=labels, dependencies=blocked_by)
        return board.add_card(self.hand.project, card, now=hand.NOW)

    def drag(self, item_id: str, to: str) -> None:
        """Another state."""
        hand.drag(self._file(item_id), to)

    def retitle(self, item_id: str, title: str) -> None:
        """Another title."""
        self._replace(item_id, "title:", f"title: {title} #")

    def say(self, item_id: str, body: str) -> None:
        """A person's comment."""
        text = f"\n## Comments\n\n<!-- COMMENTS:BEGIN -->\nauthor: @ada\ncreated: 2026-03-01 10:00\n---\n{body}\n---\n"
        with self._file(item_id).open("a") as file:
            file.write(f"{text}<!-- COMMENTS:END -->\n")

    def delete(self, item_id: str) -> None:
        """The card is gone."""
        self._file(item_id).unlink()

    def spoil(self, item_id: str) -> None:
        """The record makes no sense."""
        self._replace(item_id, "status:", "stat")

    def double_comments(self, item_id: str) -> None:
        """Every comment twice."""
        file = self._file(item_id)
        head, begin, rest = file.read_text().partition("<!-- COMMENTS:BEGIN -->\n")
        entries, end, tail = rest.partition("<!-- COMMENTS:END -->")
        file.write_text(f"{head}{begin}{entries}\n{entries}{end}{tail}")

    def _replace(self, item_id: str, old: str, new: str) -> None:
        file = self._file(item_id)
        file.write_text(file.read_text().replace(old, new, 1))

    def _file(self, item_id: str) -> Path:
        return next((self.hand.folder / "tasks").glob(f"{item_id.lower()} - *.md"))


BENCHES: dict[str, type[MemoryBench] | type[BacklogBench]] = {"memory": MemoryBench, "backlog": BacklogBench}
