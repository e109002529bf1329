"""Two ticks overlap: the later one acts on what it read before, and is refused by the version."""

import pytest

from orchestrator.engine import reconcile
from orchestrator.ports.store import TickGrant
from tests.faults.faults import another_tick_begins
from tests.faults.tripwire import Tripwire
from tests.memory.workflows import workflow


@pytest.mark.proves("H1", "CL-03")
@pytest.mark.parametrize("where", ["items.records", "tracker.get_items", "leases.take", "items.open_turns"])
def test_finished_work_is_not_started_again_by_a_late_tick(stage, where):
    """One tick pauses; another opens the turn, a worker finishes it; the late tick's own opening is refused."""
    wire = Tripwire()
    world = stage.world(wrap=wire.wrap)
    wire.world = world
    world.add("A-1")
    wire.at(where, another_tick_begins)
    world.tick()
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert [run.event for run in world.agents.log] == ["start", "done"]
    assert world.one("select count(*) from turn") == 1


@pytest.mark.proves("H20")
def test_two_ticks_that_ring_at_once_are_one(world):
    """The second finds the first at work and begins nothing."""
    world.jump(1)
    world.store.reconciler.request("world", listing=True)
    first = world.store.reconciler.begin(None)
    assert isinstance(first, TickGrant)
    assert reconcile.ring(world.process.ports, full=True) is None
    world.store.reconciler.finish(first, {})
    assert world.tick() is not None


@pytest.mark.proves("H13", "CL-03")
def test_two_ticks_do_not_exceed_the_cap_together(stage):
    """Each saw one free slot, and another card: the counter on the workflow's row lets one in."""
    wire = Tripwire()
    world = stage.world(workflow=workflow(max_concurrent=1), wrap=wire.wrap)
    wire.world = world
    world.add("A-1")

    def a_more_urgent_card_arrives(call):
        def meanwhile(others):
            others.add("A-0", priority=1)
            others.jump(11)
            others.hire()
            others.tick()

        call.meanwhile(meanwhile)
        return call.do()

    wire.at("items.open_turns", a_more_urgent_card_arrives)
    world.tick()
    assert world.one("select open_turns from workflow") == 1
    assert world.one("select count(*) from turn where status in ('queued', 'running')") == 1
    assert world.reason("A-1") == "no_slot_total"
