"""A board in memory, for tests and simulations: it has a hand for a person and remembers who moved what.

The tracker on it keeps every promise of the door; faults are injected by wrapping it, never in here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from orchestrator.domain.contract import fold
from orchestrator.domain.item import Blocker, Item
from orchestrator.domain.records import Malformed
from orchestrator.ports.tracker import (
    Moved,
    NotMoved,
    Page,
    PostedComment,
    Profile,
    Standing,
    Stretch,
    Tracker,
    TrackerError,
    TrackerFault,
)

KIND = "memory"
PAGE_SIZE = 50
STATES = ("To Do", "In Progress", "In Review", "Done")

# Who moved a card, as the history tells it.
PERSON, US = "person", "stationkeeper"


@dataclass(frozen=True, slots=True)
class Move:
    """One entry of the history. `came_from` is None for a card that was added, `to` None for one that was deleted."""

    item_id: str
    actor: str
    came_from: str | None
    to: str | None
    at: datetime


@dataclass(slots=True)
class MemoryBoard:
    """The board itself with a person's hand; threads may share it. `clock` dates what happens."""

    key: str = ""
    states: tuple[str, ...] = STATES
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    history: list[Move] = field(default_factory=list)
    costly: bool = field(default=False, kw_only=True)  # whether its tracker says that a whole listing costs
    _items: dict[str, Item] = field(default_factory=dict)
    _comments: dict[str, list[PostedComment]] = field(default_factory=dict)
    _spoiled: dict[str, str] = field(default_factory=dict)
    _revisions: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def add(self, item: Item) -> str:
        """Put a card on the board; gives its id."""
        with self._lock:
            now = self.clock()
            self._items[item.id] = self._touched(
                replace(item, labels=_folded(item.labels), created_at=item.created_at or now)
            )
            self._comments[item.id] = []
            self.history.append(Move(item.id, PERSON, None, item.state, now))
            return item.id

    def drag(self, item_id: str, to: str) -> None:
        """A person moves a card."""
        with self._lock:
            self._move(item_id, to, PERSON)

    def close(self, item_id: str) -> None:
        """A person moves a card to the last column."""
        self.drag(item_id, self.states[-1])

    def edit(self, item_id: str, **changes: object) -> None:
        """A person changes fields of a card, its labels say; not its state."""
        with self._lock:
            item = replace(self._items[item_id], **changes)  # type: ignore[arg-type]
            self._items[item_id] = self._touched(replace(item, labels=_folded(item.labels)))

    def say(self, item_id: str, body: str, *, author: str = PERSON) -> None:
        """A person comments on a card."""
        with self._lock:
            self._comments[item_id].append(PostedComment(author, body, created_at=self.clock()))

    def delete(self, item_id: str) -> None:
        """A person deletes a card."""
        with self._lock:
            gone = self._items.pop(item_id)
            del self._comments[item_id]
            self.history.append(Move(item_id, PERSON, gone.state, None, self.clock()))

    def spoil(self, item_id: str, reason: str) -> None:
        """From now on the record cannot be read."""
        with self._lock:
            self._spoiled[item_id] = reason

    def item(self, item_id: str) -> Item:
        """A card as it stands; raises KeyError when it is not there."""
        with self._lock:
            item = self._items[item_id]
            if not item.blocked_by:
                return item
            blockers = tuple(replace(blocker, state=self._state_of(blocker)) for blocker in item.blocked_by)
            return replace(item, blocked_by=blockers)

    def said(self, item_id: str) -> tuple[PostedComment, ...]:
        """The comments of a card, oldest first; raises KeyError when it is not there."""
        with self._lock:
            return tuple(self._comments[item_id])

    def ids(self) -> tuple[str, ...]:
        """The ids of all cards, in the order in which they were added."""
        with self._lock:
            return tuple(self._items)

    def places(self) -> Mapping[str, int]:
        """The place of each card that was ever there in the order of their additions, from 1."""
        with self._lock:
            added = dict.fromkeys(move.item_id for move in self.history if move.came_from is None)
            return {item_id: place for place, item_id in enumerate(added, start=1)}

    def spoiled(self) -> Mapping[str, str]:
        """Why which records cannot be read."""
        with self._lock:
            return {item_id: reason for item_id, reason in self._spoiled.items() if item_id in self._items}

    def compare_and_move(
        self, item_id: str, to: str, *, only_from: Sequence[str], revision: str | None
    ) -> Moved | NotMoved:
        """Our move, checked and made in one step."""
        with self._lock:
            item = self._items.get(item_id)
            if item is None:
                return NotMoved(None)
            if fold(item.state) not in set(map(fold, only_from)) or revision not in {None, item.revision}:
                return NotMoved(item.state)
            self._move(item_id, to, US)
            return Moved(self.clock())

    def put_comment(self, item_id: str, key: str, body: str) -> None:
        """Our comment: made, or edited in place, or found to say so already; raises KeyError when the card is gone."""
        with self._lock:
            said = self._comments[item_id]
            ours = [place for place, comment in enumerate(said) if comment.key == key]
            if not ours:
                said.append(PostedComment(US, body, key=key, created_at=self.clock()))
                return
            said[ours[0]] = replace(said[ours[0]], body=body)
            self._comments[item_id] = [comment for place, comment in enumerate(said) if place not in ours[1:]]

    def _move(self, item_id: str, to: str, actor: str) -> None:
        item = self._items[item_id]
        if fold(item.state) != fold(to):
            self.history.append(Move(item_id, actor, item.state, to, self.clock()))
            self._items[item_id] = self._touched(replace(item, state=to))

    def _touched(self, item: Item) -> Item:
        self._revisions += 1
        return replace(item, revision=str(self._revisions), updated_at=self.clock())

    def _state_of(self, blocker: Blocker) -> str | None:
        known = self._items.get(blocker.id)
        return known.state if known else None


