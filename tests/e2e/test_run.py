"""One card, now: in a folder where nothing runs, and as a rehearsal that leaves nothing behind."""

import re
import subprocess

import pytest

from orchestrator.cli.demo import boardfile
from orchestrator.cli.exits import Exit
from tests.e2e.launcher import ORCHESTRATOR, Launcher
from tests.waiting import until

# A start of everything, one short turn, a stop of everything, on a machine that does other things too.
RUN_SECONDS = 200

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(RUN_SECONDS + 20)]


@pytest.fixture
def launcher(tmp_path):
    """A board with four cards in To Do, and no system."""
    return Launcher(tmp_path / "station")


@pytest.fixture
def running(launcher):
    """The same with a system that looks at its board once a minute, and every card on hold."""
    launcher.stage.workflow.write_text(
        launcher.stage.workflow.read_text().replace("interval_ms: 1000", "interval_ms: 60000")
    )
    for card in boardfile.tasks(launcher.folder / "backlog"):
        move(launcher, card.id, "On Hold")
    launcher.up()
    yield launcher
    launcher.process.terminate()
    launcher.process.wait(30)
    launcher.await_end()


def move(launcher, card_id, column):
    """A person drags a card."""
    (file,) = (launcher.folder / "backlog" / "tasks").glob(f"{card_id.lower()} - *.md")
    file.write_text(re.sub(r"(?m)^status: .*$", f"status: {column}", file.read_text(), count=1))


def columns(launcher):
    """Where each card stands, by the board's files."""
    return {card.id: card.status for card in boardfile.tasks(launcher.folder / "backlog")}


@pytest.mark.parametrize("servers", ["its own", "named"])
def test_a_single_card_is_run_to_the_end_of_its_turn_and_no_other(launcher, servers, request):
    """The card reaches its review column, what its agent said was shown, the others stand where they stood.

    On servers that somebody named nobody works either: that they answer is not a system.
    """
    if servers == "named":
        launcher.environment["DATABASE_URL"] = request.getfixturevalue("database_url")
        launcher.environment["REDIS_URL"] = request.getfixturevalue("redis_url")
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


def test_a_card_is_asked_for_and_followed_while_the_system_runs(running):
    """It need not wait for the next look at the board; a card that may not start is told; the system goes on."""
    move(running, "LAMP-3", "To Do")
    ran = running.orchestrator("run", "LAMP-3")
    assert ran.returncode == Exit.FINE, ran.stderr
    assert "turn 1 ended succeeded (done)" in ran.stdout
    assert len(ran.stdout.splitlines()) > 1
    until(lambda: columns(running)["LAMP-3"] == "In Review", what="the card in review")
    refused = running.orchestrator("run", "LAMP-1")
    assert (refused.returncode, "not_active (On Hold)" in refused.stderr) == (Exit.REFUSED, True)
    assert columns(running) == {"LAMP-1": "On Hold", "LAMP-2": "On Hold", "LAMP-3": "In Review", "LAMP-4": "On Hold"}

    unknown = running.orchestrator("retire", "lamps")
    assert (unknown.returncode, "in force are: demo" in unknown.stderr) == (Exit.BROKEN, True)
    retired = running.orchestrator("retire", "demo")
    assert "demo: retired; nothing of it runs" in retired.stdout
    move(running, "LAMP-4", "To Do")
    assert running.orchestrator("run", "LAMP-4").returncode == Exit.BROKEN
    assert "its workflow is retired" in running.orchestrator("explain", "LAMP-3").stdout
    assert (running.folder / ".stationkeeper" / ".gitignore").read_text() == "*\n"
    assert running.process.poll() is None


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
