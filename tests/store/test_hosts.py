"""What the store says of hosts: where an item lives, which host is there, what of its branch is pushed."""

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from orchestrator.domain.home import Home, Reach
from orchestrator.domain.push import Branch, Intended, Settled
from orchestrator.domain.select import ON_HOST, NotDispatched, Wait
from orchestrator.ports.store import Made, Opened, Owner, StepRecord, WorkerRow
from tests.store.scene import LEASE_SECONDS, item

MADE = Made("host-a", Path("/w/X-1"), Path("/w"), Path("/w/.locks/X-1.lock"), Path("/repository"), "agents/X-1")


def prepared(scene, ref, made=MADE):
    """The turn's workspace is ready."""
    return scene.store.turns.checkpoint(ref, StepRecord(2, "workspace", made=made), lease_seconds=LEASE_SECONDS)


def beat(scene, host, *, slots=1, queues=("turns",)):
    """A worker of a host tells of itself."""
    scene.store.workers.beat(WorkerRow(uuid4(), host, "boot-1", 1, slots=slots, busy=0, queues=queues))


@pytest.mark.proves("H6")
def test_a_record_says_where_its_work_lies_and_how_that_host_stands(scene):
    """Its workers are there, be they drained; they are gone; they have been silent past the bound."""
    prepared(scene, scene.run().ref)
    home = Home("host-a", "/w/X-1", "agents/X-1")
    assert scene.record().home == home
    scene.change("update worker set slots = 0")
    assert scene.record().home == home
    scene.change("delete from worker")
    assert scene.record().home == replace(home, reach=Reach.SILENT)
    scene.change("update host set seen_at = seen_at - interval '601 seconds'")
    assert scene.record().home == replace(home, reach=Reach.GONE)


@pytest.mark.parametrize("why", ["shared", "removed"])
def test_work_that_is_bound_to_no_host_has_no_home(scene, why):
    """A root that all hosts see, or a folder that is not there any more."""
    prepared(scene, scene.run().ref, replace(MADE, is_shared=why == "shared"))
    if why == "removed":
        scene.change("update workspace set removed_at = now()")
    assert scene.record().home is None


@pytest.mark.proves("H6", "H11")
def test_a_late_word_of_an_old_turn_does_not_say_where_the_item_lives(scene):
    """The folder is recorded, so that it is found again; the newest turn alone says where the work is."""
    old = scene.run(lease_seconds=1).ref
    scene.take_over()
    new = scene.run().ref
    assert prepared(scene, new, replace(MADE, host="host-b", path=Path("/w/there")))
    assert not prepared(scene, old)
    assert scene.all("select host, workspace from item") == [("host-b", "/w/there")]
    assert scene.one("select count(*) from workspace") == 2


def test_a_worker_that_takes_no_turns_does_not_make_its_host_present(scene):
    """A relay beside dead workers of turns would let their work wait for ever."""
    beat(scene, "host-r", slots=0, queues=("control", "relay"))
    beat(scene, "host-t")
    assert scene.all("select name from host where name in ('host-r', 'host-t')") == [("host-t",)]


def test_a_beat_asks_for_no_listing_for_a_slot_of_another_host(scene):
    """A card waits for a full host: a free worker elsewhere would have the board read each second for nothing."""
    scene.tick()
    waits = {"x-1": Wait(NotDispatched.NO_WORKER_SLOT, f"{ON_HOST}host-a")}
    scene.store.items.save_waits("demo", waits, identifiers={}, whole=True, known={})
    before = scene.one("select list_requested_at from reconciler")
    beat(scene, "host-b")
    assert scene.one("select list_requested_at from reconciler") == before
    beat(scene, "host-a")
    assert scene.one("select list_requested_at from reconciler") != before


def test_free_slots_are_told_by_host(scene):
    """A queued turn of another workflow that waits for one takes it."""
    beat(scene, "host-b", slots=3)
    assert scene.records().free_on == {"host-a": 10, "host-b": 3}


def test_a_turn_bears_the_host_that_it_is_for(scene):
    """The next tick publishes it there again."""
    opened = scene.store.items.open_turns([replace(scene.opening(item()), host="host-a")])[0]
    assert isinstance(opened, Opened)
    assert scene.record().turn.for_host == "host-a"
    elsewhere = Owner("host-b", "boot-1", 1, uuid4(), uuid4())
    assert scene.store.turns.admit(opened.turn_id, opened.fence, elsewhere, lease_seconds=30) is None
    assert scene.admit(opened).home is None


@pytest.mark.proves("H6")
def test_what_is_meant_and_what_is_pushed_stand_on_the_item(scene):
    """Meant: nobody knows whether it arrived. Settled: the next turn's lease names it, and the folder holds no more."""
    ref = scene.run().ref
    prepared(scene, ref)
    turns = scene.store.turns
    steps = [(3, Intended("abc"), ("abc", None, False)), (4, Settled("abc", is_whole=True), (None, "abc", True))]
    for ordinal, push, expected in steps:
        assert turns.checkpoint(ref, StepRecord(ordinal, "push", push=push), lease_seconds=30)
        assert scene.all("select pushing, pushed, settled from item, workspace") == [expected]
    assert scene.record().home.is_pushed
    scene.take_over()
    again = scene.run()
    assert (again.home, again.branch) == ("host-a", Branch("abc"))
    prepared(scene, again.ref)
    assert not scene.record().home.is_pushed


@pytest.mark.proves("CL-05", "H6")
def test_a_worker_that_lost_its_turn_can_mean_no_push(scene):
    """The commit to push is as fenced as the step that names it."""
    ref = scene.run(lease_seconds=1).ref
    prepared(scene, ref)
    scene.take_over()
    assert not scene.store.turns.checkpoint(ref, StepRecord(3, "push", push=Intended("late")), lease_seconds=30)
    assert scene.all("select pushing, pushed, settled from item, workspace") == [(None, None, False)]


def test_a_push_that_is_asked_for_again_is_recorded_once(scene):
    """An answer of the database was lost: the second asking says that it is done."""
    ref = scene.run().ref
    step = StepRecord(3, "push", push=Intended("abc"))
    assert scene.store.turns.checkpoint(ref, step, lease_seconds=30)
    assert scene.store.turns.checkpoint(ref, step, lease_seconds=30)
    assert scene.one("select count(*) from step") == 1


def test_leaving_a_host_is_a_compare_and_set(scene):
    """A plan that is old moves nothing, and a turn that began meanwhile is not taken away."""
    opened = scene.open()
    old = scene.record()
    scene.hold()
    assert not scene.store.items.leave_host(replace(old, version=old.version - 1), "gone", workflow="demo")
    scene.change("update hold set lifted_at = now()")
    scene.admit(opened)
    assert not scene.store.items.leave_host(scene.record(), "gone", workflow="demo")
    assert not scene.store.items.rejoin(scene.record(), workflow="demo")
    assert scene.one("select count(*) from hold where kind = 'work_left'") == 0
