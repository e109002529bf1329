"""Checkpoints: one statement that records a step, its writes and a longer lease, or nothing."""

from pathlib import Path

import pytest

from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import Made, StepRecord
from tests.store.scene import comment, handoff_move, started_move
from tests.waiting import until


def test_a_checkpoint_records_step_writes_and_lease(scene):
    """The step row, its outbox rows in order and the longer lease are there together."""
    admitted = scene.run(lease_seconds=5)
    before = scene.record()
    assert scene.step(admitted.ref, 1, started_move(), comment())
    after = scene.record()
    assert after.turn.lease_until > before.turn.lease_until
    assert scene.all("select seq, act, turn_id from outbox order by seq") == [
        (1, "move", admitted.ref.turn_id),
        (2, "comment", admitted.ref.turn_id),
    ]
    assert scene.all("select turn_id, ordinal, name from step") == [(admitted.ref.turn_id, 1, "step")]


def test_a_move_raises_the_version_and_a_comment_does_not(scene):
    """A plan made before a move was written is old; one made before a comment is not."""
    ref = scene.run().ref
    before = scene.record().version
    assert scene.step(ref, 1, comment())
    assert scene.record().version == before
    assert scene.step(ref, 2, started_move())
    assert scene.record().version == before + 1


@pytest.mark.proves("H4")
@pytest.mark.parametrize("changed", ["token", "fence", "turn_id"])
def test_a_checkpoint_of_another_run_writes_nothing(scene, changed):
    """Turn, fence and run token all have to be those of the admission."""
    ref = scene.run().ref
    assert not scene.step(scene.elsewhere(ref, changed), 1, started_move())
    assert scene.one("select (select count(*) from step) + (select count(*) from outbox)") == 0


@pytest.mark.proves("H12", "DE-13")
def test_a_checkpoint_behind_a_renewal_sees_the_cancel_of_meanwhile(scene):
    """It waits for the turn's row, and what was committed on that row during the wait counts: nothing is written."""
    ref = scene.run().ref
    with scene.client() as renewal:
        renewal.execute("update turn set lease_until = lease_until, cancel = 'moved_away'")
        waiting = scene.later(lambda: scene.step(ref, 1, handoff_move(), comment()))
        until(lambda: scene.blocked_by(renewal))
        renewal.commit()
        assert waiting.result() is False
    assert scene.one("select (select count(*) from step) + (select count(*) from outbox)") == 0


@pytest.mark.proves("H12")
def test_a_checkpoint_behind_a_cancel_of_the_item_writes_nothing(scene):
    """The cancel holds the item's row first, as every statement that takes both rows does."""
    ref = scene.run().ref
    record = scene.record()
    assert scene.store.items.cancel(record, StopReason.TERMINAL_SEEN, workflow="demo")
    assert not scene.step(ref, 1, started_move())


def test_a_checkpoint_past_the_deadline_writes_nothing(scene):
    """What may start is decided by the database's clock, when the row is had."""
    ref = scene.run().ref
    scene.change("update turn set deadline_at = stationkeeper_clock() + interval '10 seconds'")
    assert scene.step(ref, 1)
    scene.store.set_offset(11)
    assert not scene.step(ref, 2)


def test_a_checkpoint_asked_for_again_writes_nothing_twice(scene):
    """After a commit whose answer was lost, the step row with the turn's id is the proof; the writes stand once."""
    ref = scene.run().ref
    assert scene.step(ref, 1, started_move())
    assert scene.step(ref, 1, started_move())
    assert scene.one("select count(*) from outbox") == 1


def test_a_newer_comment_takes_the_place_of_an_unsent_one(scene):
    """A card is told the last word under a key, once; what is being sent already is left alone."""
    ref = scene.run().ref
    scene.step(ref, 1, comment("one"))
    scene.step(ref, 2, comment("two"), comment("of a hold", key="k:hold"))
    claimed = scene.store.outbox.claim(seconds=60)
    scene.step(ref, 3, comment("three"))
    assert claimed.write.act.body == "two"
    assert [status for (status,) in scene.all("select status from outbox order by seq")] == [
        "superseded",
        "claimed",
        "pending",
        "pending",
    ]


@pytest.mark.proves("H11")
def test_facts_are_recorded_after_the_fence_was_lost(scene):
    """Usage and session of a turn that was taken over are kept, and move no status."""
    first = scene.run(lease_seconds=1)
    scene.take_over()
    second = scene.run()
    turns = scene.store.turns
    turns.record_usage(first.ref, {"tokens": 70})
    turns.record_session(first.ref, "talk-of-the-zombie")
    assert not turns.checkpoint(first.ref, StepRecord(1, "late"), lease_seconds=30)
    row = scene.all("select status, usage, session from turn order by ordinal")[0]
    assert row == ("lost", {"tokens": 70}, "talk-of-the-zombie")
    assert scene.one("select session from item") is None
    turns.record_session(second.ref, "talk-2")
    assert scene.one("select session from item") == "talk-2"


def test_a_step_names_the_transcript_for_good(scene):
    """It is known before the agent starts, and a later step that names none leaves it."""
    ref = scene.run().ref
    turns = scene.store.turns
    assert turns.checkpoint(ref, StepRecord(1, "workspace", transcript="/log/1"), lease_seconds=30)
    assert turns.checkpoint(ref, StepRecord(2, "agent"), lease_seconds=30)
    assert scene.one("select transcript from turn") == "/log/1"


@pytest.mark.proves("H11", "WS-11")
@pytest.mark.parametrize("lost", [False, True])
def test_where_the_work_lies_is_recorded_whoever_brings_it(scene, lost):
    """The folder is there, whether the turn is ours still or not: it has to be found again when it may go."""
    ref = scene.run(lease_seconds=1).ref
    if lost:
        scene.take_over()
    made = Made("host", Path("/w/X-1"), Path("/w"), Path("/w/.locks/X-1.lock"), None, None)
    assert scene.store.turns.checkpoint(ref, StepRecord(1, "workspace", made=made), lease_seconds=30) is not lost
    assert scene.all("select path, turn_id from workspace") == [("/w/X-1", ref.turn_id)]
    assert scene.one("select workspace from item") == "/w/X-1"
    assert scene.one("select count(*) from step") == (0 if lost else 1)


def test_usage_only_grows(scene):
    """Of two numbers the larger one was spent, whichever message comes last."""
    ref = scene.run().ref
    for usage in ({"tokens": 70, "model": "a"}, {"tokens": 50}, {"cost": 1.5}):
        scene.store.turns.record_usage(ref, usage)
    assert scene.one("select usage from turn") == {"tokens": 70, "model": "a", "cost": 1.5}
