"""A board without a review column: finished work is held until a person looks, with one comment that says so."""

from dataclasses import replace

import pytest

from tests.memory.workflows import CONTRACT, workflow


@pytest.fixture
def finished(stage):
    """A card whose work is done, on a board without a column for that."""
    world = stage.world(workflow=workflow(replace(CONTRACT, handoff=None)))
    world.add("A-1")
    world.agents.during = lambda _turn: world.relay()
    world.run_until_quiet()
    return world


@pytest.mark.proves("CL-09")
def test_finished_work_is_held_and_not_started_again(finished):
    """The task is over, the card stays where it was, and the hold is a person's."""
    assert finished.rows("select status from task") == [("succeeded",)]
    assert finished.rows("select kind, lift from hold where lifted_at is null") == [("finished", "person")]
    assert finished.state("A-1") == "In Progress"
    assert [run.event for run in finished.agents.log] == ["start", "done"]
    holds = [comment for comment in finished.board.said("A-1") if ":hold:" in (comment.key or "")]
    assert len(holds) == 1


@pytest.mark.proves("CL-09")
def test_a_person_who_drags_the_card_lifts_the_hold(finished):
    """A move that is not ours is the way out: the work starts again, once."""
    finished.drag("A-1", "Todo")
    finished.run_until_quiet()
    assert [run.event for run in finished.agents.log] == ["start", "done", "start", "done"]
    assert finished.rows("select count(*) from hold where lifted_at is null") == [(1,)]


def test_a_person_who_closes_the_card_ends_the_hold(finished):
    """A terminal card has no holds and starts nothing."""
    finished.close("A-1")
    finished.run_until_quiet()
    assert finished.rows("select count(*) from hold where lifted_at is null") == [(0,)]
    assert finished.state("A-1") == "Done"
    assert finished.one("select count(*) from turn") == 1
