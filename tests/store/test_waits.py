"""Reasons: one for each candidate that was left out, with the moment at which it came up."""

import pytest

from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import End, StopReason, TurnStatus

NO_SLOT = Wait(NotDispatched.NO_SLOT_TOTAL)
BLOCKED = Wait(NotDispatched.BLOCKED_BY, "X-9")


def save(scene, waits, *, whole=True):
    """What a tick does with its reasons; returns how many rows it wrote."""
    known = scene.records().waits
    names = {item_id: item_id.upper() for item_id in waits}
    return scene.store.items.save_waits("demo", waits, identifiers=names, whole=whole, known=known)


def stored(scene):
    """The stored reasons."""
    return dict(scene.all("select item_id, reason from wait"))


@pytest.mark.proves("CS-17")
def test_an_unchanged_board_writes_nothing(scene):
    """The second tick finds every reason stored already."""
    waits = {"x-1": NO_SLOT, "x-2": BLOCKED}
    assert [save(scene, waits), save(scene, waits)] == [2, 0]
    assert scene.all("select identifier, reason, detail from wait order by 1") == [
        ("X-1", "no_slot_total", ""),
        ("X-2", "blocked_by", "X-9"),
    ]


def test_a_reason_keeps_its_moment_while_only_its_detail_changes(scene):
    """`since` is when the reason came up, so that a person sees how long it stands."""
    save(scene, {"x-1": BLOCKED})
    since = scene.one("select since from wait")
    save(scene, {"x-1": Wait(NotDispatched.BLOCKED_BY, "X-8")})
    assert scene.all("select detail, since from wait") == [("X-8", since)]
    save(scene, {"x-1": NO_SLOT})
    assert scene.one("select since from wait") > since


def test_a_listing_forgets_what_is_not_left_out_any_more(scene):
    """A tick that read single items leaves the others' reasons alone."""
    save(scene, {"x-1": NO_SLOT, "x-2": NO_SLOT})
    assert save(scene, {"x-1": BLOCKED}, whole=False) == 1
    assert stored(scene) == {"x-1": "blocked_by", "x-2": "no_slot_total"}
    assert save(scene, {"x-1": BLOCKED}) == 1
    assert stored(scene) == {"x-1": "blocked_by"}


def test_a_turn_that_opens_answers_the_reason(scene):
    """Whoever asks why an item waits is not told a reason that is over."""
    save(scene, {"X-1": NO_SLOT})
    scene.open("X-1")
    assert stored(scene) == {}


def test_a_row_is_left_out_of_the_records_once_its_item_is_over_and_gone(scene):
    """A hundred finished items cost the next tick nothing; those that are shown or live stay."""
    scene.conclude(scene.run("X-1").ref, End(TaskStatus.SUCCEEDED, TurnStatus.SUCCEEDED, StopReason.TERMINAL_SEEN))
    scene.conclude(scene.run("X-2").ref, End(TaskStatus.SUCCEEDED, TurnStatus.SUCCEEDED, StopReason.TERMINAL_SEEN))
    scene.run("X-3")
    save(scene, {"X-2": NO_SLOT})
    assert set(scene.records().items) == {"X-2", "X-3"}


def test_the_reasons_of_a_flooded_column_are_stored_in_one_go(scene):
    """Thousands are one statement, and are compared in memory the next time."""
    waits = {f"x-{number}": NO_SLOT for number in range(20_000)}
    assert [save(scene, waits), save(scene, waits)] == [20_000, 0]
