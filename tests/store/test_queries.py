"""What a person reads: answered from our records alone, in any case of letters."""

import pytest

from orchestrator.domain.hold import HoldKind, HoldScope
from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.domain.turn import Counters, Parked, Recheck, StopReason, TurnStatus
from orchestrator.ports.store import Settlement, StepRecord
from tests.store.scene import comment, started_move


@pytest.fixture
def busy(scene):
    """One item runs, one is queued, one waits for its retry, one is held, one waits for a slot."""
    ref = scene.run("X-1").ref
    scene.step(ref, 1, started_move(), comment())
    named = StepRecord(2, "workspace", transcript="/state/log/1")
    assert scene.store.turns.checkpoint(ref, named, lease_seconds=30)
    scene.open("X-2")
    retry = Recheck(scene.later_than_now(60), TurnStatus.FAILED, StopReason.STALLED, Counters(2, 1, 1))
    scene.conclude(scene.run("X-3").ref, retry)
    held = Parked(HoldKind.BLOCKED, TurnStatus.SUCCEEDED, StopReason.BLOCKED, "which colour?")
    scene.conclude(scene.run("X-4").ref, held, comment("held", key="k:hold"))
    waits = {"id-5": Wait(NotDispatched.NO_SLOT_TOTAL)}
    scene.store.items.save_waits("demo", waits, identifiers={"id-5": "X-5"}, whole=True, known={})
    return scene


def test_the_overview_shows_every_thing_that_is_going_on(busy):
    """Each item of the fleet is in the list that says what it does."""
    seen = busy.store.queries.overview()
    assert [(turn.identifier, turn.status) for turn in seen.turns] == [("X-1", "running"), ("X-2", "queued")]
    assert [(task.identifier, task.status) for task in seen.retries] == [("X-3", "running")]
    assert [(hold.identifier, hold.kind, hold.reason) for hold in seen.holds] == [("X-4", "blocked", "which colour?")]
    assert [(write.identifier, write.what) for write in seen.writes] == [
        ("X-1", "in_progress"),
        ("X-1", "a word"),
        ("X-4", "held"),
    ]
    assert seen.waits == {("demo", "no_slot_total"): 1}
    assert [(flow.name, flow.open_turns, flow.problem) for flow in seen.workflows] == [("demo", 2, None)]
    assert [(worker.host, worker.slots) for worker in seen.workers] == [("host-a", 10)]


def test_an_explanation_is_found_by_identifier_or_id_in_any_case(busy):
    """Also for an item that never had a turn: its stored reason is all there is."""
    (waiting,) = busy.store.queries.explain("x-5")
    assert (waiting.item, waiting.wait.reason) == (None, "no_slot_total")
    assert busy.store.queries.explain("id-5")[0].identifier == "X-5"
    assert busy.store.queries.explain("nobody") == ()


def test_an_explanation_holds_what_keeps_the_item_where_it_is(busy):
    """The open turn, the task's due time, the holds on it and above it, and its unsettled writes."""
    busy.hold(HoldScope.FLEET, "X-1")
    (running,) = busy.store.queries.explain("X-1")
    assert (running.turn.status, len(running.writes), running.task.status) == ("running", 2, "running")
    (retry,) = busy.store.queries.explain("X-3")
    assert (retry.turn, retry.task.due_at > retry.now, retry.turns[-1].stop_reason) == (None, True, "stalled")
    (held,) = busy.store.queries.explain("x-4")
    assert [hold.kind for hold in held.holds] == ["blocked", "operator"]


def test_a_history_tells_turns_steps_writes_and_where_the_transcript_is(busy):
    """Oldest first."""
    busy.take_over("X-1")
    busy.store.outbox.settle(busy.store.outbox.claim(seconds=10), Settlement.SENT, state="In Progress")
    busy.run("X-1")
    (story,) = busy.store.queries.history("x-1")
    assert [(turn.ordinal, turn.status, turn.transcript) for turn in story.turns] == [
        (1, "lost", "/state/log/1"),
        (2, "running", None),
    ]
    assert [(step.ordinal, step.name) for step in story.steps] == [(1, "step"), (2, "workspace")]
    assert [write.kind for write in story.writes] == ["started", "started", "turn_ended"]
    assert [line.kind for line in story.lines] == ["turn_opened", "turn_ended", "turn_opened"]
    assert busy.store.queries.history("nobody") == ()
