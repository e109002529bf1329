"""What a person sees: a sentence for each change, once, and a verdict that names every culprit."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from orchestrator.cli.demo import scene, show
from orchestrator.cli.demo.director import Look
from orchestrator.cli.demo.evidence import CardSeen, Run
from orchestrator.cli.demo.promises import Verdict
from orchestrator.cli.demo.scene import Board

VERDICTS = [
    Verdict("nothing was lost", "board files", "6 cards", ()),
    Verdict("nothing was doubled", "git", "8 commits", ("LAMP-1: 2 commits", "LAMP-2: 2 comments")),
]


@pytest.fixture
def board(tmp_path: Path) -> Board:
    """A board of four cards."""
    return scene.sample_board(tmp_path / "backlog", 4)


def console(*, terminal: bool) -> Console:
    """A console that keeps what is printed."""
    return Console(file=io.StringIO(), force_terminal=terminal, width=120)


def printed(console: Console) -> str:
    """All that was printed."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_plain_lines_tell_each_change_once(board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """No terminal, no table: one line a change, with the time, and nothing for a look that shows nothing new."""
    monkeypatch.setattr(show.director, "alive", lambda run: run.pid == 9)
    plain = console(terminal=False)
    run = Run("LAMP-1", pid=9, turn="t", fence=4, first=0, last=1, began_at=0, spoke_at=0, steps=1)
    with show.Screen(plain, board, story=tmp_path / "story.txt") as screen:
        for _ in range(3):
            screen.show(Look(1.5, {"LAMP-1": CardSeen("To Do", 0)}, [run], ()))
        screen.show(Look(2.5, {"LAMP-1": CardSeen("Done", 0)}, [run], ["a person closes it"]))
    assert printed(plain).splitlines() == [
        "  1.5 s  LAMP-1: stands in 'To Do'",
        "  1.5 s  LAMP-1: an agent (pid 9, fence 4) is at work",
        "  2.5 s  a person closes it",
        "  2.5 s  LAMP-1: stands in 'Done'",
    ]
    assert (tmp_path / "story.txt").read_text() == printed(plain)


def test_a_terminal_gets_a_live_table(board: Board, tmp_path: Path):
    """The table has a row a card, and the sentences are kept in a file."""
    live = console(terminal=True)
    with show.Screen(live, board, story=tmp_path / "story.txt") as screen:
        screen.show(Look(1.5, {"LAMP-1": CardSeen("To Do", 0)}, [], ()))
    assert all(card.title in printed(live) for card in board.cards)
    assert (tmp_path / "story.txt").read_text() == "  1.5 s  LAMP-1: stands in 'To Do'\n"


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "plain"])
def test_the_verdict_names_every_culprit_and_the_folder(*, terminal: bool, tmp_path: Path):
    """Kept or broken for each promise, everything that speaks against one, and where to look."""
    out = console(terminal=terminal)
    show.verdict(out, VERDICTS, tmp_path)
    text = printed(out)
    assert "kept" in text
    assert "nothing was doubled: LAMP-1: 2 commits" in text
    assert "nothing was doubled: LAMP-2: 2 comments" in text
    assert str(tmp_path) in text
