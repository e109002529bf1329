"""The story of the demo: each moment waits for what can be seen, and a moment that never came is told."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from orchestrator.cli.demo import boardfile, director, scene
from orchestrator.cli.demo.director import Look
from orchestrator.cli.demo.evidence import CardSeen, Run
from orchestrator.cli.demo.scene import Scene
from tests.waiting import until

# The agent that lives in these tests, and one that no kernel would hand out.
ALIVE, DEAD = 2**22 + 2, 2**22 + 1


class Hands:
    """Stagehands that write down what they were asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def empty_redis(self) -> None:
        """FLUSHALL."""
        self.asked.append("flushall")

    def kill_worker(self) -> str:
        """SIGKILL."""
        self.asked.append("kill")
        return "killed"

    def deliver_again(self, run: Run) -> None:
        """The same message again."""
        self.asked.append(f"again {run.item} {run.fence}")

    def revive(self) -> Sequence[str]:
        """Nothing died."""
        return []


@pytest.fixture
def _one_agent_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the two agents, `ALIVE` is there."""
    monkeypatch.setattr(director, "alive", lambda run: run.pid == ALIVE)


@pytest.fixture
def stage(tmp_path: Path) -> Scene:
    """Four cards: LAMP-1 will be closed, LAMP-2 dragged away, two are left to the fleet."""
    return scene.set_up(tmp_path, scene.sample_board(tmp_path / "backlog", 4))


def look(*runs: Run, board: dict[str, CardSeen] | None = None) -> Look:
    """A look at these runs."""
    return Look(1.0, board or {}, runs, ())


def at_work(item: str, *, steps: int = 3, pid: int = ALIVE, ended: bool = False) -> Run:
    """A run of the agent."""
    return Run(item, pid, "t", fence=1, first=0, last=1, began_at=0, spoke_at=1, steps=steps, ended=ended)


def test_an_agent_is_alive_while_its_own_process_is():
    """A number that the kernel has given to somebody else is not our agent, and neither is a dead one."""
    agent = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()", scene.AGENT])
    until(lambda: director.alive(at_work("LAMP-1", pid=agent.pid)), what="the agent's start")
    agent.kill()
    agent.wait()
    assert not director.alive(at_work("LAMP-1", pid=agent.pid))
    assert not director.alive(at_work("LAMP-1", pid=os.getpid()))


@pytest.mark.usefixtures("_one_agent_lives")
def test_the_hand_comes_in_mid_turn_only():
    """Before an agent's second step, after its end or its death there is no middle of a turn."""
    assert director.in_mid_turn(look(at_work("LAMP-1")), ["LAMP-1"])
    assert not director.in_mid_turn(look(at_work("LAMP-1", steps=1)), ["LAMP-1"])
    assert not director.in_mid_turn(look(at_work("LAMP-1", ended=True)), ["LAMP-1"])
    assert not director.in_mid_turn(look(at_work("LAMP-1", pid=DEAD)), ["LAMP-1"])
    assert not director.in_mid_turn(look(at_work("LAMP-3")), ["LAMP-1"])


@pytest.mark.usefixtures("_one_agent_lives")
def test_the_kill_waits_while_an_agent_is_about_to_end():
    """An agent that ends in the moment of the kill has its work begun again: true, but no demonstration."""
    early, late, over = at_work("LAMP-3"), at_work("LAMP-4", steps=15), at_work("LAMP-4", ended=True)
    assert not director.any_is_ending(look(early), ["LAMP-3", "LAMP-4"], "In Review")
    assert director.any_is_ending(look(early, late), ["LAMP-3", "LAMP-4"], "In Review")
    assert director.any_is_ending(look(early, over), ["LAMP-3", "LAMP-4"], "In Review")
    assert not director.any_is_ending(look(early, late), ["LAMP-3"], "In Review")


@pytest.mark.usefixtures("_one_agent_lives")
def test_the_moments_come_in_order_and_move_real_files(stage: Scene):
    """The person's two moves are in the board's files; Redis and the worker follow when both agents are gone."""
    hands, told = Hands(), director.Told()
    closes, drags, empties, kills = director.moments(stage, hands, told)
    for moment in (closes, drags, empties, kills):
        moment.act()
    columns = {card.id: card.status for card in boardfile.tasks(stage.board.path)}
    assert (columns["LAMP-1"], columns["LAMP-2"], columns["LAMP-3"]) == ("Done", "On Hold", "To Do")
    assert [(move.item, move.status) for move in told.moved] == [("LAMP-1", "Done"), ("LAMP-2", "On Hold")]
    assert hands.asked == ["flushall", "kill"]
    assert not empties.due(look(at_work("LAMP-1"), at_work("LAMP-3")))
    assert empties.due(look(at_work("LAMP-1", pid=DEAD), at_work("LAMP-3")))


@pytest.mark.usefixtures("_one_agent_lives")
def test_it_is_finished_when_all_that_is_left_is_in_review(stage: Scene):
    """A card without a comment, or an agent still at work, is not an end."""
    moved = [director.hand.Moved("LAMP-1", "Done"), director.hand.Moved("LAMP-2", "On Hold")]
    board = {"LAMP-3": CardSeen("In Review", 1), "LAMP-4": CardSeen("In Review", 1)}
    assert director.finished(stage, look(board=board), moved)
    assert not director.finished(stage, look(at_work("LAMP-3"), board=board), moved)
    assert not director.finished(stage, look(board={**board, "LAMP-4": CardSeen("In Review", 0)}), moved)
    assert not director.finished(stage, look(board={**board, "LAMP-4": CardSeen("In Progress", 1)}), moved)
    assert not director.finished(stage, look(board=board), moved[:1])


def test_a_story_that_never_happens_ends_and_says_so(stage: Scene, monkeypatch: pytest.MonkeyPatch):
    """With no agent there is no middle of a turn: the limit ends it, and every moment is named as missed."""
    monkeypatch.setattr(director, "LIMIT_SECONDS", 0.3)
    shown: list[Look] = []
    outcome = director.direct(stage, Hands(), shown.append)
    assert outcome.missed == [
        "a person closes a card",
        "a person drags a card",
        "Redis is emptied",
        "the worker is killed",
    ]
    assert shown
    assert outcome.moved == []
