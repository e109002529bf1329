"""Two workflows on one installation: neither takes all the slots, and together they stay below the fleet's cap."""

from dataclasses import replace

import pytest

from orchestrator.engine import reconcile
from orchestrator.ports.store import WorkflowRow
from orchestrator.store.open import open_store
from tests.memory.workflows import CONTRACT, workflow


def active_in(*states):
    """A workflow that is active in these states only, and moves nothing before its turn's end."""
    return workflow(replace(CONTRACT, active=states, in_progress=None))


def second(world):
    """Put a second workflow in force beside the world's own: it takes what stands in Rework."""
    world.bodies["other body"] = replace(active_in("Rework"), name="other")
    row = WorkflowRow("other", 0, "digest", "other body", "other/WORKFLOW.md", "memory:world")
    world.store.workflows.publish(row, interval_ms=30_000)


def ring_out(world):
    """Ring until no tick is due."""
    for _ in range(6):
        world.tick(full=False)


def asked(world, card):
    """The one answer that a person gets, though both workflows looked at the card."""
    (told,) = world.store.queries.explain(card)
    return told.wait.reason


@pytest.fixture
def full(stage):
    """Two slots, both taken from a column with ten cards."""
    world = stage.world(slots=2, workflow=active_in("Todo"))
    second(world)
    for number in range(10):
        world.add(f"A-{number}")
    world.tick()
    world.tick()
    assert world.one("select count(*) from turn where status = 'queued'") == 2
    return world


@pytest.mark.proves("CS-17")
def test_a_long_column_starves_no_short_one(full):
    """One card of the other workflow waits; the next slot is its own, though the long column's tick comes first."""
    full.add("R-1", state="Rework")
    full.tick()
    ring_out(full)
    assert asked(full, "R-1") == "no_worker_slot"
    full.deliver_one(*full.queue.take())
    ring_out(full)
    opened = full.rows(
        "select workflow, count(*) from turn where status in ('queued', 'running') group by 1 order by 1"
    )
    assert opened == [("other", 1), ("world", 1)]


def test_a_workflow_that_cannot_read_its_board_keeps_no_slot_idle(full):
    """Its cards wait for a worker in our records still, and the other one goes on with both slots."""
    full.add("R-1", state="Rework")
    full.tick()
    full.tick()
    full.store.slow.change("""update reconciler set report = '{"fault": "503"}' where workflow = 'other'""")
    full.deliver_one(*full.queue.take())
    full.jump(1.0)
    reconcile.ring(full.process.ports, "world", full=True)
    assert full.rows("select workflow, count(*) from turn where status = 'queued' group by 1") == [("world", 2)]


@pytest.mark.proves("CS-06")
def test_the_fleets_cap_holds_over_all_workflows(stage):
    """Ten worker slots, a cap of three: three turns, the rest waits, and a plan that is too old is refused too."""
    world = stage.world(slots=10, workflow=active_in("Todo"))
    second(world)
    world.store = open_store(stage.database_url, max_turns=3)
    world.store.set_offset(world.clock.offset_seconds)
    world.process = world.hire()
    for number in range(4):
        world.add(f"A-{number}")
        world.add(f"R-{number}", state="Rework")
    ring_out(world)
    world.tick()
    world.tick()
    assert world.one("select count(*) from turn") == 3
    assert {asked(world, card) for card in ("A-3", "R-3")} == {"no_worker_slot"}
    world.deliver()
    ring_out(world)
    world.tick()
    assert world.one("select count(*) from turn where status = 'queued'") == 3
    world.store.close()
