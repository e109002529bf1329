"""Admission: one statement starts a turn, and whoever comes second gets no row."""

import dataclasses

import pytest

from orchestrator.domain.hold import HoldScope
from orchestrator.domain.turn import Counters, StopReason
from orchestrator.ports.store import Admitted
from tests.store.scene import LEASE_SECONDS, Scene, owner, together
from tests.waiting import until

PLACE = """
    insert into hold (scope, item_key, kind, lift, reason, owner)
    select 'item', key, 'operator', 'person', 'stop', 'me' from item
"""


def admit(scene: Scene, opened, fence=None) -> Admitted | None:
    """One delivery of the turn's message."""
    turns = scene.store.turns
    return turns.admit(opened.turn_id, fence or opened.fence, owner(), lease_seconds=LEASE_SECONDS)


@pytest.mark.proves("H4", "FS-04")
def test_ten_deliveries_of_one_message_start_one_turn(scene):
    """Of ten admissions of one turn at one moment exactly one gets the row."""
    opened = scene.open()
    answers = together(*[lambda: admit(scene, opened)] * 10)
    assert sum(answer is not None for answer in answers) == 1


def test_a_delivery_with_another_fence_starts_nothing(scene):
    """A message that names an older or newer fence is not this turn's."""
    opened = scene.open()
    assert admit(scene, opened, fence=opened.fence + 1) is None
    assert admit(scene, opened) is not None


@pytest.mark.proves("H3", "RT-07")
def test_lease_and_attempt_start_at_admission_only(scene):
    """A queued turn has neither lease nor attempt, however long it waits; admission starts both."""
    opened = scene.open()
    queued = scene.record()
    assert (queued.turn.lease_until, scene.one("select attempt from item")) == (None, 0)
    assert admit(scene, opened).counters.attempt == 1
    assert scene.record().turn.lease_until is not None


def test_a_queued_turn_that_was_cancelled_does_not_start(scene):
    """A cancel that came before the message wins."""
    opened = scene.open()
    assert scene.store.items.cancel(scene.record(), StopReason.MOVED_AWAY, workflow="demo")
    assert admit(scene, opened) is None


@pytest.mark.proves("H16")
@pytest.mark.parametrize("scope", list(HoldScope), ids=lambda scope: scope.value)
def test_a_queued_turn_under_a_hold_does_not_start(scene, scope):
    """A hold on the item, its workflow or the fleet that was placed meanwhile keeps the turn from starting."""
    opened = scene.open()
    scene.hold(scope)
    assert admit(scene, opened) is None


@pytest.mark.proves("H16", "H12")
def test_a_hold_committed_while_admission_waited_is_seen(scene):
    """Admission that waited for the item's lock reads holds after the wait, not from the moment at which it began."""
    opened = scene.open()
    with scene.client() as holder:
        holder.execute("select 1 from item for update")
        holder.execute(PLACE)
        waiting = scene.later(lambda: admit(scene, opened))
        until(lambda: scene.blocked_by(holder))
        holder.commit()
        assert waiting.result() is None


def test_counters_are_those_of_the_item_with_this_turn(scene):
    """The first turn of a task is attempt 1, turn 1 in a row, session 1, whatever happened to the item before."""
    scene.open()
    assert scene.store.items.cancel(scene.record(), StopReason.MOVED_AWAY, workflow="demo")
    admitted = scene.run()
    assert admitted.counters == Counters(1, 1, 1)
    assert (admitted.ordinal, admitted.ref.fence) == (2, 2)


def test_a_turn_runs_the_version_that_it_was_opened_with(scene):
    """A workflow that changes while a turn is queued does not change the turn."""
    opened = scene.open()
    scene.store.workflows.publish(dataclasses.replace(scene.workflow, digest="d2", body="body two"), interval_ms=1000)
    assert scene.admit(opened).workflow.body == "body one"
