"""Cards begin in groups; on a board that answers slowly a card does not wait for its neighbours' re-reads."""

import pytest

from orchestrator.trackers.memory import MemoryTracker
from tests.faults.tripwire import Tripwire


def opened_in(stage, patch, *, seconds):
    """How many commits the turns of three cards are opened in, where each look at a card takes so long."""
    wire = Tripwire()
    world = stage.world(wrap=wire.wrap)
    wire.world = world
    for number in range(3):
        world.add(f"A-{number}")
    look = MemoryTracker.get_items

    def slowly(tracker, ids):
        world.jump(seconds)
        return look(tracker, ids)

    patch.setattr(MemoryTracker, "get_items", slowly)
    world.tick()
    assert world.one("select count(*) from turn") == 3
    return wire.calls.count("items.open_turns")


def test_cards_of_a_quick_board_begin_together(stage, monkeypatch):
    """One commit for the three of them."""
    assert opened_in(stage, monkeypatch, seconds=0.0) == 1


@pytest.mark.proves("CS-14")
def test_a_card_of_a_slow_board_is_opened_right_after_its_own_re_read(stage, monkeypatch):
    """Each look takes a second: nobody's re-read is older than that when its turn is opened."""
    assert opened_in(stage, monkeypatch, seconds=1.0) == 3
