"""A person closes the card while its agent works: terminal wins, whoever notices first."""

import pytest


@pytest.mark.proves("FS-17", "TW-02", "RC-02")
def test_the_tick_stops_the_agent_of_a_closed_card(world):
    """A tick that sees the closed card flags the turn; its agent is stopped and nothing but that is told."""
    world.add("A-1")
    world.agents.during = lambda _turn: (world.relay(), world.close("A-1"), world.tick())
    world.run_until_quiet()
    assert world.state("A-1") == "Done"
    assert [run.event for run in world.agents.log] == ["start", "stopped:terminal_seen"]
    assert world.rows("select status, stop_reason from turn") == [("cancelled", "terminal_seen")]
    assert [comment.body for comment in world.board.said("A-1")] == ["Turn 1 was stopped: the card was closed."]


@pytest.mark.proves("FS-17", "TW-01", "TW-02")
def test_a_closed_card_is_never_pulled_back_into_review(world):
    """The agent finishes without anybody having noticed: the conclusion reads the card again and writes no move."""
    world.add("A-1")
    world.agents.during = lambda _turn: world.close("A-1")
    world.run_until_quiet()
    assert world.state("A-1") == "Done"
    assert world.rows("select status, stop_reason from task") == [("succeeded", "terminal_seen")]
    assert [move.actor for move in world.board.history] == ["person", "person"]


@pytest.mark.proves("TW-01", "H15")
def test_a_card_closed_after_the_conclusion_is_left_alone(world):
    """The hand-off waits in the outbox when the person closes the card: it is suppressed at the last moment."""
    world.add("A-1")
    world.tick()
    world.deliver()
    world.close("A-1")
    world.relay()
    world.run_until_quiet()
    assert world.state("A-1") == "Done"
    assert ("move", "suppressed") in world.rows("select act, status from outbox")
