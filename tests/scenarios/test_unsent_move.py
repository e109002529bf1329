"""While a move of ours is not settled its card does not start again; a move that never comes back blocks nothing."""

import pytest

from orchestrator.domain.turn import Outcome


@pytest.mark.proves("H14")
def test_a_card_whose_move_is_unsent_does_not_start_again(world):
    """The hand-off waits in the outbox and the card still says Todo: it has its reason, and no second run."""
    world.add("A-1")
    world.tick()
    world.deliver()
    for _ in range(3):
        world.tick()
    assert world.reason("A-1") == "unsent_move"
    assert world.one("select count(*) from turn") == 1


@pytest.mark.proves("H14")
def test_a_person_may_move_the_card_before_anybody_saw_it_in_review(world):
    """No tick ever sees our state; the card is dispatchable all the same once the move is settled."""
    world.add("A-1")
    world.tick()
    world.deliver()
    world.relay()
    world.drag("A-1", "Todo")
    world.tick()
    assert world.one("select count(*) from turn where status = 'queued'") == 1


@pytest.mark.proves("H14")
def test_a_suppressed_move_counts_as_settled(world):
    """A person put the card elsewhere, so our move is never made; back in Todo the card starts anew."""
    world.add("A-1")
    world.tick()
    world.deliver()
    world.drag("A-1", "Backlog")
    world.relay()
    assert ("move", "suppressed") in world.rows("select act, status from outbox")
    world.drag("A-1", "Todo")
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert [run.event for run in world.agents.log] == ["start", "done", "start", "done"]


@pytest.mark.proves("H16")
def test_our_own_late_move_does_not_lift_a_hold(world):
    """The in-progress move of a blocked turn was still waiting: it is withdrawn, and nobody takes it for a person."""
    world.add("A-1")
    world.script("A-1", Outcome.BLOCKED, reason="which database?")
    world.tick()
    world.deliver()
    world.run_until_quiet()
    assert ("move", "withdrawn") in world.rows("select act, status from outbox")
    assert world.rows("select kind from hold where lifted_at is null") == [("blocked",)]
    assert world.one("select count(*) from turn") == 1


@pytest.mark.proves("H16", "CL-09")
def test_our_own_sent_move_does_not_lift_a_hold(world):
    """The card went to In Progress before the turn was blocked: that was us."""
    world.add("A-1")
    world.script("A-1", Outcome.BLOCKED, reason="which database?")
    world.agents.during = lambda _turn: world.relay()
    world.run_until_quiet()
    assert world.state("A-1") == "In Progress"
    assert world.reason("A-1") == "held_item"
    assert world.one("select count(*) from turn") == 1
