"""Writes of one card reach it in the order in which they were decided; another card's trouble does not hold them up."""

import pytest

from orchestrator.domain.turn import Outcome
from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.trackers.memory import MemoryTracker


@pytest.mark.proves("H17")
def test_a_card_says_in_progress_before_it_says_in_review(world):
    """The board's history has both, in that order, when the relay runs during the run."""
    world.add("A-1")
    world.agents.during = lambda _turn: world.relay()
    world.run_until_quiet()
    assert [move.to for move in world.board.history if move.actor == "stationkeeper"] == ["In Progress", "In Review"]


@pytest.mark.proves("H15", "H17")
def test_moves_that_nobody_sent_collapse_to_the_last(world):
    """A relay that was away for the whole run makes one move and one comment."""
    world.add("A-1")
    world.script("A-1", Outcome.CONTINUE)
    world.tick()
    world.deliver()
    world.jump(2)
    world.run_until_quiet()
    assert [move.to for move in world.board.history if move.actor == "stationkeeper"][-1] == "In Review"
    assert len(world.board.said("A-1")) == 1


@pytest.mark.proves("H18")
def test_a_card_that_cannot_be_written_to_blocks_no_other(world, monkeypatch):
    """One card's tracker calls fail; the other card is handed off."""
    get_items = MemoryTracker.get_items

    def fails_for_one(tracker, ids):
        if "A-1" in ids:
            raise TrackerError(TrackerFault.API, "503")
        return get_items(tracker, ids)

    world.add("A-1")
    world.add("A-2")
    world.tick()
    world.deliver()
    monkeypatch.setattr(MemoryTracker, "get_items", fails_for_one)
    world.relay()
    world.relay()
    assert (world.state("A-1"), world.state("A-2")) == ("Todo", "In Review")
    monkeypatch.undo()
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
