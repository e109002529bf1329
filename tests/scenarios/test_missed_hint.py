"""Nobody tells us anything: the board is read again, and that is enough."""

import pytest

from orchestrator.domain.turn import Outcome


@pytest.mark.proves("H20")
def test_a_card_is_worked_on_without_any_hint(world):
    """A card that nobody announced goes from its column to review, once."""
    world.add("A-1")
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert [run.event for run in world.agents.log] == ["start", "done"]


@pytest.mark.proves("FS-52", "CS-15")
def test_a_card_that_is_closed_in_its_backoff_stays_closed(world):
    """Between two turns nobody is told that the card was closed; the retry finds out."""
    world.add("A-1")
    world.script("A-1", Outcome.FAILED)
    world.tick()
    world.deliver()
    world.close("A-1")
    world.run_until_quiet()
    assert world.state("A-1") == "Done"
    assert world.rows("select status, stop_reason from task") == [("cancelled", "terminal_seen")]
    assert [run.event for run in world.agents.log] == ["start", "failed"]


def test_a_broker_that_is_down_costs_only_time(world):
    """What could not be published is published by a later tick, as the same turn."""
    world.add("A-1")
    world.queue.down = True
    world.tick()
    assert world.reason("A-1") == "publish_failed"
    world.queue.down = False
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert world.rows("select fence, attempt from turn") == [(1, 1)]
