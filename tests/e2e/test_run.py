"""One card, now: in a folder where nothing runs, and as a rehearsal that leaves nothing behind."""

import subprocess

import pytest

from orchestrator.cli.demo import boardfile
from orchestrator.cli.exits import Exit
from tests.e2e.launcher import ORCHESTRATOR, Launcher

# A start of everything, one short turn, a stop of everything, on a machine that does other things too.
RUN_SECONDS = 200

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(RUN_SECONDS + 20)]


@pytest.fixture
def launcher(tmp_path):
    """A board with four cards in To Do, and no system."""
    return Launcher(tmp_path / "station")


def columns(launcher):
    """Where each card stands, by the board's files."""
    return {card.id: card.status for card in boardfile.tasks(launcher.folder / "backlog")}


def test_a_single_card_is_run_to_the_end_of_its_turn_and_no_other(launcher):
    """The card reaches its review column, what its agent said was shown, the others stand where they stood."""
    ran = subprocess.run(
        [*ORCHESTRATOR, "run", "lamp-3"],
        cwd=launcher.folder,
        env=launcher.environment,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert ran.returncode == Exit.FINE, ran.stderr
    assert "turn 1 ended succeeded (done)" in ran.stdout
    assert len(ran.stdout.splitlines()) > 1
    assert columns(launcher) == {"LAMP-1": "To Do", "LAMP-2": "To Do", "LAMP-3": "In Review", "LAMP-4": "To Do"}
    assert launcher.left() == []


def test_a_rehearsal_shows_the_prompt_and_leaves_nothing_behind(launcher):
    """No server, no agent, no file, and the board's bytes are what they were."""
    before = {path: path.read_bytes() for path in launcher.folder.rglob("*.md")}
    told = launcher.orchestrator("run", "LAMP-1", "--dry-run")
    assert told.returncode == Exit.FINE, told.stderr
    assert "would start" in told.stdout
    assert "stationkeeper/LAMP-1" in told.stdout
    assert "Card LAMP-1:" in told.stdout
    assert {path: path.read_bytes() for path in launcher.folder.rglob("*.md")} == before
    assert not (launcher.folder / ".stationkeeper").exists()
    unknown = launcher.orchestrator("run", "LAMP-99", "--dry-run")
    assert unknown.returncode == Exit.BROKEN
    assert "LAMP-99: no card" in unknown.stderr
