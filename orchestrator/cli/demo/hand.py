"""The person in the story: closes one card in mid-turn and drags another out of its active column."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.cli.demo import boardfile
from orchestrator.cli.demo.scene import Board


@dataclass(frozen=True, slots=True)
class Moved:
    """A move that the person made: the card must still stand in `status` when all is over."""

    item: str
    status: str


def move(board: Board, item: str, status: str) -> Moved:
    """Move a card by writing its file, as the board's own program does. Raises LookupError when it is not there."""
    card = next((card for card in boardfile.tasks(board.path) if card.id == item), None)
    if card is None:
        raise LookupError(f"{board.path}: no card {item}")
    boardfile.set_status(card, status)
    return Moved(item, status)
