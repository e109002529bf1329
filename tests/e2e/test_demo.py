"""The demo as a person starts it: green as it is, red when a rule is switched off."""

import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.cli.exits import Exit
from tests.e2e.launcher import ORCHESTRATOR

# The demo ends by itself: its story is bounded, and so is every wait around it.
DEMO_SECONDS = 150

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(DEMO_SECONDS + 10)]


def demo(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the demo in a folder to its end."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(
        [*ORCHESTRATOR, "demo", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=DEMO_SECONDS,
        check=False,
    )


def kept(output: str) -> list[str]:
    """The promises that the table at the end calls kept."""
    return [line for line in output.splitlines() if line.startswith("kept ")]


@pytest.mark.proves("H2")
def test_the_demo_keeps_every_promise(tmp_path: Path):
    """A person acts, a worker dies, Redis is emptied, messages come twice: every promise is kept, the folder stays."""
    ran = demo(tmp_path)
    assert ran.returncode == Exit.FINE, ran.stdout
    assert len(kept(ran.stdout)) == 7
    (folder,) = (tmp_path / ".stationkeeper" / "demo").iterdir()
    assert f"The folder stays: {folder}" in ran.stdout
    assert {"WORKFLOW.md", "agents.jsonl", "backlog", "checked", "repository"} <= {
        path.name for path in folder.iterdir()
    }


def test_without_the_fence_check_the_demo_is_red(tmp_path: Path):
    """Work that was begun twice is seen from outside, and the demo says so."""
    ran = demo(tmp_path, "--sabotage", "fence")
    assert ran.returncode == Exit.BROKEN, ran.stdout
    assert "BROKEN  each card was worked once" in ran.stdout


def test_the_demo_runs_on_a_copy_of_somebodys_board(tmp_path: Path):
    """A default board has no review column: the copy gains one, the original stays as it was."""
    board = tmp_path / "project" / "backlog"
    (board / "tasks").mkdir(parents=True)
    (board / "config.yml").write_text('statuses: ["To Do", "In Progress", "Done"]\ntask_prefix: "back"\n')
    card = "---\nid: BACK-{0}\ntitle: \"Say 'hello' {0}\"\nstatus: To Do\n---\n\nPlease.\n"
    for number in range(1, 8):
        (board / "tasks" / f"back-{number} - Hello.md").write_text(card.format(number))
    before = {path: path.read_bytes() for path in board.rglob("*.md")}
    ran = demo(tmp_path, "--board", str(board.parent), "--cards", "6")
    assert ran.returncode == Exit.FINE, ran.stdout
    assert "the copy gains the column 'In Review'" in ran.stdout
    assert {path: path.read_bytes() for path in board.rglob("*.md")} == before
