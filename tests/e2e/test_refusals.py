"""What a process says, and that it ends, when it finds no system or a database of another version."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.e2e.conftest import MakeFleet
from tests.e2e.fleet import Fleet

pytestmark = pytest.mark.e2e

PROCESSES = {"worker": ("worker", "--loglevel=info"), "beat": ("beat", "--loglevel=info")}


def ended(fleet: Fleet, words: tuple[str, ...]) -> tuple[int, str]:
    """The exit code of a process that is expected to end by itself, and what it said."""
    process = fleet.start("refused", *words)
    return process.wait(timeout=40), fleet.log("refused")


def pretend_to_be_old(fleet: Fleet) -> None:
    """Pretend that a later version of the program migrated the database."""
    address = fleet.database_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("update alembic_version set version_num = '9999'")


def forget_the_schema(fleet: Fleet) -> None:
    """Pretend that nobody has migrated the database yet."""
    address = fleet.database_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("delete from alembic_version")


@pytest.mark.parametrize("words", PROCESSES.values(), ids=PROCESSES)
@pytest.mark.parametrize(
    ("spoil", "remedy"),
    [(forget_the_schema, "orchestrator migrate"), (pretend_to_be_old, "older than the database")],
    ids=["behind", "ahead"],
)
def test_a_foreign_schema_is_refused_in_one_line(
    make_fleet: MakeFleet, words: tuple[str, ...], spoil: Callable[[Fleet], None], remedy: str
) -> None:
    """Workers and beat end at once, with a code of their own and what to do."""
    fleet = make_fleet(1)
    spoil(fleet)
    code, said = ended(fleet, words)
    lines = [line for line in said.splitlines() if line.startswith("orchestrator:")]
    assert (code, len(lines)) == (3, 1)
    assert remedy in lines[0]
    assert "Traceback" not in said


def test_without_a_system_one_line_says_what_to_do(tmp_path: Path) -> None:
    """Neither a run file nor variables: any command of Celery's says so, and ends with the configuration's code."""
    path = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "celery", "-A", "orchestrator", "call", "tasks.reconcile"],
        cwd=tmp_path,
        env=path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3
    [line] = done.stderr.strip().splitlines()
    assert "make up WORKFLOW=path" in line
