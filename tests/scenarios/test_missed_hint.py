"""Nobody tells us anything: the board is read again, and that is enough."""

import pytest


@pytest.mark.proves("H20")
def test_a_card_is_worked_on_without_any_hint(world):
    """A card that nobody announced goes from its column to review, once."""
    world.add("A-1")
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert [run.event for run in world.agents.log] == ["start", "done"]
