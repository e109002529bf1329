"""The store's own fixtures: a store on a fresh database, with one workflow in force and one worker with slots."""

from collections.abc import Iterator

import pytest

from orchestrator.store.open import PostgresStore, open_store
from tests.store.scene import Scene


@pytest.fixture
def store(database_url: str) -> Iterator[PostgresStore]:
    """The rooms, on this test's database."""
    opened = open_store(database_url)
    yield opened
    opened.close()


@pytest.fixture
def scene(store: PostgresStore, database_url: str) -> Scene:
    """A workflow in force, a worker with ten slots, and verbs for what happens to an item."""
    return Scene(store, database_url)
