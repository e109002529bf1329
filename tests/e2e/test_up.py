"""The launcher as real processes: found by every command in its folder, and gone without a trace."""

import base64
import json
import signal
import stat
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.cli.exits import Exit
from tests.e2e.launcher import BOOT_SECONDS, CELERY, Launcher
from tests.waiting import until

# A dozen processes and commands a test: on a machine that does other things too, each takes its seconds.
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

MakeLauncher = Callable[..., Launcher]


@pytest.fixture
def make_launcher(tmp_path: Path) -> Iterator[MakeLauncher]:
    """Makes the test's launcher; ends it whatever happens."""
    launchers: list[Launcher] = []

    def make(**variables: str) -> Launcher:
        launchers.append(Launcher(tmp_path / "station", **variables))
        return launchers[-1]

    yield make
    for launcher in launchers:
        if launcher.process is not None:
            launcher.process.terminate()
            launcher.process.wait(30)
        launcher.await_end()


def status_of(address: str, *, user: str = "", password: str = "") -> int:
    """The HTTP status that a visitor gets."""
    request = urllib.request.Request(address)
    if user:
        secret = base64.b64encode(f"{user}:{password}".encode()).decode()
        request.add_header("Authorization", f"Basic {secret}")
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code
    except urllib.error.URLError:
        return 0


def test_every_command_in_the_folder_finds_the_system(make_launcher: MakeLauncher):
    """The run file is private, our commands and Celery's just work, a second launcher is refused, Ctrl-C ends all."""
    launcher = make_launcher()
    launcher.up()
    launcher.await_agents()
    run_file = launcher.folder / ".stationkeeper" / "run.json"
    assert stat.S_IMODE(run_file.stat().st_mode) == 0o600

    told = json.loads(launcher.orchestrator("status", "--json").stdout)
    assert [workflow["name"] for workflow in told["workflows"]] == ["demo"]
    assert {turn["identifier"] for turn in told["turns"]} <= {card.id for card in launcher.stage.board.cards}
    assert json.loads(launcher.orchestrator("plan", "--json").stdout)["demo"]["waiting"]
    assert "transcript.log" in launcher.orchestrator("history", "LAMP-1").stdout
    assert launcher.run(*CELERY, "call", "tasks.reconcile").returncode == 0
    assert "2 nodes online" in launcher.run(*CELERY, "inspect", "ping", "--timeout=5").stdout

    second = launcher.orchestrator("up")
    assert second.returncode == Exit.REFUSED
    assert "already runs here" in second.stderr

    launcher.send(signal.SIGINT)
    assert launcher.process
    assert launcher.process.wait(20) == Exit.FINE
    assert not launcher.left()
    assert not run_file.exists()


def test_explain_answers_while_the_tracker_is_down(make_launcher: MakeLauncher):
    """Stored records say why a card is where it is; the board's folder is away."""
    launcher = make_launcher()
    launcher.up()
    launcher.await_agents()
    (launcher.folder / "backlog").rename(launcher.folder / "away")
    answer = launcher.orchestrator("explain", "lamp-1")
    assert answer.returncode == Exit.FINE
    assert "turn 1 (fence 1) is running" in answer.stdout
    plan = launcher.orchestrator("plan")
    assert plan.returncode == Exit.UNREACHABLE
    assert "Traceback" not in plan.stderr


def test_flower_wants_its_password(make_launcher: MakeLauncher):
    """It shows every message, so it listens on this machine only, and asks."""
    launcher = make_launcher()
    launcher.up()
    address, user, password = launcher.flower()
    assert address.startswith("http://127.0.0.1:")
    until(lambda: status_of(address) == 401, timeout_seconds=BOOT_SECONDS, what="Flower's refusal")
    assert status_of(address, user=user, password=password) == 200
    assert password not in "".join(launcher.left())


def test_a_killed_launcher_leaves_no_process(make_launcher: MakeLauncher):
    """Kill -9 in the middle of turns: workers, supervisor, agents and servers end by themselves."""
    launcher = make_launcher()
    launcher.up()
    launcher.await_agents()
    launcher.send(signal.SIGKILL)
    launcher.await_end()


def test_servers_of_ones_own_are_used_and_left_alone(make_launcher: MakeLauncher, database_url: str, redis_url: str):
    """With both variables set nothing is embedded, the schema is brought up to date, and the work gets done."""
    launcher = make_launcher(DATABASE_URL=database_url, REDIS_URL=redis_url)
    launcher.up("--slots", "2")
    launcher.await_agents()
    assert not (launcher.folder / ".stationkeeper" / "postgres").exists()
    workers = json.loads(launcher.orchestrator("status", "--json").stdout)["workers"]
    assert sorted(worker["slots"] for worker in workers) == [0, 2]


@pytest.mark.parametrize(
    ("variables", "code", "sentence"),
    [
        ({}, Exit.CONFIGURATION, "no running system found"),
        ({"DATABASE_URL": "postgresql://a:secret@127.0.0.1:1/x"}, Exit.CONFIGURATION, "REDIS_URL is not"),
        (
            {"DATABASE_URL": "postgresql://a:secret@127.0.0.1:1/x", "REDIS_URL": "redis://127.0.0.1:1/0"},
            Exit.UNREACHABLE,
            "refused",
        ),
    ],
    ids=["never started", "half configured", "nobody answers"],
)
def test_a_command_without_a_system_says_what_to_do(
    make_launcher: MakeLauncher, variables: dict[str, str], code: Exit, sentence: str
):
    """One sentence and an exit code, no traceback, no password."""
    answer = make_launcher(**variables).orchestrator("status")
    assert answer.returncode == code
    assert sentence in answer.stderr
    assert "Traceback" not in answer.stderr
    assert "secret" not in answer.stderr


@pytest.mark.proves("SR-05")
@pytest.mark.parametrize(
    ("body", "sentence"),
    [("---\nname: x\n---\n", "WORKFLOW.md:"), (None, "WORKFLOW.md")],
    ids=["no tracker", "no file"],
)
def test_up_refuses_a_bad_workflow_before_anything_starts(make_launcher: MakeLauncher, body: str | None, sentence: str):
    """A mistake in the file is told in a sentence with its place; no server was started for it."""
    launcher = make_launcher()
    launcher.stage.workflow.unlink()
    if body is not None:
        launcher.stage.workflow.write_text(body)
    answer = launcher.orchestrator("up")
    assert answer.returncode == Exit.CONFIGURATION
    assert sentence in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not (launcher.folder / ".stationkeeper").exists()


def test_up_says_which_server_does_not_answer(make_launcher: MakeLauncher, redis_url: str):
    """The sentence names the variable and the place, and never the password."""
    launcher = make_launcher(DATABASE_URL="postgresql://a:secret@127.0.0.1:1/x", REDIS_URL=redis_url)
    answer = launcher.orchestrator("up")
    assert answer.returncode == Exit.UNREACHABLE
    assert "DATABASE_URL (127.0.0.1:1)" in answer.stderr
    assert "secret" not in answer.stderr
