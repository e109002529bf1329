"""The sample scene: each card's test fails until the sample agent has done what the card says."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli.demo import boardfile, evidence, scene
from orchestrator.cli.demo.cards import CARDS
from orchestrator.cli.demo.scene import Scene
from tests.waiting import until


@pytest.fixture
def stage(tmp_path: Path) -> Scene:
    """A run folder with four cards."""
    return scene.set_up(tmp_path, scene.sample_board(tmp_path / "backlog", 4))


def agent(stage: Scene, item: str, *, fence: int, pace: float = 0.0) -> subprocess.Popen[str]:
    """The agent at work on a card, in its worktree, as a worker would start it."""
    place = stage.folder / "workspaces" / item
    if not place.exists():
        scene.git(stage.repository, "worktree", "add", "-b", f"stationkeeper/{item}", str(place))
    identity = {
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@x",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@x",
    }
    environment = {"PATH": os.environ["PATH"], "STATIONKEEPER_TURN": f"turn-{fence}", "STATIONKEEPER_FENCE": str(fence)}
    process = subprocess.Popen(
        [
            sys.executable,
            str(stage.folder / "agent.py"),
            "--witness",
            str(stage.witness),
            f"--pace={pace}",
            "--steps=3",
        ],
        cwd=place,
        env={**environment, **identity},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    card = next(card for card in CARDS if card.id == item)
    assert process.stdin
    process.stdin.write(f"Card {card.id}: {card.title}\n\n{card.description}\n")
    process.stdin.close()
    process.stdin = None
    return process


def runs(stage: Scene) -> list[evidence.Run]:
    """What the log tells of."""
    return evidence.runs(stage.witness.read_text().splitlines())


def test_the_board_shows_every_card_to_do(stage: Scene):
    """The sample board is a board of files like anybody's."""
    assert [(card.id, card.status) for card in boardfile.tasks(stage.board.path)] == [
        (card.id, "To Do") for card in CARDS[:4]
    ]


def test_every_card_has_a_failing_test(stage: Scene):
    """Nothing passes on main: a branch that passes was worked on."""
    for card in stage.board.cards:
        scene.git(stage.repository, "branch", f"stationkeeper/{card.id}", "main")
        assert evidence.branch(stage, card) == evidence.Branch((), passes=False)


def test_the_agent_makes_the_test_pass_and_reports_done(stage: Scene):
    """One commit on the branch, the test green, the last line a result."""
    process = agent(stage, "LAMP-3", fence=7)
    output, _ = process.communicate(timeout=20)
    seen = evidence.branch(stage, stage.board.cards[2])
    assert seen == evidence.Branch(("LAMP-3: Give Fastnet its light",), passes=True)
    assert json.loads(output.splitlines()[-1])["outcome"] == "done"
    assert [(run.item, run.turn, run.fence, run.steps, run.ended) for run in runs(stage)] == [
        ("LAMP-3", "turn-7", 7, 3, True)
    ]


def test_an_agent_killed_in_mid_turn_leaves_an_open_run_and_goes_on(stage: Scene):
    """A stale git lock and an open run are all that a kill leaves; the next run finishes with one commit."""
    process = agent(stage, "LAMP-3", fence=1, pace=30)
    until(lambda: runs(stage), what="the agent's first line")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    lock = scene.git(stage.folder / "workspaces" / "LAMP-3", "rev-parse", "--git-path", "index.lock").strip()
    Path(lock).touch()
    assert agent(stage, "LAMP-3", fence=2).wait(20) == 0
    assert [(run.fence, run.ended) for run in runs(stage)] == [(1, False), (2, True)]
    seen = evidence.branch(stage, stage.board.cards[2])
    assert seen is not None
    assert (len(seen.commits), seen.passes) == (1, True)


def test_a_second_finished_run_commits_nothing(stage: Scene):
    """What is done already is not done twice."""
    for fence in (1, 2):
        assert agent(stage, "LAMP-4", fence=fence).wait(20) == 0
    seen = evidence.branch(stage, stage.board.cards[3])
    assert seen is not None
    assert len(seen.commits) == 1


def test_a_card_without_a_recipe_wants_a_note(tmp_path: Path):
    """A title with quotes and braces is only text."""
    title = """It's "quoted" {{ and }} 100 % \\n fine"""
    board = scene.sample_board(tmp_path / "backlog", 4)
    chosen = scene.without_recipe("BACK-222.1", title)
    stage = scene.set_up(tmp_path, scene.Board(board.path, board.columns, [chosen]))
    scene.git(stage.repository, "checkout", "-q", "-b", "stationkeeper/BACK-222.1")
    assert evidence.branch(stage, chosen) == evidence.Branch((), passes=False)
    (stage.repository / "notes").mkdir()
    (stage.repository / "notes" / "BACK-222.1.md").write_text(f"# BACK-222.1\n\n{title}\n")
    scene.git(stage.repository, "add", ".")
    scene.git(stage.repository, "commit", "-q", "-m", "note")
    seen = evidence.branch(stage, chosen)
    assert seen == evidence.Branch(("note",), passes=True)
