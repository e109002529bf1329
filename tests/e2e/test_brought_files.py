"""Files in the shape of two peers, brought along: with the tracker's block alone changed they run side by side."""

import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.cli.demo import boardfile, scene
from orchestrator.cli.exits import Exit
from tests.agents import behaviours
from tests.e2e.launcher import BOOT_SECONDS, Launcher
from tests.waiting import until
from tests.workflow.test_shapes import shape

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
# Two with nothing but the block changed, and one to which its person added the line that the warning shows.
BROUGHT = {"symphony": "symphony", "sortie": "sortie", "mended": "symphony"}


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    """A system with workflows in folders of their own; the agents that the files name are found on the PATH."""
    home, source = str(tmp_path / "home"), repository(tmp_path / "source")
    found = Launcher(
        tmp_path / "station",
        HOME=home,
        PATH=behaviours.on_path(tmp_path / "bin"),
        CODEX_HOME=f"{home}/codex",
        CLAUDE_CONFIG_DIR=home,
        SOURCE_URL=source,
        SORTIE_REPO_URL=source,
    )
    for name, kind in BROUGHT.items():
        folder = found.folder / "flows" / name
        folder.mkdir(parents=True)
        scene.sample_board(folder / "backlog", 1)
        text = shape(kind, board=BLOCK)
        if name == "mended":
            text = text.replace("~/harbour/rooms", "~/harbour/berths")  # two boards share no card's folder
        (folder / "WORKFLOW.md").write_text(text, encoding="utf-8")
    yield found
    if found.process is not None:
        found.send(signal.SIGTERM)
        found.process.wait(60)


def repository(folder: Path) -> str:
    """What the hooks clone."""
    folder.mkdir()
    who = ("-c", "user.name=ada", "-c", "user.email=ada@localhost")
    (folder / "HARBOUR.txt").write_text("here\n")
    for words in (["init", "--quiet"], ["add", "."], [*who, "commit", "--quiet", "--message", "begin"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return str(folder)


def mend(launcher: Launcher) -> None:
    """Do what the warning says, and nothing else."""
    path = launcher.folder / "flows" / "mended" / "WORKFLOW.md"
    told = launcher.orchestrator("validate", str(path)).stdout
    (line,) = set(re.findall(r"reads \$SOURCE_URL, .*add below 'hooks:' the line: (.*)", told))
    path.write_text(path.read_text(encoding="utf-8").replace("hooks:\n", f"hooks:\n  {line}\n"), encoding="utf-8")
    assert "SOURCE_URL" not in launcher.orchestrator("validate", str(path)).stdout


def column(launcher: Launcher, name: str) -> str:
    """Where the only card of a workflow's board stands."""
    return next(boardfile.tasks(launcher.folder / "flows" / name / "backlog")).status


def test_files_of_two_peers_run_side_by_side(launcher: Launcher):
    """Each card reaches the review column of its own board, each agent had the prompt of its file in its clone."""
    mend(launcher)
    answer = launcher.orchestrator("validate", "flows")
    assert answer.returncode == Exit.FINE, answer.stdout + answer.stderr
    assert answer.stdout.count(": valid; ") == len(BROUGHT)
    launcher.up("--workflow", "flows")
    for name in BROUGHT:
        until(lambda name=name: column(launcher, name) == "In Review", timeout_seconds=BOOT_SECONDS, what=name)
    rooms = Path(launcher.environment["HOME"], "harbour")
    prompts = sorted(rooms.rglob("did.txt"), key=lambda path: path.read_text(encoding="utf-8"))
    told = [path.read_text(encoding="utf-8")[:20] for path in prompts]
    assert told == ["You have LAMP-1: Giv", "You have the ticket ", "You have the ticket "]
    # Sortie's clones by a variable that is passed on as there, the mended one by what its person named.
    assert sorted((path.parent / "HARBOUR.txt").exists() for path in prompts) == [False, True, True]
    told = launcher.orchestrator("status").stdout
    assert "{{ .issue.title }} is of a Go template and is read as {{ issue.title }}" in told
    assert "reads $SOURCE_URL, which is empty there" in told
