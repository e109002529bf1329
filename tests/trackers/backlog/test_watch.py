"""Somebody touched the board: seen by the files' stamps, and never taken for it when it was us."""

import os
from pathlib import Path

import pytest

from orchestrator.trackers.backlog import tracker
from tests.trackers.backlog import hand as hands
from tests.trackers.backlog.hand import Hand


@pytest.fixture
def card(hand: Hand) -> Path:
    """A card on the board."""
    return hand.write(1)


@pytest.fixture
def board(hand: Hand, card: Path):
    """The door, which has looked once."""
    assert card.exists()
    opened = tracker.connect({"path": str(hand.project)})
    assert not opened.disturbed()
    return opened


def test_a_board_that_nobody_touches_is_undisturbed(board):
    """However often we look, and whatever we read."""
    assert board.get_items(["TASK-1"])
    assert [board.disturbed() for _ in range(3)] == [False] * 3


@pytest.mark.parametrize("act", ["drag", "add", "delete", "complete", "touch a column"])
def test_what_a_person_does_is_seen_once(hand: Hand, card: Path, board, act: str):
    """A drag, a new card, a deleted one, one that is filed away, a renamed column."""
    match act:
        case "drag":
            hands.drag(card, "Done")
        case "add":
            hand.write(2, hands.CARD.replace("TASK-1", "TASK-2"))
        case "delete":
            card.unlink()
        case "complete":
            card.rename(hand.folder / "completed" / card.name)
        case _:
            config = hand.folder / "config.yml"
            config.write_text(config.read_text().replace("In Review", "Verify"))
    assert [board.disturbed(), board.disturbed()] == [True, False]


@pytest.mark.proves("TW-12")
def test_our_own_writes_are_nobodys(board):
    """A move and a comment of this process bring no listing forward."""
    board.move("TASK-1", "In Progress", only_from=["To Do"], revision=None)
    board.comment("TASK-1", "inst:status", "Working on it.")
    assert not board.disturbed()


def test_a_person_who_writes_over_ours_is_seen(card: Path, board):
    """Also when the size is the same, and ours came right before."""
    board.move("TASK-1", "In Progress", only_from=["To Do"], revision=None)
    hands.drag(card, "Done")
    assert board.disturbed()
    board.comment("TASK-1", "inst:status", "Working on it.")
    os.utime(card)
    assert not board.disturbed()
