"""Workflows in force: versions by compare-and-set, old ones kept for the turns that run them."""

import dataclasses

import pytest

from orchestrator.domain.select import NotDispatched
from orchestrator.domain.turn import Handoff, StopReason
from tests.store.scene import item, together


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
