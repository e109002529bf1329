"""A worker's beat: who is there, and a listing for whoever waits for a slot that it has."""

from uuid import uuid4

import pytest

from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.ports.store import WorkerRow


def beat(scene, *, busy):
    """One beat of a worker with three slots."""
    scene.store.workers.beat(WorkerRow(uuid4(), "host-b", "boot-1", 1, slots=3, busy=busy, queues=("turns",)))


def wait_for(scene, reason):
    """An item is left out of a tick for this reason."""
    waits = {"x-1": Wait(reason)}
    scene.store.items.save_waits("demo", waits, identifiers={"x-1": "X-1"}, whole=True, known=scene.records().waits)


def listing_is_due(scene):
    """Whether a ring right after the small gap between two listings would list the board."""
    scene.store.set_offset(1)
    grant = scene.store.reconciler.begin("demo")
    return grant is not None and grant.listing


def test_a_free_slot_brings_the_item_that_waits_for_one_forward(scene):
    """Otherwise it would wait for the next polling interval, whoever became free meanwhile."""
    scene.tick()
    wait_for(scene, NotDispatched.NO_WORKER_SLOT)
    beat(scene, busy=2)
    assert listing_is_due(scene)


@pytest.mark.parametrize(
    ("reason", "busy"),
    [(NotDispatched.NO_WORKER_SLOT, 3), (NotDispatched.NO_SLOT_TOTAL, 0)],
    ids=["all busy", "waits for something else"],
)
def test_a_beat_that_frees_nobody_reads_no_board(scene, reason, busy):
    """A tracker's quota is not spent on beats."""
    scene.tick()
    wait_for(scene, reason)
    beat(scene, busy=busy)
    assert not listing_is_due(scene)
