"""The commands as a person types them: what they say, and the exit code of a refusal."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stage import stage, world

__all__ = ["stage", "world"]

ROOT = Path(__file__).parents[2]


@pytest.fixture
def typed(stage, world, tmp_path):
    """Type a command in an empty folder, with the world's database; gives exit code and what was said."""
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "USER": "robin",
        "DATABASE_URL": stage.database_url,
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }

    def type_in(*words):
        command = [sys.executable, "-c", "from orchestrator.cli.app import main; main()", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr
        return done.returncode, (done.stdout + done.stderr).strip()

    world.add("A-1")
    world.command("world", "hold", "first look")
    world.tick()
    return type_in


def test_a_card_is_held_and_released_by_its_name(typed):
    """Twice the same is a refusal with the reason, and `status` says who holds what and the way out."""
    assert typed("hold", "a-1", "-m", "wait for the key") == (0, "A-1: held")
    assert typed("hold", "A-1", "-m", "again")[0] == 5
    code, told = typed("status")
    line = next(line for line in told.splitlines() if "wait for the key" in line)
    assert (code, "robin" in line, line.endswith("`orchestrator release A-1`")) == (0, True, True)
    assert "the way out: `orchestrator release A-1`" in typed("explain", "A-1")[1]
    assert typed("release", "A-1") == (0, "A-1: released (operator)")
    assert typed("release", "A-1") == (
        5,
        "orchestrator: A-1: no hold that a release lifts; a dead letter takes `orchestrator resume` or `discard`",
    )


def test_the_workflow_and_the_fleet_are_held_too(typed):
    """The first hold on the workflow is there already."""
    assert typed("release", "--workflow", "world") == (0, "workflow world: released (operator)")
    assert typed("hold", "--fleet", "-m", "deploy", "--minutes", "5") == (0, "the fleet: held")
    assert "by itself when its time has passed" in typed("status")[1]
    assert typed("release", "--fleet")[0] == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("hold", "-m", "x"), 2),
        (("hold", "A-1", "--fleet", "-m", "x"), 2),
        (("hold", "--fleet", "--stop", "-m", "x"), 2),
        (("hold", "A-9", "-m", "x"), 1),
        (("release", "--workflow", "other"), 1),
        (("resume", "A-1"), 5),
        (("resume", "--fleet"), 5),
        (("discard", "A-1", "-m", "x"), 5),
    ],
)
def test_what_makes_no_sense_or_finds_nothing_has_its_exit_code(typed, words, code):
    """2 for a command line, 1 for an unknown name, 5 where nothing is to be done."""
    assert typed(*words)[0] == code


def test_dead_letters_are_listed_and_answered(typed, world):
    """With the reason and the way out; resumed all at once, or given up."""
    assert typed("dead-letters") == (0, "")
    typed("hold", "A-1", "-m", "look")  # so that the card has a row
    world.store.slow.change(
        "insert into hold (scope, workflow, item_key, kind, lift, reason, owner)"
        " select 'item', workflow, key, 'dead_letter', 'person', '3 attempts failed', 'a person' from item"
    )
    assert "`orchestrator resume A-1` or `orchestrator discard A-1`" in typed("dead-letters")[1]
    assert [each["identifier"] for each in json.loads(typed("dead-letters", "--json")[1])] == ["A-1"]
    assert typed("resume", "--workflow", "world", "-m", "mended") == (0, "A-1: resumed")
    assert typed("dead-letters") == (0, "")
