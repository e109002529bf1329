"""The servers of a test run: one embedded Postgres and Redis, a fresh database for each test that asks for one.

Nothing starts before a test needs it. A test's database is copied from a migrated template (0.1 s), so tests share no
rows and can run in any order.
"""

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from hypothesis import HealthCheck, settings

from orchestrator.embedded import Embedded

# A law has no deadline of its own: what hangs meets the time-out of the test, and a busy machine is not a broken law.
settings.register_profile("laws", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("laws")

SERVICE_FIXTURES = {"embedded", "template", "database_url", "redis_url"}

# The server has 16 databases; 0 is left to whoever looks around by hand.
REDIS_DATABASES = itertools.cycle(range(1, 16))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that needs a server, so that `-m "not services"` is the gate without them."""
    for item in items:
        if SERVICE_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.services)


@pytest.fixture(scope="session")
def embedded() -> Iterator[Embedded]:
    """The servers of this run, in a folder that root's Postgres can enter, without waiting for the disk."""
    state = Path(tempfile.mkdtemp(prefix="stationkeeper-tests-"))
    state.chmod(0o755)
    try:
        with Embedded(state, durable=False) as servers:
            yield servers
    finally:
        shutil.rmtree(state, ignore_errors=True)


@pytest.fixture(scope="session")
def template(embedded: Embedded) -> str:
    """The name of a database that has every migration and no rows; nobody connects to it."""
    from orchestrator.store import migrate  # noqa: PLC0415 - a pure test run must not need the store

    name = "template_migrated"
    _administer(embedded, f"create database {name}")
    migrate.upgrade(_sibling(embedded.database_url, name))
    return name


@pytest.fixture
def database_url(embedded: Embedded, template: str, database_names: Iterator[str]) -> Iterator[str]:
    """The URL of a migrated, empty database of this test's own."""
    name = next(database_names)
    _administer(embedded, f"create database {name} template {template}")
    yield _sibling(embedded.database_url, name)
    _administer(embedded, f"drop database {name} with (force)")


@pytest.fixture(scope="session")
def database_names() -> Iterator[str]:
    """Names for the databases of this run."""
    return (f"test_{number}" for number in itertools.count(1))


@pytest.fixture
def redis_url(embedded: Embedded) -> str:
    """The URL of an empty Redis database; a test that sends FLUSHALL empties the others too."""
    url = f"{embedded.redis_url.removesuffix('/0')}/{next(REDIS_DATABASES)}"
    with redis.Redis.from_url(url) as client:
        client.flushdb()
    return url


def _administer(embedded: Embedded, statement: str) -> None:
    address = embedded.database_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement)


def _sibling(url: str, database: str) -> str:
    return f"{url.rpartition('/')[0]}/{database}"
