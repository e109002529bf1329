"""Failures are retried later and later, and not for ever: a spent cap is a hold, never a release."""

from datetime import timedelta

import pytest

from orchestrator.domain.turn import Outcome, TurnLimits
from tests.memory.desk import Killed
from tests.memory.workflows import workflow

FAILED, CONTINUE = Outcome.FAILED, Outcome.CONTINUE
_WAITED = "select task.due_at - max(turn.ended_at) from task join turn on turn.task_id = task.id group by task.id"


@pytest.mark.proves("RT-01")
def test_a_failed_turn_waits_longer_each_time(world):
    """Ten seconds after the first failure, twenty after the second."""
    world.add("A-1")
    world.script("A-1", FAILED, FAILED)
    waited = []
    for _ in range(2):
        world.tick()
        world.deliver()
        world.relay()
        waited.append(world.one(_WAITED) / timedelta(seconds=1))
        world.jump(60)
    assert waited == pytest.approx([10, 20], abs=1)


@pytest.mark.proves("RT-02")
def test_a_turn_that_wants_to_go_on_does_so_after_a_second(world):
    """As attempt 1 again, with the same session."""
    world.add("A-1")
    world.script("A-1", CONTINUE)
    seen = []
    world.agents.during = seen.append
    world.tick()
    world.deliver()
    world.relay()
    assert world.one(_WAITED) / timedelta(seconds=1) == pytest.approx(1, abs=0.5)
    world.run_until_quiet()
    assert [(turn.attempt, turn.session) for turn in seen] == [(1, None), (1, "session of A-1")]


@pytest.mark.proves("RT-10", "FS-08")
def test_spent_attempts_are_a_hold_and_not_a_new_start(world):
    """Three failures: the card is a dead letter with reason and owner, and no tick starts it again."""
    world.add("A-1")
    world.script("A-1", *[FAILED] * 9)
    world.run_until_quiet()
    assert [run.event for run in world.agents.log] == ["start", "failed"] * 3
    assert world.rows("select kind, lift, owner from hold where lifted_at is null") == [
        ("dead_letter", "person", "a person")
    ]
    assert world.reason("A-1") == "held_item"


@pytest.mark.proves("RT-10", "CL-09")
def test_a_person_brings_a_dead_letter_back_by_moving_it(world):
    """The move lifts the hold, and the attempts count anew."""
    world.add("A-1")
    world.script("A-1", *[FAILED] * 3)
    world.run_until_quiet()
    attempts = []
    world.agents.during = lambda turn: attempts.append(turn.attempt)
    world.drag("A-1", "Rework")
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert attempts == [1]


@pytest.mark.proves("RT-10", "FS-07")
def test_an_agent_that_never_finishes_is_stopped(stage):
    """Clean turns in a row are capped by turns and by sessions; then a person is asked."""
    limits = TurnLimits(max_turns=2, max_sessions=2)
    world = stage.world(workflow=workflow(turn_limits=limits))
    world.add("A-1")
    world.script("A-1", *[CONTINUE] * 99)
    world.run_until_quiet()
    assert sum(run.event == "start" for run in world.agents.log) == 4
    assert world.rows("select kind from hold where lifted_at is null") == [("dead_letter",)]


@pytest.mark.proves("FS-10", "RT-17")
def test_a_failure_is_never_handed_off(world):
    """A turn that failed moves no card to review, however often it is tried."""
    world.add("A-1")
    world.script("A-1", *[FAILED] * 3)
    world.run_until_quiet()
    assert all(move.to != "In Review" for move in world.board.history)


@pytest.mark.proves("RT-10")
def test_a_card_that_kills_each_worker_ends_as_a_dead_letter(world):
    """Lost workers count as attempts too: the fleet does not follow one card into the abyss."""

    def kill(_turn):
        raise Killed

    world.add("A-1")
    world.agents.during = kill
    world.run_until_quiet()
    assert world.rows("select status, count(*) from turn group by status") == [("lost", 3)]
    assert [comment.body.splitlines()[0] for comment in world.board.said("A-1")] == [
        "Turn 3 ended and the card is held (dead_letter).",
        "Held (dead_letter): 3 attempts in a row failed; the last: lost worker.",
    ]
    assert world.rows("select kind from hold where lifted_at is null") == [("dead_letter",)]
