"""Workflows in force: versions by compare-and-set, old ones kept for the turns that run them."""

import dataclasses

import pytest

from tests.store.scene import together


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
    scene.store.workflows.set_problem("demo", "no column")
    scene.tick()
    assert publish(scene, body="two").problem is None
    scene.store.set_offset(1)
    assert scene.tick().listing