_boards: dict[str, MemoryBoard] = {}
_boards_lock = threading.Lock()


def board(key: str) -> MemoryBoard:
    """The board of this process under that key, made when it is asked for first."""
    with _boards_lock:
        return _boards.setdefault(key, MemoryBoard(key))


def connect(options: Mapping[str, object]) -> Tracker:
    """Open the board under option `board`, shared in this process, or a new one; `states` replaces its states."""
    key, states = options.get("board"), options.get("states")
    opened = board(str(key)) if key is not None else MemoryBoard()
    if isinstance(states, Sequence) and not isinstance(states, str):
        opened.states = tuple(map(str, states))
    return MemoryTracker(opened)


class MemoryTracker:
    """The Tracker door on a board in memory."""

    def __init__(self, opened: MemoryBoard) -> None:
        """`board` is there for a test to lay its hand on."""
        self.board = opened

    @property
    def profile(self) -> Profile:
        """What this adapter can do: everything, unless its board is a costly one."""
        whole = not self.board.costly
        return Profile(KIND, f"{KIND}:{self.board.key}", conditional_moves=True, edits_comments=True, whole_board=whole)

    def states(self) -> tuple[str, ...]:
        """The board's states."""
        return self.board.states

    def list_items(self, states: Sequence[str]) -> Iterator[Page]:
        """Every card in one of `states`, in the order in which they were added."""
        if not states:
            return
        wanted, spoiled = frozenset(map(fold, states)), self.board.spoiled()
        items = [
            item for item in self._items(self.board.ids()) if item.id not in spoiled and fold(item.state) in wanted
        ]
        malformed = tuple(Malformed(item_id, reason) for item_id, reason in spoiled.items())
        for start in range(0, max(len(items), 1), PAGE_SIZE):
            yield Page(tuple(items[start : start + PAGE_SIZE]), malformed if start == 0 else ())

    def get_items(self, ids: Sequence[str]) -> Mapping[str, Item]:
        """The cards as they are now."""
        for item_id in ids:
            self._check(item_id)
        return {item.id: item for item in self._items(ids)}

    def walk(self, behind: str | None, known: Collection[str]) -> Stretch:
        """The next cards in the order in which they were added; the last one's place is where the next ones begin."""
        places, ids, spoiled = self.board.places(), self.board.ids(), self.board.spoiled()
        start = int(behind or 0)
        ahead = [item_id for item_id in ids if places[item_id] > start]
        part = ahead[:PAGE_SIZE]
        end = places[part[-1]] if len(ahead) > PAGE_SIZE else None
        until = len(places) if end is None else end
        missing = {item_id for item_id in known if item_id not in ids}
        never = missing - places.keys() if end is None else set()
        cards = [item for item in self._items(part) if item.id not in spoiled]
        return Stretch(
            tuple(Standing(item.id, item.identifier, item.state) for item in cards),
            tuple(Malformed(item_id, spoiled[item_id]) for item_id in part if item_id in spoiled),
            frozenset(never | {item_id for item_id in missing if start < places.get(item_id, start) <= until}),
            None if end is None else str(end),
        )

    def comments(self, item_id: str) -> tuple[PostedComment, ...]:
        """The comments of a card, oldest first."""
        try:
            return self.board.said(item_id)
        except KeyError:
            raise _gone(item_id) from None

    def move(self, item_id: str, to: str, *, only_from: Sequence[str], revision: str | None) -> Moved | NotMoved:
        """Compare and move in one step."""
        self._check(item_id)
        spelled = next((state for state in self.board.states if fold(state) == fold(to)), None)
        if spelled is None:
            raise TrackerError(
                TrackerFault.CONFIG, f"the board has no state {to!r}, it has {', '.join(self.board.states)}"
            )
        return self.board.compare_and_move(item_id, spelled, only_from=only_from, revision=revision)

    def comment(self, item_id: str, key: str, body: str) -> None:
        """Make or edit the comment with this key."""
        try:
            self.board.put_comment(item_id, key, body)
        except KeyError:
            raise _gone(item_id) from None

    def _items(self, ids: Sequence[str]) -> Iterator[Item]:
        for item_id in ids:
            try:
                yield self.board.item(item_id)
            except KeyError:  # not there, or deleted meanwhile
                continue

    def _check(self, item_id: str) -> None:
        reason = self.board.spoiled().get(item_id)
        if reason is not None:
            raise TrackerError(TrackerFault.PAYLOAD, f"{item_id}: {reason}")


def _gone(item_id: str) -> TrackerError:
    return TrackerError(TrackerFault.NOT_FOUND, f"{item_id} is not on the board")


def _folded(labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (label.strip().casefold() for label in labels))))
