"""The broker delivers twice, late, or something that never was: one delivery gets the turn."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from orchestrator.engine import turn


@pytest.mark.proves("H4", "FS-04", "CL-03")
def test_of_eight_deliveries_of_one_message_one_runs(world):
    """All at once, by eight threads: one agent starts."""
    world.add("A-1")
    world.tick()
    turn_id, fence = world.queue.take()
    process = world.process
    process.worker.turns.open(8)
    with ThreadPoolExecutor(8) as pool:
        took = list(
            pool.map(lambda _: turn.take_turn(process.ports, process.worker, turn_id=turn_id, fence=fence), range(8))
        )
    assert sum(conclusion is not None for conclusion in took) == 1
    assert [run.event for run in world.agents.log] == ["start", "done"]


@pytest.mark.proves("FS-04")
def test_a_message_delivered_during_its_own_run_does_nothing(world):
    """The second delivery ends at admission."""
    world.add("A-1")
    world.agents.during = lambda order: world.deliver_one(order.turn_id, order.fence)
    world.run_until_quiet()
    assert [run.event for run in world.agents.log] == ["start", "done"]


@pytest.mark.proves("FS-62")
def test_a_message_delivered_an_hour_late_does_nothing(world):
    """The turn is over; its message, delivered again, starts nothing and writes nothing."""
    world.add("A-1")
    world.run_until_quiet()
    world.jump(3600)
    before = world.fingerprint()
    for message in world.queue.published:
        assert world.deliver_one(*message) is None
    assert world.deliver_one(uuid4(), 1) is None
    assert world.fingerprint() == before
