"""Lost turns: by a lease that ran out, or by their supervisor's word; the tick concludes both."""

import pytest

from orchestrator.domain.turn import StopReason, TurnLimits
from tests.store.scene import started_move, together


def lose(scene, record=None, limits=None):
    """The tick's take-over."""
    return scene.store.items.lose(record or scene.record(), limits or TurnLimits(), workflow="demo")


@pytest.mark.proves("CL-04", "CL-08")
def test_a_turn_whose_lease_ran_out_is_tried_again(scene):
    """The task is due at once the first time, with the attempt that was spent."""
    scene.run(lease_seconds=5)
    scene.store.set_offset(6)
    assert lose(scene)
    assert scene.all("select status, stop_reason, death from turn") == [("lost", "lost_worker", "its lease ran out")]
    assert scene.record().task.due_at is not None
    assert scene.run().counters.attempt == 2


def test_a_lease_that_was_renewed_meanwhile_is_not_taken(scene):
    """The plan is old: the lease is read again under the lock."""
    ref = scene.run(lease_seconds=5).ref
    record = scene.record()
    scene.store.set_offset(6)
    scene.store.turns.renew([ref], lease_seconds=30)
    assert not lose(scene, record)
    assert scene.record().turn.status.value == "running"


@pytest.mark.proves("H1")
def test_ten_ticks_take_a_turn_over_once(scene):
    """One of them concludes it, and one slot is given back."""
    scene.run(lease_seconds=5)
    scene.open("X-2")
    record = scene.record()
    scene.store.set_offset(6)
    answers = together(*[lambda: lose(scene, record)] * 10)
    assert (sum(answers), scene.one("select open_turns from workflow")) == (1, 1)


@pytest.mark.proves("RT-10", "DE-11")
def test_the_last_attempt_that_is_lost_holds_the_item(scene):
    """A turn that kills each worker it meets is a dead letter, not a loop."""
    limits = TurnLimits(max_attempts=2)
    for _ in range(2):
        scene.run(lease_seconds=5)
        scene.expire()
        assert lose(scene, limits=limits)
    record = scene.record()
    assert (record.held.partition(":")[0], record.task.due_at) == ("dead_letter", None)


def test_a_flagged_turn_that_is_lost_is_cancelled(scene):
    """A person came first; nothing is tried again, and its unsent moves are withdrawn."""
    scene.step(scene.run(lease_seconds=5).ref, 1, started_move())
    scene.store.items.cancel(scene.record(), StopReason.TERMINAL_SEEN, workflow="demo")
    scene.store.set_offset(40)
    assert lose(scene)
    found = scene.all("select turn.status, task.status, task.stop_reason from turn join task on task.id = task_id")
    assert found == [("lost", "cancelled", "terminal_seen")]


@pytest.mark.proves("RT-13", "H27")
def test_the_supervisors_word_ends_the_lease_at_once(scene):
    """A tick is asked for, the turn is due for it, and its worker's late writes are refused from that moment on."""
    dead, alive = scene.run("X-1").ref, scene.run("X-2").ref
    scene.tick()
    assert scene.store.turns.lose([dead, scene.elsewhere(alive)], "the worker was killed") == 1
    assert not scene.step(dead, 1, started_move())
    assert not scene.store.turns.renew([dead], lease_seconds=30)[dead.turn_id].ours
    grant = scene.store.reconciler.begin(None)
    assert scene.store.items.due_ids(scene.store.items.records(grant), grant.began_at) == ("X-1",)
    assert lose(scene)
    assert scene.one("select death from turn where status = 'lost'") == "the worker was killed"
    assert scene.store.turns.lose([dead], "again") == 0


def test_orphans_are_the_running_turns_of_a_hosts_boot(scene):
    """With the worker's pid and everything that is needed to speak for them."""
    ref = scene.run("X-1").ref
    scene.open("X-2")
    assert scene.store.turns.orphans("host-a", "boot-1") == {ref.turn_id: (ref, 4711)}
    assert scene.store.turns.orphans("host-a", "boot-2") == {}
