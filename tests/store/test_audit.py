"""The audit of writes: a row for each, in the commit that settles it, whatever became of it."""

import pytest

from orchestrator.domain.turn import Handoff, StopReason
from orchestrator.ports.store import Settlement
from tests.store.scene import comment, handoff_move, started_move


def told(scene, key=None):
    """What the audit says, in order: before, after, outcome."""
    return [(one.act, one.before, one.after, one.outcome) for one in scene.store.queries.writes(key, count=100)]


def relay(scene, settlement, **said):
    """Claim the next write, begin it where it is a move, and settle it."""
    claimed = scene.store.outbox.claim(seconds=60)
    if hasattr(claimed.write.act, "role"):
        assert scene.store.outbox.begin_move(claimed, "revision 7", state="Todo")
    assert scene.store.outbox.settle(claimed, settlement, **said)
    return claimed


@pytest.mark.proves("TW-04", "TW-09", "TW-10")
def test_each_write_has_a_row_with_before_and_after(scene):
    """A move from where to where, a comment over which text; under a key and a fence, with the fact that it reports."""
    ref = scene.run().ref
    scene.step(ref, 1, started_move(), comment("Begun."))
    scene.step(ref, 2, comment("Going on."))
    scene.step(scene.run("X-2").ref, 1, comment("Begun."))
    for said in ({"state": "In Progress"}, {}, {}):
        relay(scene, Settlement.SENT, **said)
    assert told(scene, "X-1") == [
        ("comment", None, None, "superseded"),
        ("move", "Todo", "In Progress", "sent"),
        ("comment", None, "Going on.", "sent"),
    ]
    assert told(scene, "x-2") == [("comment", None, "Begun.", "sent")]
    keys = {(one.fence, one.kind, bool(one.key)) for one in scene.store.queries.writes(None, count=100)}
    assert {fence for fence, _, _ in keys} == {1}
    assert all(has_key for _, _, has_key in keys)


def test_a_comment_over_a_comment_tells_what_it_replaced(scene):
    """The text that stood there was ours as well."""
    ref = scene.run().ref
    for number, text in enumerate(("Begun.", "Done."), start=1):
        scene.step(ref, number, comment(text))
        relay(scene, Settlement.SENT)
    assert told(scene) == [("comment", None, "Begun.", "sent"), ("comment", "Begun.", "Done.", "sent")]


@pytest.mark.proves("TW-13")
def test_an_unknown_outcome_has_a_row_of_its_own(scene):
    """It stands beside the one that says later what had become of it; a mere deferral is no attempt."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE), handoff_move())
    relay(scene, Settlement.DEFERRED, detail="not readable")
    relay(scene, Settlement.UNKNOWN, detail="no answer")
    relay(scene, Settlement.SENT, state="In Review", detail="found on the card")
    assert told(scene) == [("move", "Todo", None, "unknown"), ("move", "Todo", "In Review", "sent")]


@pytest.mark.parametrize("settlement", [Settlement.SUPPRESSED, Settlement.PARKED])
def test_a_write_that_was_not_made_says_why(scene, settlement):
    """Nothing after, and the reason; a claim that ran out leaves no row."""
    scene.step(scene.run().ref, 1, started_move())
    late = scene.store.outbox.claim(seconds=0)
    relay(scene, settlement, detail="a person moved the card")
    assert not scene.store.outbox.settle(late, Settlement.SENT, state="In Progress")
    # A move that was given up is told to the card besides.
    [one] = [write for write in scene.store.queries.writes(None, count=9) if write.outcome != "pending"]
    assert (one.after, one.outcome, one.detail) == (None, settlement.value, "a person moved the card")
