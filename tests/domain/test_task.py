"""The statuses of a task and of a turn, as tables: every move that is not named is refused."""

from itertools import product

import pytest

from orchestrator.domain import task, turn
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import TurnStatus

# The founding picture, with the edges that it leaves open: out of `unknown`, expiry, and a cancel of `waiting_input`.
ALLOWED = {
    "accepted": "running cancelled failed",
    "running": "waiting_input waiting_approval succeeded failed compensating cancelled unknown",
    "waiting_input": "running cancelled failed",
    "waiting_approval": "running cancelled failed",
    "compensating": "failed",
    "unknown": "running succeeded failed",
    "succeeded": "",
    "failed": "",
    "cancelled": "",
}
MOVES = [pytest.param(*pair, id=f"{pair[0].value} to {pair[1].value}") for pair in product(TaskStatus, repeat=2)]


@pytest.mark.proves("DE-02")
def test_the_statuses_are_the_nine_of_the_founding_document():
    """No status more, none less, and each spelled as it is stored."""
    assert {status.value for status in TaskStatus} == set(ALLOWED)


@pytest.mark.proves("DE-03")
@pytest.mark.parametrize(("current", "following"), MOVES)
def test_only_a_named_move_is_made(current, following):
    """Everything that the table does not name is refused, a move to the same status included."""
    if following.value in ALLOWED[current.value].split():
        assert task.transition(current, following) is following
    else:
        with pytest.raises(task.IllegalTransition, match=f"{current.value} -> {following.value}"):
            task.transition(current, following)


@pytest.mark.proves("DE-03", "DE-13")
def test_no_move_leaves_a_final_status():
    """Succeeded, failed and cancelled are the end, and nothing else is."""
    assert {status.value for status in task.FINAL} == {"succeeded", "failed", "cancelled"}
    assert all(status not in task.sources(following) for status in task.FINAL for following in TaskStatus)


def test_every_status_can_reach_an_end():
    """No task can stand somewhere from where no end is left."""
    reaching = set(task.FINAL)
    for _ in TaskStatus:
        reaching |= {status for status, following in task.TRANSITIONS.items() if following & reaching}
    assert reaching == set(TaskStatus)


@pytest.mark.proves("DE-04")
def test_the_sources_are_the_table_read_backwards():
    """What an update's condition may name is exactly where the move may come from."""
    for current, following in product(TaskStatus, repeat=2):
        assert (current in task.sources(following)) == (following in task.TRANSITIONS[current])


def test_an_open_turn_is_queued_or_running():
    """Its cap slot is taken in these two; every other status is final, and only admission leaves the queue."""
    assert {status.value for status in turn.OPEN} == {"queued", "running"}
    assert turn.TRANSITIONS[TurnStatus.QUEUED] == {TurnStatus.RUNNING, TurnStatus.CANCELLED}
    assert turn.TRANSITIONS[TurnStatus.RUNNING] == set(TurnStatus) - turn.OPEN
