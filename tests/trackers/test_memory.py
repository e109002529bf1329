"""The board in memory beyond the door's suite: whose hand did what, and which boards are one."""

from orchestrator.domain.item import Item
from orchestrator.trackers import memory


def test_the_history_tells_who_moved_what():
    """A simulation asks afterwards whether a person's move was ever overwritten."""
    board = memory.MemoryBoard()
    board.add(Item("A-1", "A-1", "Mend the pump", "To Do"))
    memory.MemoryTracker(board).move("A-1", "In Progress", only_from=["To Do"], revision=None)
    board.close("A-1")
    board.delete("A-1")
    assert [(move.actor, move.came_from, move.to) for move in board.history] == [
        (memory.PERSON, None, "To Do"),
        (memory.US, "To Do", "In Progress"),
        (memory.PERSON, "In Progress", "Done"),
        (memory.PERSON, "Done", None),
    ]


def test_one_key_names_one_board_in_a_process():
    """Workers on threads meet on the same board; without a key each connection has its own."""
    memory.board("shared").add(Item("A-1", "A-1", "Mend the pump", "To Do"))
    assert set(memory.connect({"board": "shared"}).get_items(["A-1"])) == {"A-1"}
    assert memory.connect({}).get_items(["A-1"]) == {}


def test_a_board_may_have_states_of_its_own():
    """The option replaces the usual four."""
    assert memory.connect({"states": ["Open", "Closed"]}).states() == ("Open", "Closed")


def test_a_person_edits_labels_without_moving_the_card():
    """Labels are folded as everywhere, and the card gets another revision."""
    board = memory.MemoryBoard()
    board.add(Item("A-1", "A-1", "Mend the pump", "To Do", labels=("agent",)))
    seen = board.item("A-1")
    board.edit("A-1", labels=("Urgent ", "urgent"))
    assert board.item("A-1").labels == ("urgent",)
    assert board.item("A-1").revision != seen.revision
    assert board.item("A-1").state == "To Do"
