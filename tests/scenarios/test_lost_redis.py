"""FLUSHALL: Redis carries hints, so nothing is lost, doubled or stopped."""

from uuid import uuid4

import pytest

from orchestrator.domain import keys
from orchestrator.ports.leases import Claim


@pytest.mark.proves("H2", "CL-06")
def test_flushing_redis_stops_no_agent_and_doubles_none(world):
    """Every key vanishes while three agents' turns are under way; each runs on and finishes once."""
    for number in (1, 2, 3):
        world.add(f"A-{number}")

    def flush(_turn):
        world.flush_redis()
        world.tick()

    world.tick()
    messages = list(world.queue.waiting)
    world.agents.during = flush
    for message in messages:
        world.deliver_one(*message)
    world.run_until_quiet()
    assert {world.state(f"A-{number}") for number in (1, 2, 3)} == {"In Review"}
    assert [run.event for run in world.agents.log] == ["start", "done"] * 3


@pytest.mark.proves("H2", "CL-11")
def test_a_message_that_is_lost_is_sent_again_as_the_same_turn(world):
    """The queued turn keeps its fence; no second one is opened for it."""
    world.add("A-1")
    world.tick()
    world.flush_redis()
    world.jump(11)
    world.tick()
    assert len(set(world.queue.published)) == 1
    world.run_until_quiet()
    assert world.rows("select fence, attempt from turn") == [(1, 1)]


def test_a_lease_that_somebody_else_holds_only_makes_us_skip(world):
    """The card waits with its reason, and goes on once the lease has run out."""
    world.add("A-1")
    world.leases.take([Claim(keys.lease_key("memory:world", "A-1"), uuid4(), 99)], seconds=30)
    world.tick()
    assert world.reason("A-1") == "redis_lease_taken"
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
