"""A database clock that is stepped: nothing that waits for a moment waits for longer, and no lease is judged."""

import pytest

from orchestrator.domain.turn import Counters, Recheck, StopReason, TurnStatus
from tests.store.scene import Scene, started_move

# A clock that goes back by an hour is, from inside, rows that were all written an hour later.
HOUR_AHEAD = """
    update pulse set rung_at = rung_at + interval '1 hour', mark = mark + interval '1 hour';
    update reconciler
    set list_began_at = list_began_at + interval '1 hour', due_began_at = due_began_at + interval '1 hour',
        running_until = running_until + interval '1 hour';
    update turn set lease_until = lease_until + interval '1 hour', enqueued_at = enqueued_at + interval '1 hour';
    update task set due_at = due_at + interval '1 hour';
    update outbox set claim_until = claim_until + interval '1 hour', due_at = due_at + interval '1 hour'
"""


@pytest.mark.proves("H23")
def test_a_clock_that_was_set_back_keeps_no_listing_and_no_tick_waiting(scene: Scene):
    """Set back in the middle of a tick: the tick's right and the interval end as if nothing had been."""
    scene.store.reconciler.begin(None)
    scene.change(HOUR_AHEAD)
    assert scene.store.reconciler.begin(None) is None
    scene.store.set_offset(31)
    assert scene.tick().listing


@pytest.mark.proves("H23")
def test_a_clock_that_was_set_back_keeps_no_write_and_no_retry_waiting(scene: Scene):
    """A claim and a due time end when they were to end, and not an hour later."""
    ref = scene.run().ref
    scene.step(ref, 1, started_move())
    scene.conclude(ref, Recheck(scene.later_than_now(5), TurnStatus.FAILED, StopReason.STALLED, Counters()))
    scene.tick()
    assert scene.store.outbox.claim(seconds=5) is not None
    scene.change(HOUR_AHEAD)
    scene.store.reconciler.begin(None)
    scene.store.set_offset(6)
    assert scene.store.outbox.claim(seconds=5) is not None
    assert scene.one("select due_at < stationkeeper_clock() + interval '6 seconds' from task")


@pytest.mark.proves("H23")
def test_no_lease_is_judged_right_after_a_step_in_either_direction(scene: Scene):
    """Forwards all leases seem to be over, backwards they seem to be long: both are a blind spell, and no recovery."""
    for step in ("- interval '1 hour'", "+ interval '1 hour'"):
        scene.store.set_offset(0)
        scene.change("update pulse set blind_until = null, rung_at = clock_timestamp()")
        scene.change(f"update pulse set rung_at = rung_at {step}")
        scene.store.reconciler.request(None, listing=False)
        assert not scene.tick().trusted
    assert scene.one("select count(*) from hold") == 0
