"""The ground a benchmark stands on: the embedded servers, durable as in earnest, and a fresh database for each run.

Nothing starts before a benchmark asks for it, and one pair of servers serves them all.
"""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import redis

from orchestrator.embedded import Embedded
from orchestrator.store import migrate

# A copy of it has every migration and no rows; nobody connects to it.
_TEMPLATE = "bench_template"
# The server has 16 databases; 0 is left to whoever looks around by hand.
_REDIS_DATABASES = 15


class Ground:
    """Servers, databases and folders, all gone when the `with` block of `standing` is left."""

    def __init__(self, leaving: contextlib.ExitStack) -> None:
        self._leaving = leaving
        self._servers: Embedded | None = None
        self._numbers = itertools.count(1)

    def database_url(self) -> str:
        """A migrated, empty database of the caller's own."""
        servers = self._running()
        name = f"bench_{next(self._numbers)}"
        _administer(servers, f"create database {name} template {_TEMPLATE}")
        return _sibling(servers.database_url, name)

    def redis_url(self) -> str:
        """An empty Redis database."""
        url = f"{self._running().redis_url.removesuffix('/0')}/{next(self._numbers) % _REDIS_DATABASES + 1}"
        with redis.Redis.from_url(url) as client:
            client.flushdb()
        return url

    def folder(self) -> Path:
        """An empty folder that every user of this machine can enter."""
        folder = Path(self._leaving.enter_context(tempfile.TemporaryDirectory(prefix="stationkeeper-bench-")))
        folder.chmod(0o755)
        return folder

    def _running(self) -> Embedded:
        if self._servers is None:
            servers = self._leaving.enter_context(Embedded(self.folder()))
            _administer(servers, f"create database {_TEMPLATE}")
            migrate.upgrade(_sibling(servers.database_url, _TEMPLATE))
            self._servers = servers
        return self._servers


@contextlib.contextmanager
def standing() -> Iterator[Ground]:
    """Ground for as long as the block lasts."""
    with contextlib.ExitStack() as leaving:
        yield Ground(leaving)


def address(database_url: str) -> str:
    """The same database as psycopg wants to be told of it."""
    return database_url.replace("postgresql+psycopg://", "postgresql://")


def _administer(servers: Embedded, statement: str) -> None:
    with psycopg.connect(address(servers.database_url), autocommit=True) as connection:
        connection.execute(statement)


def _sibling(url: str, database: str) -> str:
    return f"{url.rpartition('/')[0]}/{database}"
