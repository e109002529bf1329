"""Where worlds are played: one database a test module, emptied before each world, so that thousands are cheap."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from orchestrator import telemetry
from orchestrator.embedded import Embedded
from orchestrator.store.open import PostgresStore, open_store
from tests.world import World

_numbers = itertools.count(1)


@dataclass(slots=True)
class Stage:
    """A migrated database and a folder; one world at a time is played on it."""

    database_url: str
    state_dir: Path
    stores: dict[frozenset[str], PostgresStore] = field(default_factory=dict)

    def world(self, *, left_out: frozenset[str] = frozenset(), **more: Any) -> World:
        """A new world; the one before is over. `left_out` names rules of the store that do not hold in it."""
        if left_out not in self.stores:
            self.stores[left_out] = open_store(self.database_url, left_out=left_out)
        return World(self.stores[left_out], self.state_dir, **more)

    def close(self) -> None:
        """Let go of the database."""
        for store in self.stores.values():
            store.close()


@contextmanager
def opened_stage(
    embedded: Embedded, template: str, folder: Path, *, installation: str | None = None
) -> Iterator[Stage]:
    """A stage on a database of its own, which is this installation's, or that of the template."""
    name = f"stage_{next(_numbers)}"
    server = embedded.database_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create database {name} template {template}")
        opened = Stage(f"{embedded.database_url.rpartition('/')[0]}/{name}", folder)
        if installation is not None:
            with psycopg.connect(f"{server.rpartition('/')[0]}/{name}", autocommit=True) as ours:
                ours.execute("update installation set id = %s", [installation])
        yield opened
        opened.close()
        connection.execute(f"drop database {name} with (force)")


@pytest.fixture(scope="module")
def stage(embedded: Embedded, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The stage of a module."""
    with opened_stage(embedded, template, tmp_path_factory.mktemp("state")) as opened:
        yield opened


@pytest.fixture
def world(stage: Stage) -> World:
    """A world with nothing on its board."""
    return stage.world()


@pytest.fixture
def said() -> Iterator[Callable[[], list[str]]]:
    """The names of the events that were logged since the test began."""
    stream = io.StringIO()
    telemetry.configure(telemetry.Style.JSON, stream=stream)
    yield lambda: [json.loads(line)["event"] for line in stream.getvalue().splitlines()]
    telemetry.configure(telemetry.Style.JSON)
