"""A board that two processes can read without a server: cards are dealt by a file, a round of so many with each line.

`tracker.kind: bench.board` with `deal`, the file. Moves and comments stay in the process that makes them, which is
enough here: only the relay writes, and a worker asks for nothing but whether its card is still active.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.domain.item import Item
from orchestrator.ports.tracker import Page, Tracker
from orchestrator.trackers.memory import MemoryBoard, MemoryTracker


def connect(options: Mapping[str, object]) -> Tracker:
    """The board whose rounds are dealt by the file that `deal` names."""
    return DealtTracker(Path(str(options["deal"])))


def deal(file: Path, cards: int) -> int:
    """Put a round of cards on the board; returns its number."""
    rounds = file.read_text().split()
    with file.open("a") as dealt:
        dealt.write(f"{cards}\n")
    return len(rounds)


def card(number: int | str, *, of_round: int) -> str:
    """The id of a card."""
    return f"R{of_round}-{number}"


class DealtTracker(MemoryTracker):
    """A board in memory that looks for the next round when it is listed, or asked for a card that it does not know."""

    def __init__(self, deal: Path) -> None:
        super().__init__(MemoryBoard(str(deal)))
        self._deal, self._dealt = deal, 0

    def list_items(self, states: Sequence[str]) -> Iterator[Page]:
        """Every card in one of `states`, of every round so far."""
        self._catch_up()
        return super().list_items(states)

    def get_items(self, ids: Sequence[str]) -> Mapping[str, Item]:
        """The cards as this process knows them."""
        found = super().get_items(ids)
        if len(found) == len(ids):
            return found
        self._catch_up()
        return super().get_items(ids)

    def _catch_up(self) -> None:
        rounds = self._deal.read_text().split()
        for of_round in range(self._dealt, len(rounds)):
            for number in range(int(rounds[of_round])):
                name = card(number, of_round=of_round)
                self.board.add(Item(name, name, f"Card {name}", "To Do"))
        self._dealt = len(rounds)
