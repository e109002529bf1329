"""A card that is missing once may be a truncated page; only the second separate look is believed."""

import pytest

from orchestrator.trackers.memory import MemoryTracker


def hide(monkeypatch, card):
    """From now on the board's answers leave the card out."""
    get_items, list_items = MemoryTracker.get_items, MemoryTracker.list_items

    def listed(tracker, states):
        for page in list_items(tracker, states):
            yield type(page)(tuple(item for item in page.items if item.id != card), page.malformed)

    def got(tracker, ids):
        return {key: item for key, item in get_items(tracker, ids).items() if key != card}

    monkeypatch.setattr(MemoryTracker, "list_items", listed)
    monkeypatch.setattr(MemoryTracker, "get_items", got)


@pytest.mark.proves("RC-05", "FS-28")
def test_one_missing_look_stops_nothing(world, monkeypatch):
    """The turn goes on, and once the card is seen again the absence is forgotten."""
    world.add("A-1")
    world.tick()
    with monkeypatch.context() as hidden:
        hide(hidden, "A-1")
        world.tick()
    assert world.one("select absences from item") == 1
    world.tick()
    assert world.one("select absences from item") == 0
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert world.one("select count(*) from turn") == 1


@pytest.mark.proves("RC-05")
def test_a_deleted_card_is_believed_the_second_time(world):
    """The agent of a card that was deleted is stopped after two looks, and nothing is left open."""
    world.add("A-1")
    world.agents.during = lambda _turn: (world.delete("A-1"), world.tick(), world.tick())
    world.run_until_quiet()
    assert [run.event for run in world.agents.log] == ["start", "stopped:not_visible"]
    assert world.rows("select status, stop_reason from task") == [("cancelled", "not_visible")]


@pytest.mark.proves("RC-06")
def test_a_board_that_cannot_be_read_stops_nothing(world):
    """A record that is broken fails the look: that is neither gone nor fine."""
    world.add("A-1")
    world.tick()
    world.board.spoil("A-1", "no title")
    for _ in range(3):
        world.tick()
    assert world.rows("select status, cancel from turn") == [("queued", None)]
