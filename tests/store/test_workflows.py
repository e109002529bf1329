"""Workflows in force: versions by compare-and-set, old ones kept for the turns that run them."""

import dataclasses

import pytest

from orchestrator.domain.select import NotDispatched
from orchestrator.domain.turn import Handoff, StopReason
from orchestrator.ports.store import Settlement
from tests.store.scene import handoff_move, item, together
from tests.waiting import until


def publish(scene, **changed):
    """A changed file."""
    return scene.store.workflows.publish(dataclasses.replace(scene.workflow, **changed), interval_ms=1000)


@pytest.mark.proves("H9")
def test_a_file_becomes_the_next_version_once(scene):
    """Of two processes that both saw version 1, one wins; the other is told what is in force."""
    answers = together(*(lambda body=body: publish(scene, body=body) for body in ("two", "zwei")))
    assert answers[0] == answers[1]
    assert (answers[0].version, answers[0].body in {"two", "zwei"}) == (2, True)


@pytest.mark.proves("H9")
def test_a_file_older_than_the_version_in_force_flips_nothing_back(scene):
    """A stale copy on a second host is answered with the row."""
    second = publish(scene, body="two")
    assert publish(scene, body="stale") == second
    assert publish(scene, version=0, body="as if it were new") == second


def test_old_versions_are_kept(scene):
    """A turn runs the version that it was opened with."""
    publish(scene, body="two")
    assert scene.store.workflows.version("demo", 1).body == "body one"
    assert [row.version for row in scene.store.workflows.all()] == [2]
    assert scene.store.workflows.current("nobody") is None
    with pytest.raises(LookupError):
        scene.store.workflows.version("demo", 3)


def test_a_new_version_asks_for_a_listing(scene):
    """What the board lacked for the old contract is asked again."""
    scene.store.workflows.set_problem("demo", "no column", version=1)
    scene.tick()
    assert publish(scene, body="two").problem is None
    scene.store.set_offset(1)
    assert scene.tick().listing


@pytest.mark.proves("CF-09", "H9")
def test_a_complaint_about_an_older_version_changes_nothing(scene):
    """A slow tick and a slow process report what they read; meanwhile the file was mended, and the row says so."""
    path = scene.workflow.path
    publish(scene, body="two")
    assert not scene.store.workflows.set_problem("demo", "no column", version=1)
    assert not scene.store.workflows.set_file_problem(path, "it makes no sense", version=1)
    assert scene.all("select problem, file_problem from workflow") == [(None, None)]
    assert scene.store.workflows.set_problem("demo", "no column", version=2)
    assert scene.store.workflows.set_file_problem(path, "it makes no sense", version=2)
    assert not scene.store.workflows.set_file_problem(path, None, version=1)
    assert scene.all("select problem, file_problem from workflow") == [("no column", "it makes no sense")]


def test_a_retired_workflow_opens_nothing_and_is_rung_once_more(scene):
    """Its open turn keeps it in the rings until the turn's task is over; its row and its versions stay."""
    planned = scene.opening(item("X-2"))
    opened = scene.open()
    scene.tick()
    assert scene.store.workflows.retire("demo")
    assert not scene.store.workflows.retire("demo")
    assert scene.store.workflows.all() == ()
    assert scene.store.workflows.current("demo").retired
    assert scene.refused(planned).reason is NotDispatched.NO_SLOT_TOTAL
    for seconds in (60, 120):
        scene.store.set_offset(seconds)
        assert scene.tick().workflow == "demo"
    scene.conclude(scene.admit(opened).ref, Handoff(StopReason.DONE))
    scene.store.set_offset(180)
    assert scene.store.reconciler.begin(None) is None
    assert not scene.store.reconciler.finish(scene.store.reconciler.peek("demo"), {})


def test_a_retired_workflow_is_looked_at_once_although_nothing_is_open(scene):
    """So that whatever a tick was about to store for it is taken back."""
    scene.tick()
    scene.store.set_offset(1)
    scene.store.workflows.retire("demo")
    scene.tick()
    scene.store.set_offset(120)
    assert scene.store.reconciler.begin(None) is None


def test_the_next_version_brings_a_retired_workflow_back(scene):
    """By compare-and-set like any other: an edit of its file."""
    scene.store.workflows.retire("demo")
    assert publish(scene, body="two") == dataclasses.replace(scene.workflow, version=2, body="two")
    assert [row.name for row in scene.store.workflows.all()] == ["demo"]


@pytest.mark.proves("H9", "SC-19")
def test_a_file_with_another_name_replaces_what_it_was_in_one_commit(scene):
    """Unless somebody put another version of that in force: then nothing is written."""
    new = dataclasses.replace(scene.workflow, name="new", version=0)
    publish(scene, body="two")
    arguments = {"interval_ms": 1000, "beside": {}}
    assert scene.store.workflows.publish(new, **arguments, instead_of=scene.workflow) is None
    assert scene.store.workflows.current("new") is None
    now = scene.store.workflows.current("demo")
    assert scene.store.workflows.publish(new, **arguments, instead_of=now).version == 1
    assert [row.name for row in scene.store.workflows.all()] == ["new"]


def test_another_board_is_served_once_nothing_is_open_on_the_old_one(scene):
    """Neither an open turn nor an unsent write may end on a card of the same id there; then the rows are others."""
    elsewhere = dataclasses.replace(scene.workflow, body="two", scope="elsewhere")
    planned = scene.opening(item("X-2"))
    turn = scene.admit(scene.open())
    assert scene.store.workflows.publish(elsewhere, interval_ms=1000).scope == "board"
    scene.conclude(turn.ref, Handoff(StopReason.DONE), handoff_move())
    assert scene.store.workflows.publish(elsewhere, interval_ms=1000).scope == "board"
    scene.store.outbox.settle(scene.store.outbox.claim(seconds=10), Settlement.SENT, state="In Review")
    assert scene.store.workflows.publish(elsewhere, interval_ms=1000).version == 2
    assert scene.records().items == {}
    assert scene.refused(planned).reason is NotDispatched.NO_SLOT_TOTAL


def test_a_turn_that_opens_while_the_board_is_changed_keeps_the_board(scene):
    """The statement that waited for the row reads it again: what it saw before does not count."""
    elsewhere = dataclasses.replace(scene.workflow, body="two", scope="elsewhere")
    with scene.client() as client:
        client.execute("update workflow set open_turns = open_turns + 1")
        answer = scene.later(lambda: scene.store.workflows.publish(elsewhere, interval_ms=1000))
        until(lambda: scene.blocked_by(client), what="the publisher at the row's lock")
        client.commit()
    assert answer.result(10).scope == "board"
