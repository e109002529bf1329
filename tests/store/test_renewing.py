"""Renewals: a worker's turns in one statement, past any row that is locked, and never for a turn that is not ours."""

from uuid import uuid4

import pytest

from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import Renewal, TurnRef
from tests.store.scene import LEASE_SECONDS
from tests.waiting import until


def renew(scene, *refs, lease_seconds=LEASE_SECONDS):
    """One renewal of a worker."""
    return scene.store.turns.renew(refs, lease_seconds=lease_seconds)


def test_a_renewal_extends_all_turns_of_a_worker(scene):
    """Each of them gets a lease from now."""
    refs = [scene.run(f"X-{number}", lease_seconds=5).ref for number in range(3)]
    assert renew(scene, *refs) == {ref.turn_id: Renewal(ours=True) for ref in refs}
    assert scene.one("select min(lease_until) > stationkeeper_clock() + interval '20 seconds' from turn")


def test_a_renewal_brings_the_cancel_flag(scene):
    """By it a supervisor learns that a person took the item away."""
    ref = scene.run().ref
    scene.store.items.cancel(scene.record(), StopReason.TERMINAL_SEEN, workflow="demo")
    assert renew(scene, ref)[ref.turn_id] == Renewal(ours=True, cancel=StopReason.TERMINAL_SEEN)


@pytest.mark.parametrize("changed", ["token", "fence"])
def test_a_renewal_of_another_run_is_refused(scene, changed):
    """It is told that the turn is not ours, and the lease stays as it was."""
    ref = scene.run().ref
    before = scene.record()
    assert renew(scene, scene.elsewhere(ref, changed)) == {ref.turn_id: Renewal(ours=False)}
    assert scene.record() == before


@pytest.mark.proves("H24", "H5")
def test_a_turn_that_the_database_does_not_know_is_lost(scene):
    """A database that went back never heard of it: its agent is not to wait for an answer that cannot come."""
    known, unknown = scene.run().ref, TurnRef(uuid4(), 7, uuid4())
    assert renew(scene, known, unknown) == {
        known.turn_id: Renewal(ours=True),
        unknown.turn_id: Renewal(ours=False),
    }


def test_a_locked_turn_is_left_out_and_the_others_are_renewed(scene):
    """A row in somebody's hands is unknown: it is missing from the answer, and nothing waits for it."""
    locked, free = scene.run("X-1").ref, scene.run("X-2").ref
    with scene.client() as other:
        other.execute("select 1 from turn where id = %s for update", [locked.turn_id])
        assert renew(scene, locked, free) == {free.turn_id: Renewal(ours=True)}


@pytest.mark.proves("H23")
def test_a_lease_is_extended_from_the_moment_after_the_wait(scene):
    """A checkpoint that waited for another write of its turn is counted from the clock, not from when it began."""
    ref = scene.run(lease_seconds=1).ref
    with scene.client() as other:
        other.execute("update turn set lease_until = lease_until")
        waiting = scene.later(lambda: scene.step(ref, 1))
        until(lambda: scene.blocked_by(other))
        began = scene.one("select query_start from pg_stat_activity where wait_event_type = 'Lock'")
        waited = scene.one("select clock_timestamp()") - began
        other.commit()
        assert waiting.result()
    lease_until = scene.record().turn.lease_until
    assert (lease_until - began).total_seconds() >= LEASE_SECONDS + waited.total_seconds()


@pytest.mark.proves("H23", "H5")
def test_a_lease_that_ran_out_is_renewed_while_nobody_took_the_turn(scene):
    """The fence decides, not the clock: an hour's work survives a database that was away for longer than a lease."""
    ref = scene.run(lease_seconds=1).ref
    scene.store.set_offset(60)
    assert renew(scene, ref)[ref.turn_id].ours
    scene.take_over()
    assert not renew(scene, ref)[ref.turn_id].ours


@pytest.mark.proves("H26")
def test_a_renewal_never_reaches_beyond_the_steps_deadline(scene):
    """No progress, no lease: a step that hangs loses its turn, however well its worker's heart beats."""
    ref = scene.run().ref
    scene.change("update turn set step_deadline_at = stationkeeper_clock() + interval '7 seconds'")
    renew(scene, ref)
    assert scene.one("select lease_until = step_deadline_at from turn")
