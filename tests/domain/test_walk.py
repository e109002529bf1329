"""The slow look at a whole board: when it goes on, what it remembers, what a listing leaves to it."""

from datetime import UTC, datetime, timedelta

from orchestrator.domain import walk
from orchestrator.domain.item import Item
from orchestrator.domain.records import Board, ItemRecord, Malformed, Records
from orchestrator.domain.walk import Walk

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MINUTE_MS = 60_000


def later(minutes):
    """So long after noon."""
    return NOON + timedelta(minutes=minutes)


def test_a_round_goes_on_with_each_listing_and_the_next_one_waits():
    """A card that was added in mid-round may have been missed: what was seen whole is the board of its beginning."""
    came = Walk("board")
    assert came.is_due(NOON, 10 * MINUTE_MS)
    came = came.gone_on(NOON, "50")
    assert (came.is_due(NOON, 10 * MINUTE_MS), came.whole_at) == (True, None)
    came = came.gone_on(later(3), None)
    assert (came.began_at, came.behind, came.whole_at) == (None, None, NOON)
    assert [came.is_due(later(minutes), 10 * MINUTE_MS) for minutes in (3, 9, 10)] == [False, False, True]
    again = came.gone_on(later(10), "50")
    assert (again.began_at, again.whole_at, again.is_due(later(11), 10 * MINUTE_MS)) == (later(10), NOON, True)


def test_what_is_kept_of_it_is_read_as_it_was_written():
    """And nothing kept is a board that nobody has looked at."""
    for came in (Walk("board"), Walk("board", NOON, "2:7", later(-9)), Walk("board", whole_at=NOON)):
        assert walk.of_row(came.as_row()) == came
    assert walk.of_row(None) == Walk()


def test_a_listing_says_nothing_of_cards_in_other_columns():
    """Those that it should have shown have left; those that it shows, or that are gone, are its own matter."""
    waits = {
        "done": "not_active: Done",
        "torn": "malformed: no title",
        "slot": "no_slot_total",
        "back": "not_active: X",
    }
    waits |= {"gone": "not_active: Done", "torn here": "malformed: no status"}
    ours = {item_id: ItemRecord(1, item_id, item_id, 1, 1) for item_id in ("ended", "runs")}
    items = {item_id: Item(item_id, item_id, "", "To Do") for item_id in ("back", "runs")}
    board = Board(items, NOON, frozenset({"gone"}), (Malformed("torn here", "no status"),))
    records = Records(ours, waits=waits)
    kept = walk.kept(records, board)
    assert kept == {"done", "torn"}
    assert walk.left(records, board, kept) == ("ended", "slot")
