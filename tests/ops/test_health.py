"""The health check as Docker runs it: a program, a file, an exit code."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "ops" / "health.py"


def check(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the check as a program of its own; in the image its first line finds Python."""
    command = [sys.executable, str(CHECK), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def heartbeat(tmp_path: Path) -> Path:
    """A heartbeat file that was touched this moment."""
    file = tmp_path / "heartbeat"
    file.touch()
    return file


def last_touched(file: Path, *, seconds_ago: float) -> None:
    """Let the file look as if its process had touched it then."""
    moment = time.time() - seconds_ago
    os.utime(file, (moment, moment))


@pytest.mark.parametrize("seconds_ago", [0, 5])
def test_a_process_that_beat_a_moment_ago_lives(heartbeat, seconds_ago):
    """A few missed beats are a busy machine, not a death."""
    last_touched(heartbeat, seconds_ago=seconds_ago)
    judged = check(heartbeat)
    assert (judged.returncode, judged.stdout, judged.stderr) == (0, "", "")


@pytest.mark.parametrize("seconds_ago", [15, 3600])
def test_a_process_that_beats_no_more_is_dead(heartbeat, seconds_ago):
    """The check says how old the last beat is: that is the first thing that whoever is on call wants to know."""
    last_touched(heartbeat, seconds_ago=seconds_ago)
    judged = check(heartbeat)
    age = re.match(rf"{heartbeat}: last beat (\d+) s ago", judged.stderr)
    assert age is not None
    assert judged.returncode == 1
    assert int(age[1]) >= seconds_ago


def test_a_process_that_never_beat_is_not_alive(tmp_path):
    """No file is no life: a worker that hangs while it starts is found too."""
    judged = check(tmp_path / "heartbeat")
    assert judged.returncode == 1
    assert "No such file" in judged.stderr


def test_without_a_file_the_check_says_how_it_is_used():
    """A health check that was set up wrong is neither alive nor dead."""
    judged = check()
    assert judged.returncode == 2
    assert "usage: health.py FILE" in judged.stderr


def test_the_check_is_a_program():
    """Docker starts it by its path."""
    assert os.access(CHECK, os.X_OK)
    assert CHECK.read_text(encoding="utf-8").startswith("#!/usr/bin/env python3\n")
