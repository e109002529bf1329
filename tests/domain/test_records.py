"""What the records tell about themselves: what is going on, and which cap slots are taken."""

from tests.domain.worlds import board, held, item, queued, records, row, running, waiting


def test_only_what_something_is_going_on_with_is_live():
    """A turn, a task or a hold; a row that only remembers its fence and version is not looked at one by one."""
    ours = records(row("A-1"), queued("A-2"), running("A-3"), waiting("A-4"), held("A-5"))
    assert [record.id for record in ours.live()] == ["A-2", "A-3", "A-4", "A-5"]


def test_a_cap_slot_is_an_open_turn():
    """Queued and running turns take one, flagged ones until they are known to be over; others take none."""
    ours = records(queued("A-1"), running("A-2"), running("A-3", flagged=True), waiting("A-4"), held("A-5"))
    assert ours.open_turns() == 3


def test_a_slot_is_counted_where_the_board_shows_the_item():
    """Folded, on the board as just read; where the board was not read, as it was last seen."""
    ours = records(running("A-1", state="Todo"), running("A-2", state="Todo"), queued("A-3", state=" REWORK"))
    look = board(item("A-1", "In Progress"), item("A-9", "Todo"))
    assert ours.open_turns_by_state(look) == {"in progress": 1, "todo": 1, "rework": 1}
