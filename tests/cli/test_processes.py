"""Child processes of a launcher: watched, stopped together, gone when it is."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli import processes
from orchestrator.cli.processes import Crew, Program
from tests.waiting import until

SLEEPER = Program("sleeper", [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()"])
DEAF = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\nwhile 1: signal.pause()"
STUBBORN = Program("stubborn", [sys.executable, "-c", DEAF])


@pytest.fixture
def crew(tmp_path: Path):
    """A crew that is stopped whatever happens."""
    crew = Crew(tmp_path, tmp_path / "logs", os.environ)
    yield crew
    crew.stop()


def up(crew: Crew, program: Program) -> int:
    """Start a program and wait for its first line."""
    pid = crew.start(program)
    until(lambda: "up" in crew.log(program.name).read_text(), what=f"{program.name}'s first line")
    return pid


def gone(pid: int) -> bool:
    """Whether no such process is left."""
    return not Path(f"/proc/{pid}").exists()


def test_stopping_ends_every_child(crew: Crew):
    """One SIGTERM each, and nobody is left."""
    pid = up(crew, SLEEPER)
    assert crew.stop() == []
    assert gone(pid)


def test_a_child_that_will_not_end_is_killed(crew: Crew, monkeypatch: pytest.MonkeyPatch):
    """A hanging worker does not keep a person waiting."""
    monkeypatch.setattr(processes, "STOP_SECONDS", 0.2)
    pid = up(crew, STUBBORN)
    assert crew.stop() == ["stubborn"]
    assert gone(pid)


def test_a_dead_child_is_started_again_and_said(crew: Crew):
    """The launcher notices, says which signal it was, and goes on."""
    pid = up(crew, SLEEPER)
    os.kill(pid, signal.SIGKILL)
    (said,) = until(crew.revive, what="the notice of the death")
    assert said.startswith("sleeper was ended by SIGKILL")
    assert crew.pid("sleeper") != pid


def test_a_child_that_cannot_run_is_given_up(crew: Crew):
    """A program that dies at once is not started for ever; the sentence names its log."""
    crew.start(Program("broken", [sys.executable, "-c", "raise SystemExit(3)"]))
    said: list[str] = []
    until(lambda: said.extend(crew.revive()) or (said and "not started any more" in said[-1]), what="the last word")
    assert len(said) == processes.MAX_RESTARTS + 1
    assert str(crew.log("broken")) in said[-1]
    assert crew.revive() == []


def test_a_killed_launcher_leaves_no_child(tmp_path: Path):
    """The kernel ends the children of a launcher that got kill -9."""
    script = f"""\
import os, signal, sys
from pathlib import Path
from orchestrator.cli.processes import Crew, Program
crew = Crew(Path({str(tmp_path)!r}), Path({str(tmp_path)!r}), os.environ)
print(crew.start(Program("child", [sys.executable, "-c", "import signal; signal.pause()"])), flush=True)
signal.pause()
"""
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    launcher = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment)
    assert launcher.stdout
    pid = int(launcher.stdout.readline())
    launcher.kill()
    launcher.communicate()
    until(lambda: gone(pid), what="the child's end")
