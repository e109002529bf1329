"""`orchestrator recover` as docs recommend it: by a plain role that owns its database, and by nobody else."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy

from orchestrator.embedded import Embedded
from orchestrator.store import migrate
from orchestrator.store.open import open_store

Typed = Callable[..., tuple[int, str]]


def administer(embedded: Embedded, *statements: str) -> None:
    """What an administrator does, once."""
    with psycopg.connect(embedded.database_url.replace("+psycopg", ""), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def restored(embedded: Embedded, database_names: Iterator[str]) -> Iterator[Callable[[str], str]]:
    """A database that a plain role owns, migrated and used, and its copy; gives the copy's URL for a role."""
    first, copy = (f"tenant_{next(database_names)}" for _ in range(2))
    administer(
        embedded,
        "create role tenant login password 'secret'",
        "create role stranger login password 'secret'",
        f"create database {first} owner tenant",
    )

    def url(role: str, name: str = copy) -> str:
        found = sqlalchemy.make_url(embedded.database_url).set(username=role, password="secret", database=name)
        return found.render_as_string(hide_password=False)

    migrate.upgrade(url("tenant", first))
    store = open_store(url("tenant", first))
    store.recovery.look()
    store.close()
    administer(embedded, f"create database {copy} template {first} owner tenant")
    yield url
    for name in (first, copy):
        administer(embedded, f"drop database {name} with (force)")
    administer(embedded, "drop role tenant", "drop role stranger")


@pytest.fixture
def typed(tmp_path: Path) -> Typed:
    """Type a command in an empty folder; gives exit code and what was said."""

    def type_in(url: str, *words: str) -> tuple[int, str]:
        environment = {
            "PATH": os.defpath,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "HOME": str(tmp_path),
            "USER": "robin",
            "DATABASE_URL": url,
            "REDIS_URL": "redis://127.0.0.1:1/0",
        }
        command = [sys.executable, "-c", "from orchestrator.cli.app import main; main()", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, (done.stdout + done.stderr).strip()

    return type_in


@pytest.mark.proves("H24")
def test_a_plain_owner_recovers_its_database(restored: Callable[[str], str], typed: Typed) -> None:
    """No superuser is needed to notice that it was restored elsewhere, nor to let the fleet go on."""
    url = restored("tenant")
    code, said = typed(url, "recover", "--look")
    assert (code, "it was restored, moved or failed over" in said) == (0, True)
    code, said = typed(url, "recover", "-m", "moved")
    assert (code, said.splitlines()[-1]) == (0, "recovered")
    assert typed(url, "recover")[0] == 5


@pytest.mark.proves("H24")
def test_a_role_that_lacks_a_right_is_told_which_one(restored: Callable[[str], str], typed: Typed) -> None:
    """One sentence and no traceback: what is missing, and whose it would be."""
    code, said = typed(restored("stranger"), "recover")
    assert (code, said.count("\n")) == (3, 0)
    assert "lacks a right (permission denied for table alembic_version)" in said
    assert "secret" not in said
