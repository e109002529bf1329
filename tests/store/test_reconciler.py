"""Rings: any number of beats, hints and hands is one tick, and none of them is lost."""

import dataclasses

import pytest

from orchestrator.domain.turn import Counters, Recheck, StopReason, TurnStatus
from tests.store.scene import together

RINGS = 8


def begin(scene, workflow=None):
    """What one ring gets."""
    return scene.store.reconciler.begin(workflow)


def finish(scene, grant):
    """The tick's end; True when another is due already."""
    return scene.store.reconciler.finish(grant, {"counts": {}})


@pytest.mark.proves("H20", "H19")
def test_many_beats_are_one_tick(scene):
    """Of eight rings at one moment one begins a tick, and none begins another while it runs."""
    grants = together(*[lambda: begin(scene)] * RINGS)
    assert sum(grant is not None for grant in grants) == 1
    assert begin(scene) is None


def test_the_first_tick_reads_the_board(scene):
    """Then nothing is due until the interval has passed."""
    grant = scene.tick()
    assert (grant.listing, begin(scene)) == (True, None)
    scene.store.set_offset(31)
    assert scene.tick().listing


@pytest.mark.proves("H20")
def test_a_request_during_a_tick_gives_exactly_one_more(scene):
    """Twenty hints while the board is being read are one tick after it."""
    grant = begin(scene)
    together(*[lambda: scene.store.reconciler.request("demo", listing=False)] * 20)
    assert begin(scene) is None
    assert finish(scene, grant)
    again = begin(scene)
    assert not again.listing
    assert not finish(scene, again)
    assert begin(scene) is None


@pytest.mark.proves("H20")
def test_a_call_by_hand_leads_to_a_listing_that_began_after_it(scene):
    """Also right after a tick: it only waits for the small gap that keeps hints from being a storm of listings."""
    scene.tick()
    asked_at = scene.now()
    scene.store.reconciler.request(None, listing=True)
    assert begin(scene) is None
    scene.store.set_offset(0.6)
    grant = begin(scene)
    assert grant.listing
    assert grant.began_at > asked_at


def test_a_silent_tick_loses_its_right(scene):
    """After ten seconds without an extension another may begin, and the first one is told to stop."""
    lost = begin(scene)
    scene.store.set_offset(9)
    assert scene.store.reconciler.extend(lost)
    scene.store.set_offset(18)
    assert begin(scene) is None
    scene.store.set_offset(20)
    scene.store.reconciler.request("demo", listing=False)
    assert begin(scene) is not None
    assert not scene.store.reconciler.extend(lost)
    finish(scene, lost)
    assert begin(scene) is None


@pytest.mark.proves("RT-05", "H34")
def test_a_retry_rings_when_it_is_due_and_reads_no_board(scene):
    """A due time is a column: the ring after it begins a tick that reads what is due by id."""
    admitted = scene.run()
    scene.tick()
    due = Recheck(scene.later_than_now(5), TurnStatus.FAILED, StopReason.STALLED, Counters())
    scene.conclude(admitted.ref, due)
    scene.tick()
    assert begin(scene) is None
    scene.store.set_offset(6)
    grant = begin(scene)
    assert not grant.listing
    assert scene.store.items.due_ids(scene.store.items.records(grant), grant.began_at) == ("X-1",)
    assert not finish(scene, grant)


def test_what_cannot_be_served_is_asked_for_again_after_a_pause(scene):
    """A due item for which there was no slot keeps no ring busy, and is not forgotten."""
    scene.conclude(scene.run().ref, Recheck(scene.now(), TurnStatus.FAILED, StopReason.STALLED, Counters()))
    scene.tick()
    assert begin(scene) is None
    scene.store.set_offset(6)
    assert begin(scene) is not None


@pytest.mark.proves("H3")
def test_an_expired_lease_and_a_stale_message_are_due(scene):
    """Both are found by the tick, the lease when it ran out, the message when it is older than its time."""
    scene.run("X-1", lease_seconds=5)
    opened = scene.open("X-2")
    scene.store.items.mark_enqueued([opened.turn_id])
    scene.tick()
    assert begin(scene) is None
    scene.store.set_offset(5.5)
    grant = begin(scene)
    assert scene.store.items.due_ids(scene.store.items.records(grant), grant.began_at) == ("X-1",)
    assert not finish(scene, grant)
    scene.store.set_offset(10.5)
    grant = begin(scene)
    assert set(scene.store.items.due_ids(scene.store.items.records(grant), grant.began_at)) == {"X-1", "X-2"}


@pytest.mark.proves("H18")
def test_workflows_take_turns(scene):
    """Each ring takes the one that waited longest, so a slow board delays no other."""
    other = dataclasses.replace(scene.workflow, name="other", version=0, scope="board-2")
    scene.store.workflows.publish(other, interval_ms=30_000)
    first = begin(scene)
    second = begin(scene)
    assert {first.workflow, second.workflow} == {"demo", "other"}
    scene.store.reconciler.request(None, listing=False)
    assert finish(scene, first)
    assert begin(scene).workflow == first.workflow


@pytest.mark.proves("H23")
@pytest.mark.parametrize(
    "spell", ["server_start = server_start - interval '1 hour'", "rung_at = rung_at - interval '40 seconds'"]
)
def test_nothing_is_taken_over_for_a_lease_after_a_blind_spell(scene, spell):
    """A database that was away for longer than a lease, or restarted, let every lease run out: that proves no death."""
    assert scene.tick().trusted
    scene.change(f"update pulse set {spell}")
    scene.store.reconciler.request("demo", listing=False)
    assert not scene.tick().trusted
    assert not scene.store.reconciler.peek("demo").trusted
    scene.change("update pulse set blind_until = clock_timestamp()")
    scene.store.reconciler.request("demo", listing=False)
    assert scene.tick().trusted


def test_a_peek_begins_nothing(scene):
    """Whoever only wants to look gets a grant that no store accepts for an action."""
    grant = scene.store.reconciler.peek("demo")
    assert not scene.store.reconciler.extend(grant)
    assert begin(scene) is not None
