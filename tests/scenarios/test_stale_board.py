"""A listing that lags behind its own board: what it shows is checked by id before anything starts."""

import itertools
from dataclasses import replace
from datetime import timedelta

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


def looks_back(world, *, at_call, to):
    """The look by id with that number shows the card in a state that it had before, under the stamp of then."""
    calls = itertools.count(1)
    then = world.board.item("A-1").updated_at - timedelta(hours=1)
    honest = MemoryTracker.get_items

    def found(tracker, ids):
        items = honest(tracker, ids)
        if "A-1" not in ids or next(calls) not in at_call:
            return items
        return {**items, "A-1": replace(items["A-1"], state=to, updated_at=then)}

    return found


@pytest.mark.proves("TW-01", "TW-05")
def test_a_turn_whose_card_is_shown_as_it_was_is_handed_back(world, monkeypatch):
    """Twice at its start: no agent begins, nothing is counted, and the next turn finishes it."""
    world.add("A-1")
    monkeypatch.setattr(MemoryTracker, "get_items", looks_back(world, at_call={2, 3}, to="In Progress"))
    world.run_until_quiet()
    turns = world.rows("select status, stop_reason, attempt from turn order by fence")
    assert turns == [("cancelled", "read_failed", 1), ("succeeded", "done", 1)]
    assert world.state("A-1") == "In Review"
    assert [run.event for run in world.agents.log] == ["start", "done"]


@pytest.mark.proves("TW-01", "TW-05")
def test_an_old_look_at_the_end_does_not_take_finished_work_for_moved_away(world, monkeypatch):
    """The copy shows the card closed, as it was before somebody opened it again; it is handed off all the same."""
    world.add("A-1")
    monkeypatch.setattr(MemoryTracker, "get_items", looks_back(world, at_call={3, 4}, to="Done"))
    world.run_until_quiet()
    assert world.rows("select status, stop_reason from turn") == [("succeeded", "done")]
    assert world.state("A-1") == "In Review"


@pytest.mark.proves("CS-14")
def test_a_plan_newer_than_the_look_before_its_start_waits_for_the_next_tick(world, monkeypatch):
    """The listing shows the card where a person put it, and the copy that answers by id does not know yet."""
    world.add("A-1")
    monkeypatch.setattr(MemoryTracker, "get_items", looks_back(world, at_call={1, 2}, to="In Progress"))
    world.tick()
    assert world.reason("A-1") == "read_failed"
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
