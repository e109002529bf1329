"""The store's own fixtures: a store on an empty database, with one workflow in force and one worker with slots.

The tests of a run share a database that is emptied before each; a module whose tests change the database itself says so
by a `url` fixture of its own, which names a fresh one.
"""

from collections.abc import Iterator

import psycopg
import pytest

from orchestrator.store import migrate
from orchestrator.store.open import PostgresStore, open_store
from tests.store.scene import Scene, plain

SHARED = "store_shared"
EMPTY = """
    truncate mark_elsewhere, shared_root, workspace, write_audit, effect, step_failure, question,
        workflow, workflow_version, reconciler, item, task, turn, step, outbox, hold, wait, worker, host, history
        restart identity;
    update pulse set rung_at = null, server_start = null, blind_until = null, lineage = null, mark = null;
    update installation set fence_base = 0
"""


@pytest.fixture(scope="session")
def shared_url(embedded) -> Iterator[str]:
    """A migrated database for all tests that leave the database itself alone."""
    url = f"{embedded.database_url.rpartition('/')[0]}/{SHARED}"
    with psycopg.connect(plain(embedded.database_url), autocommit=True) as connection:
        connection.execute(f"create database {SHARED}")
        migrate.upgrade(url)
        yield url
        connection.execute(f"drop database {SHARED} with (force)")


@pytest.fixture
def url(shared_url: str) -> str:
    """The address of an empty database."""
    with psycopg.connect(plain(shared_url), autocommit=True) as connection:
        connection.execute(EMPTY)
    return shared_url


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    """The rooms, on this test's database."""
    opened = open_store(url)
    yield opened
    opened.close()


@pytest.fixture
def scene(store: PostgresStore, url: str) -> Scene:
    """A workflow in force, a worker with ten slots, and verbs for what happens to an item."""
    return Scene(store, url)
