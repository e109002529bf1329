"""When a workspace may go: only behind a closed card, with nothing going on, after a death that somebody confirmed."""

from dataclasses import replace

import pytest

from orchestrator.domain import tidy
from orchestrator.domain.tidy import BY_LEASE, Standing
from orchestrator.domain.turn import TurnStatus
from tests.domain.worlds import CONTRACT, item

ENDED = Standing(is_busy=False, is_held=False, status=TurnStatus.SUCCEEDED, death=None, boot_id="boot 1")
LOST = replace(ENDED, status=TurnStatus.LOST, death=BY_LEASE)


def why(standing, card, *, boot="boot 1", alive=False):
    """Why the workspace stays."""
    return tidy.why_kept(standing, card, CONTRACT, boot_id=boot, has_processes=alive)


@pytest.mark.proves("WS-11", "RC-02", "RC-06")
def test_only_a_closed_card_lets_its_workspace_go():
    """One in review, one that is active and one that cannot be seen keep theirs."""
    assert why(ENDED, item("A-1", "Done")) is None
    assert "not closed" in why(ENDED, item("A-1", "In Review"))
    assert "not closed" in why(ENDED, item("A-1", "Todo"))
    assert "could not be seen" in why(ENDED, None)


@pytest.mark.parametrize("doing", [{"is_busy": True}, {"is_held": True}])
def test_nothing_is_removed_while_something_goes_on(doing):
    """A turn, an open task, a move that is not settled, or a person's hold."""
    assert "going on" in why(replace(ENDED, **doing), item("A-1", "Done"))


@pytest.mark.proves("H27")
@pytest.mark.parametrize(
    ("standing", "boot", "alive", "goes"),
    [
        pytest.param(LOST, "boot 1", True, False, id="the lease alone proves nothing"),
        pytest.param(LOST, "boot 1", False, True, id="no process of it is there, and its lock is ours"),
        pytest.param(LOST, "boot 2", True, True, id="the host was started again"),
        pytest.param(replace(LOST, death="its worker was killed"), "boot 1", True, True, id="the supervisor's word"),
        pytest.param(ENDED, "boot 1", True, True, id="its owner saw the end"),
    ],
)
def test_death_is_confirmed_before_a_removal(standing, boot, alive, goes):
    """By the owner, the supervisor, another boot, or a look at the host."""
    assert (why(standing, item("A-1", "Done"), boot=boot, alive=alive) is None) is goes
