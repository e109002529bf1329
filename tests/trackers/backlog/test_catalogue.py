"""Cards side by side: which of those with one id counts, what blocks what, and what comes first."""

from pathlib import Path

import pytest

from orchestrator.ports.tracker import NotMoved, TrackerFault
from tests.trackers.backlog.hand import (
    CARD,
    CONFIG,
    Hand,
    fault_of,
    listed,
    malformed,
)


def test_a_completed_card_keeps_the_state_that_it_has(hand: Hand):
    """Filed away by the program, and still on the board."""
    hand.write(1, CARD.replace("To Do", "Done"), shelf="completed")
    assert [(item.id, item.state, item.dispatchable) for item in listed(hand.open(), "Done")] == [
        ("TASK-1", "Done", True)
    ]


@pytest.mark.parametrize("shelf", ["archive/tasks", "drafts", "archive/drafts"])
def test_a_card_beside_the_board_is_there_but_never_dispatched(hand: Hand, shelf: str):
    """Archived is not gone; but it is in no listing, and no move of ours touches it."""
    path = hand.write(1, shelf=shelf)
    board = hand.open()
    assert listed(board) == []
    assert not board.get_items(["TASK-1"])["TASK-1"].dispatchable
    assert board.move("TASK-1", "In Progress", only_from=["To Do"], revision=None) == NotMoved("To Do")
    assert path.read_text() == CARD


def test_of_two_shelves_with_one_id_the_board_wins(hand: Hand):
    """tasks/ before completed/ before the archive."""
    hand.write(1, CARD.replace("To Do", "In Progress"))
    hand.write(1, CARD.replace("To Do", "Done"), shelf="completed")
    hand.write(2, CARD.replace("To Do", "Done"), shelf="completed")
    hand.write(1, shelf="archive/tasks")
    hand.write(2, shelf="archive/tasks")
    board = hand.open()
    assert {key: item.state for key, item in board.get_items(["TASK-1", "TASK-2"]).items()} == {
        "TASK-1": "In Progress",
        "TASK-2": "Done",
    }
    assert [item.id for item in listed(board, "Done")] == ["TASK-2"]


def test_an_id_that_stands_twice_on_the_board_is_not_dispatched(hand: Hand):
    """Nobody knows which one is meant: the reason names both files, so that a person can mend one."""
    hand.write(1, name="One")
    hand.write(1, name="Other")
    hand.write(2)
    board = hand.open()
    assert [item.id for item in listed(board)] == ["TASK-2"]
    assert "tasks/task-1 - One.md and tasks/task-1 - Other.md" in malformed(board)["TASK-1"]
    assert malformed(board, "In Review") == {}
    assert fault_of(lambda: board.get_items(["TASK-1"])) is TrackerFault.PAYLOAD


def test_a_broken_card_is_not_replaced_by_its_archived_copy(hand: Hand):
    """The one that counts cannot be read: its older twin must not speak for it."""
    hand.write(1, "broken")
    hand.write(1, shelf="completed")
    assert listed(hand.open()) == []
    assert set(malformed(hand.open())) == {"TASK-1"}


@pytest.mark.proves("CS-09")
def test_only_a_card_of_the_board_can_unblock(hand: Hand):
    """Old prefixes, archived cards and broken ones are missing, and what is missing blocks; a bare number is ours."""
    hand.write(2, CARD.replace("To Do", "Done"), shelf="completed")
    hand.write(3, CARD.replace("To Do", "Done"), shelf="archive/tasks")
    hand.write(4, "broken")
    named = "[task-02, back-2, TASK-3, task-4, '2']"
    hand.write(1, CARD.replace("dependencies: []", f"dependencies: {named}"))
    for item in (listed(hand.open())[0], hand.open().get_items(["TASK-1"])["TASK-1"]):
        assert [(blocker.id, blocker.state) for blocker in item.blocked_by] == [
            ("TASK-2", "Done"),
            ("BACK-2", None),
            ("TASK-3", None),
            ("TASK-4", None),
            ("TASK-2", "Done"),
        ]


@pytest.mark.proves("TE-05")
@pytest.mark.parametrize(("word", "rank"), [("high", 1), ("Medium", 2), ("low", 3), ("whenever", None), ("", None)])
def test_a_priority_is_its_place_among_the_words(hand: Hand, word: str, rank: int | None):
    """1 is first; an unknown word is none."""
    hand.write(1, CARD.replace("priority: high", f"priority: {word}"))
    assert listed(hand.open())[0].priority == rank


def test_a_board_with_words_of_its_own_ranks_by_them(tmp_path: Path):
    """The order in the config is the order of urgency."""
    hand = Hand(tmp_path, f"{CONFIG}priorities: [Now, High]\n")
    hand.write(1)
    assert listed(hand.open())[0].priority == 2
