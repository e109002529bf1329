"""Files in the shape of two peers, brought along: with the tracker's block alone changed they run side by side."""

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.cli.demo import boardfile, scene
from orchestrator.cli.exits import Exit
from tests.agents import behaviours
from tests.e2e.launcher import BOOT_SECONDS, Launcher
from tests.waiting import until
from tests.workflow.test_shapes import invalid, shape

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

BLOCK = """\
tracker:
  kind: backlog
  path: backlog
  active_states: [To Do, In Progress]
  in_progress_state: In Progress
  handoff_state: In Review
  terminal_states: [Done]
"""


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    """A system with two workflows in folders of their own; the agents that the files name are found on the PATH."""
    home = str(tmp_path / "home")
    path = behaviours.on_path(tmp_path / "bin")
    found = Launcher(tmp_path / "station", HOME=home, PATH=path, CODEX_HOME=f"{home}/codex", CLAUDE_CONFIG_DIR=home)
    for name in ("symphony", "sortie"):
        folder = found.folder / "flows" / name
        folder.mkdir(parents=True)
        scene.sample_board(folder / "backlog", 1)
        (folder / "WORKFLOW.md").write_text(brought(name), encoding="utf-8")
    yield found
    if found.process is not None:
        found.send(signal.SIGTERM)
        found.process.wait(60)


def brought(name: str) -> str:
    """The file with our board's block; in a Go body each action in the spelling that its error gives."""
    text = shape(name, board=BLOCK)
    if "{{ ." not in text:
        return text
    for (_, message), action in zip(invalid(text).findings, re.findall(r"\{\{.*?\}\}", text), strict=True):
        text = text.replace(action, message.partition("write: ")[2], 1)
    return text


def column(launcher: Launcher, name: str) -> str:
    """Where the only card of a workflow's board stands."""
    return next(boardfile.tasks(launcher.folder / "flows" / name / "backlog")).status


def test_files_of_two_peers_run_side_by_side(launcher: Launcher):
    """Each card reaches the review column of its own board, and each agent had the prompt of its own file."""
    answer = launcher.orchestrator("validate", "flows")
    assert answer.returncode == Exit.FINE, answer.stdout + answer.stderr
    assert answer.stdout.count(": valid; ") == 2
    launcher.up("--workflow", "flows")
    for name in ("symphony", "sortie"):
        until(lambda name=name: column(launcher, name) == "In Review", timeout_seconds=BOOT_SECONDS, what=name)
    rooms = Path(launcher.environment["HOME"], "harbour")
    told = [prompt.read_text(encoding="utf-8") for prompt in sorted(rooms.rglob("did.txt"))]
    assert sorted(text[:20] for text in told) == ["You have LAMP-1: Giv", "You have the ticket "]
