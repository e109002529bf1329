"""A listing that lags behind its own board: what it shows is checked by id before anything starts."""

from dataclasses import replace

import pytest

from orchestrator.ports.tracker import Page
from orchestrator.trackers.memory import MemoryTracker


@pytest.fixture
def lagging(world, monkeypatch):
    """From now on every listing shows the cards in Todo, wherever they stand."""

    def listed(tracker, _states):
        yield Page(tuple(replace(tracker.board.item(card), state="Todo") for card in tracker.board.ids()))

    monkeypatch.setattr(MemoryTracker, "list_items", listed)
    return world


@pytest.mark.proves("H14", "CS-14")
def test_a_listing_older_than_our_own_move_starts_nothing(lagging):
    """The card is in review and the listing says Todo for ever: one run, and the reason why there is no second one."""
    lagging.add("A-1")
    lagging.run_until_quiet()
    lagging.tick()
    assert lagging.state("A-1") == "In Review"
    assert [run.event for run in lagging.agents.log] == ["start", "done"]
    assert lagging.reason("A-1") == "changed_on_reread"


@pytest.mark.proves("CS-14")
def test_a_card_that_was_closed_before_the_listing_is_not_started(lagging):
    """The page is old; the look right before the start is not."""
    lagging.add("A-1")
    lagging.close("A-1")
    lagging.run_until_quiet()
    assert lagging.agents.log == []
    assert lagging.one("select count(*) from turn") == 0


@pytest.mark.proves("H14", "RC-04")
def test_a_card_that_left_and_came_back_between_two_looks_goes_on(world):
    """Nobody saw it leave: the run under way is not stopped, and finishes once."""
    world.add("A-1")
    world.agents.during = lambda _turn: (world.drag("A-1", "Backlog"), world.drag("A-1", "Todo"), world.tick())
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert [run.event for run in world.agents.log] == ["start", "done"]
