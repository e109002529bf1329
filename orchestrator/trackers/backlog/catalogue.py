"""The cards of a board side by side: which of those with one id counts, and what blocks what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from orchestrator.domain.contract import fold
from orchestrator.domain.item import Blocker, Item
from orchestrator.domain.records import Malformed
from orchestrator.trackers.backlog import card as cards
from orchestrator.trackers.backlog.card import Card, Unreadable
from orchestrator.trackers.backlog.folder import File, Reading
from orchestrator.trackers.backlog.place import Config


class Catalogue:
    """What was read of a board in one look. No other copy stands in for the one that counts and cannot be read."""

    def __init__(self, readings: Iterable[Reading]) -> None:
        """The readings come best shelf first."""
        self._by_id: dict[str, list[Reading]] = {}
        for reading in readings:
            known = reading.card.id if isinstance(reading.card, Card) else cards.id_in_name(reading.file.name)
            self._by_id.setdefault(cards.same_id(known or reading.file.name), []).append(reading)
        self._standing = {card_id: _counting(readings) for card_id, readings in self._by_id.items()}

    def standing(self, states: AbstractSet[str]) -> list[tuple[File, Card]]:
        """The readable cards in one of the (folded) states, in the order of their ids."""
        found = self._standing.values()
        wanted = [one for one in found if isinstance(one, tuple) and fold(one[1].state) in states]
        return sorted(wanted, key=lambda one: _in_order(one[1].id))

    def malformed(self, states: AbstractSet[str]) -> Iterator[Malformed]:
        """The cards that cannot be read, or stand twice with one copy in one of the states."""
        for card_id, one in self._standing.items():
            if isinstance(one, Malformed):
                known = [reading.card.state for reading in self._by_id[card_id] if isinstance(reading.card, Card)]
                if not known or any(fold(state) in states for state in known):
                    yield one

    def item(self, file: File, card: Card, config: Config) -> Item:
        """The card as the rest of the house knows it."""
        return Item(
            id=card.id,
            identifier=card.id,
            title=card.title,
            state=card.state,
            description=card.description,
            priority=config.priorities.index(card.priority) + 1 if card.priority in config.priorities else None,
            labels=card.labels,
            assignee=card.assignee,
            author=card.reporter,
            issue_type=card.issue_type,
            parent=card.parent,
            blocked_by=tuple(self._blocker(name, config) for name in card.dependencies or ()),
            blockers_readable=card.dependencies is not None,
            native_ref=file.place,
            dispatchable=file.shelf.on_board,
            created_at=card.created_at,
            updated_at=card.updated_at,
            revision=card.revision,
        )

    def _blocker(self, name: str, config: Config) -> Blocker:
        """A dependency with its state; None where it is missing or cannot be read, which blocks."""
        full = config.full_id(name)
        one = self._standing.get(cards.same_id(full))
        known = one[1] if isinstance(one, tuple) and one[0].shelf.on_board else None
        return Blocker(known.id, known.id, known.state) if known else Blocker(full, full, None)


def best(files: Sequence[File]) -> File:
    """The file that counts of those with one id, best shelf first; raises Unreadable when two stand on that shelf."""
    first = files[0]
    rivals = sorted(file.place for file in files if file.shelf is first.shelf)
    if len(rivals) > 1 and first.shelf.on_board:
        raise Unreadable(f"the id stands twice: {' and '.join(rivals)}; give one of them another id")
    return first


def _counting(readings: Sequence[Reading]) -> tuple[File, Card] | Malformed:
    if len(readings) == 1 and isinstance(readings[0].card, Card):
        return readings[0].file, readings[0].card
    known = next((reading.card.id for reading in readings if isinstance(reading.card, Card)), None)
    name = known or cards.id_in_name(readings[0].file.name) or readings[0].file.name
    try:
        file = best([reading.file for reading in readings])
    except Unreadable as reason:
        return Malformed(name, str(reason))
    said = next(reading.card for reading in readings if reading.file is file)
    return Malformed(name, f"{said} ({file.place})") if isinstance(said, Unreadable) else (file, said)


def _in_order(card_id: str) -> list[str]:
    return [part.zfill(9) if part.isdigit() else part for part in re.split(r"(\d+)", card_id)]
