"""What a turn tells the card: facts, in one status comment and at most one comment a hold."""

import pytest

from orchestrator.domain.turn import Outcome


def bodies(world):
    """What stands on the card from us."""
    return [comment.body for comment in world.board.said("A-1")]


@pytest.mark.proves("TW-09")
def test_the_card_says_that_a_turn_runs(world):
    """While the agent works, with nothing about the work."""
    world.add("A-1")
    seen = []
    world.agents.during = lambda _turn: (world.relay(), seen.extend(bodies(world)))
    world.tick()
    world.deliver()
    assert [body.splitlines()[0] for body in seen] == ["Turn 1 is running."]


@pytest.mark.proves("TW-09", "TW-10")
def test_a_failed_turn_says_when_it_is_tried_again(world):
    """The same comment, edited."""
    world.add("A-1")
    world.script("A-1", Outcome.FAILED, reason="tests are red")
    world.tick()
    world.deliver()
    world.relay()
    (body,) = bodies(world)
    assert body.startswith("Turn 1 did not finish (agent failed); tried again from ")
    assert "tests are red" in body


@pytest.mark.proves("TW-09", "CL-09")
def test_a_hold_has_one_comment_with_the_way_out(world):
    """Why, and what a person can do."""
    world.add("A-1")
    world.script("A-1", Outcome.BLOCKED, reason="which database?")
    world.run_until_quiet()
    status, hold = bodies(world)
    assert status.startswith("Turn 1 ended and the card is held (blocked).")
    assert "which database?" in hold
    assert "Move the card to another column" in hold


@pytest.mark.proves("TW-08")
def test_a_card_that_is_in_progress_already_is_not_moved_there(world):
    """The first write is the comment alone."""
    world.add("A-1", state="In Progress")
    world.run_until_quiet()
    assert [move.to for move in world.board.history if move.actor == "stationkeeper"] == ["In Review"]
