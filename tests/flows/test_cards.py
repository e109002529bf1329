"""A flow's task that belongs to a card: whoever closes the card stops its effects, also before any tick sees it."""

import pytest

from orchestrator.engine import reconcile
from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.trackers.memory import MemoryTracker

OURS = "starts_with(workflow, 'flow:')"


@pytest.fixture
def world(flow_world):
    """A world with a card on its board that was seen once."""
    world = flow_world()
    world.add("A-1")
    reconcile.ring(world.process.ports, "world", full=True)
    return world


def start(world):
    """A refund that belongs to the card."""
    card = world.one("select key from item where identifier = 'A-1'")
    assert card is not None
    return world.start(card_key=card)


def ended(world):
    """How the refund stands, and why."""
    return world.rows(f"select status, stop_reason from task where {OURS}")[0]


def go(world):
    """One tick of the flow, and what it opened."""
    world.tick()
    world.deliver()


@pytest.mark.proves("H22")
def test_a_card_that_was_closed_lets_no_effect_begin(world):
    """The person closed it after the last listing: nothing is paid, and the task says why."""
    start(world)
    world.board.close("A-1")
    go(world)
    assert world.paid() == []
    assert ended(world) == ("cancelled", "terminal_seen")


@pytest.mark.proves("H22")
def test_an_open_card_lets_its_effects_happen(world):
    """Once."""
    start(world)
    go(world)
    assert (len(world.paid()), ended(world)[0]) == (1, "succeeded")


@pytest.mark.proves("H22")
def test_a_card_that_cannot_be_read_lets_nothing_happen_until_it_can(world, monkeypatch):
    """Fail-closed, and nobody's failure: it is tried again, and counts as no attempt."""
    start(world)

    def away(_tracker, _ids):
        raise TrackerError(TrackerFault.TRANSPORT, "no answer")

    with monkeypatch.context() as patch:
        patch.setattr(MemoryTracker, "get_items", away)
        go(world)
    assert (world.paid(), ended(world)[0]) == ([], "running")
    assert "could not be read" in world.one(f"select reason from task where {OURS}")
    world.jump(31.0)
    go(world)
    assert (len(world.paid()), ended(world)[0]) == (1, "succeeded")


@pytest.mark.proves("H22")
def test_a_card_that_is_gone_asks_a_person(world):
    """Nobody says whether the work is still wanted; one read that misses it is not believed."""
    start(world)
    world.board.delete("A-1")
    go(world)
    assert world.paid() == []
    ((kind, reason),) = world.rows("select kind, reason from hold where lifted_at is null")
    assert (kind, "not on the board any more" in reason) == ("blocked", True)
