"""Ten cards, two slots: waiting for a slot costs no attempt, opens no second turn and fills no queue."""

import pytest

from tests.world import LEASE_SECONDS


@pytest.mark.proves("H3", "RT-07")
def test_a_long_wait_for_a_slot_costs_no_attempt(stage):
    """Leases run out many times over while turns wait; ten turns are opened for ten cards, each as attempt 1."""
    world = stage.world(slots=2)
    for number in range(1, 11):
        world.add(f"A-{number}")
    for _ in range(12):
        world.tick()
        for message in world.queue.waiting[:2]:
            world.queue.waiting.remove(message)
            world.deliver_one(*message)
        world.relay()
        world.jump(LEASE_SECONDS * 2)
    world.run_until_quiet()
    assert {world.state(f"A-{number}") for number in range(1, 11)} == {"In Review"}
    assert world.rows("select count(*), max(fence) as fence, max(attempt) as attempt from turn") == [(10, 1, 1)]


@pytest.mark.proves("H3", "CS-17")
def test_no_more_is_enqueued_than_workers_can_take(stage):
    """The tick counts the free slots of live workers; the other cards say that none is free."""
    world = stage.world(slots=2)
    for number in range(1, 11):
        world.add(f"A-{number}")
    world.tick()
    assert len(world.queue.waiting) == 2
    assert world.rows("select count(*) from wait where reason = 'no_worker_slot'") == [(8,)]


@pytest.mark.proves("H3")
def test_a_full_worker_drops_the_message_and_keeps_the_turn(stage):
    """A hint that finds no slot is gone, the row stays queued, and a later tick sends the same turn again."""
    world = stage.world(slots=1)
    world.add("A-1")
    world.tick()
    world.process.worker.turns.open(0)
    world.deliver()
    assert world.rows("select status, attempt from turn") == [("queued", None)]
    world.process.worker.turns.open(1)
    world.run_until_quiet()
    assert world.rows("select fence, attempt, status from turn") == [(1, 1, "succeeded")]
