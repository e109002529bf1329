"""The Tracker door on a Backlog.md folder.

A move is conditional on the very bytes that were read, so a person's save in between wins. A card is *gone* only when
no folder of the board has it; in `archive/` and `drafts/` it is there but not dispatchable. Of a card that stands
twice in one folder nobody knows which one people mean: neither is dispatched.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.domain.contract import fold
from orchestrator.domain.item import Item
from orchestrator.ports.tracker import (
    Moved,
    NotMoved,
    Page,
    PostedComment,
    Profile,
    Tracker,
    TrackerError,
    TrackerFault,
)
from orchestrator.trackers.backlog import card as cards
from orchestrator.trackers.backlog import catalogue, discussion, place, write
from orchestrator.trackers.backlog.card import Card, Unreadable
from orchestrator.trackers.backlog.catalogue import Catalogue
from orchestrator.trackers.backlog.folder import File, Folder, Shelf
from orchestrator.trackers.backlog.watch import Watch

KIND = "backlog"
PAGE_SIZE = 50
# Looks at a folder in motion: a card that is filed from one shelf to another in between is missed by one at most.
LOOKS = 3

_NOTES = "The folder is never committed by us, whatever its auto_commit says, and its onStatusChange is not run."
_NO_EXCHANGE = (
    " This file system cannot exchange files: ours is read back, and a save in place that it met goes back. One by a "
    "program that renames its own file over the card in the same instant may be lost."
)


def connect(options: Mapping[str, object]) -> Tracker:
    """Open the board at option `path`, a project's root or the board's own folder; raises TrackerError (CONFIG)."""
    path = options.get("path")
    if not isinstance(path, str | Path) or not str(path):
        message = f"tracker.path: found {path!r}, expected the path of a Backlog.md project or board folder; add it"
        raise TrackerError(TrackerFault.CONFIG, message)
    found = place.find(Path(path))
    return BacklogTracker(found, Folder(found.folder))


@dataclass(frozen=True, slots=True)
class _Found:
    """A card just read, with the bytes that a write of it is conditional on."""

    file: File
    data: bytes
    card: Card


class BacklogTracker:
    """One folder as one board; threads may share it. A write reads under the lock: it meets no half file."""

    def __init__(
        self, board: place.Place, folder: Folder, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """`now` dates our moves and comments."""
        self._place = board
        self._folder = folder
        self._now = now
        self._profile: Profile | None = None
        self._watch = Watch(folder, board.config)

    @property
    def profile(self) -> Profile:
        """What this board can do; the first look tries whether its file system exchanges files."""
        if self._profile is None:
            exchanges = write.can_exchange(self._place.folder)
            self._profile = Profile(
                kind=KIND,
                scope=f"{KIND}:{self._place.folder}",
                conditional_moves=exchanges,
                edits_comments=True,
                notes=_NOTES if exchanges else _NOTES + _NO_EXCHANGE,
                whole_board=True,
            )
        return self._profile

    def states(self) -> tuple[str, ...]:
        """The board's states, as its config has them now."""
        with _faults():
            self._folder.files((Shelf.TASKS,), prefix=None)  # a board whose cards are not there has no states either
            return self._config().states

    def list_items(self, states: Sequence[str]) -> Iterator[Page]:
        """Every card in one of `states` in the order of ids, fifty to a page; what cannot be read is on the first."""
        if not states:
            return
        with _faults():
            config = self._config()
            files = self._folder.files((Shelf.TASKS, Shelf.COMPLETED), prefix=config.prefix)
            board = Catalogue(self._folder.readings(files))
        wanted = frozenset(map(fold, states))
        items = [board.item(file, card, config) for file, card in board.standing(wanted)]
        malformed = tuple(board.malformed(wanted))
        for start in range(0, max(len(items), 1), PAGE_SIZE):
            yield Page(tuple(items[start : start + PAGE_SIZE]), malformed if start == 0 else ())

    def get_items(self, ids: Sequence[str]) -> Mapping[str, Item]:
        """The cards as they are now, by the ids asked for; of those that block them, what their stamps vouch for."""
        if not ids:
            return {}
        with _faults():
            found = self._find(ids)
            config = self._config()
            blockers = {
                cards.same_id(config.full_id(name)) for one in found.values() for name in one.card.dependencies or ()
            }
            blocking = self._folder.by_id(blockers, prefix=config.prefix, thorough=False) if blockers else {}
            board = Catalogue(self._folder.readings(file for files in blocking.values() for file in files))
        return {item_id: board.item(one.file, one.card, config) for item_id, one in found.items()}

    def comments(self, item_id: str) -> tuple[PostedComment, ...]:
        """The comments of a card, oldest first."""
        with _faults():
            found = self._there(item_id)
        return tuple(
            PostedComment(one.author, one.body, key=one.key, created_at=cards.instant(one.created))
            for one in cards.comments(found.data)
        )

    def move(self, item_id: str, to: str, *, only_from: Sequence[str], revision: str | None) -> Moved | NotMoved:
        """Move the card, if what it says and all its bytes are still what this very call has read."""
        allowed = frozenset(map(fold, only_from))
        with _faults():
            state = self._spelled(to)
            for _ in range(LOOKS):
                with write.locked(self._place.folder, item_id):
                    found = self._find([item_id]).get(item_id)
                    if found is None:
                        return NotMoved(None)
                    stale = revision not in {None, found.card.revision}
                    if stale or fold(found.card.state) not in allowed or not found.file.shelf.on_board:
                        return NotMoved(found.card.state)
                    now = self._now()
                    if fold(found.card.state) == fold(state) or self._put(
                        found, cards.moved(found.data, state, now=now)
                    ):
                        return Moved(now)
        raise _in_motion(item_id)

    def comment(self, item_id: str, key: str, body: str) -> None:
        """Make or edit the comment with this key; nothing is written where the card says the same already."""
        if not key or any(character.isspace() for character in key) or "-->" in key:
            raise ValueError(f"a comment's key must be one word without an arrow, not {key!r}")
        created = self._now().astimezone(UTC).strftime("%Y-%m-%d %H:%M")
        comment = discussion.Comment(body, author=discussion.AUTHOR, created=created, key=key)
        with _faults():
            for _ in range(LOOKS):
                with write.locked(self._place.folder, item_id):
                    found = self._there(item_id)
                    if self._put(found, cards.with_comment(found.data, comment)):
                        return
        raise _in_motion(item_id)

    def disturbed(self) -> bool:
        """Whether anybody but this process touched the board since the last call."""
        with _faults():
            return self._watch.disturbed()

    def _put(self, found: _Found, data: bytes) -> bool:
        """Put the card back with these bytes, under its lock; False when it is not what was read any more."""
        if data == found.data:
            return True
        self._watch.writes(found.file.path, data)
        return write.replace(Path(found.file.path), found.data, data)

    def _config(self) -> place.Config:
        return place.read_config(self._place)

    def _spelled(self, state: str) -> str:
        config = self._config()
        spelled = config.spelled(state)
        if spelled is None:
            known = ", ".join(map(repr, config.states))
            raise TrackerError(
                TrackerFault.CONFIG, f"the board has no state {state!r}, it has {known}; add it or correct the workflow"
            )
        return spelled

    def _there(self, item_id: str) -> _Found:
        found = self._find([item_id]).get(item_id)
        if found is None:
            raise TrackerError(TrackerFault.NOT_FOUND, f"{item_id} is not on the board {self._place.folder}")
        return found

    def _find(self, ids: Sequence[str]) -> dict[str, _Found]:
        """Those cards, read now. One is left out only after each file of the board was looked into, twice."""
        prefix, found = self._config().prefix, dict[str, _Found]()
        for look in range(LOOKS):
            missing = [item_id for item_id in dict.fromkeys(ids) if item_id not in found]
            if missing:
                by_id = self._folder.by_id({*map(cards.same_id, missing)}, prefix=prefix, thorough=look > 0)
                looked = ((item_id, self._read(item_id, by_id.get(cards.same_id(item_id), []))) for item_id in missing)
                found |= {item_id: one for item_id, one in looked if one is not None}
        return found

    def _read(self, item_id: str, files: Sequence[File]) -> _Found | None:
        """The card in the file that counts; None where there is none (any more), or its name lied about its id."""
        if not files:
            return None
        try:
            file = catalogue.best(files)
            data, card = self._folder.fresh(file)
        except FileNotFoundError:
            return None
        except Unreadable as reason:
            raise TrackerError(TrackerFault.PAYLOAD, f"{item_id}: {reason} ({files[0].place})") from reason
        return _Found(file, data, card) if cards.same_id(card.id) == cards.same_id(item_id) else None


def _in_motion(item_id: str) -> TrackerError:
    return TrackerError(
        TrackerFault.CONFLICT, f"{item_id} was changed by somebody else at each of {LOOKS} tries; nothing was written"
    )


@contextlib.contextmanager
def _faults() -> Iterator[None]:
    """Say what the file system refused in the door's own words."""
    try:
        yield
    except (Unreadable, discussion.Unwritable) as error:
        raise TrackerError(TrackerFault.PAYLOAD, f"the card cannot be written: {error}") from error
    except PermissionError as error:
        raise TrackerError(
            TrackerFault.AUTH, f"not allowed: {error.filename}: {error.strerror}; mend its permissions"
        ) from error
    except OSError as error:
        raise TrackerError(TrackerFault.API, f"{error.filename}: {error.strerror}") from error
