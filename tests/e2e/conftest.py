"""Fleets of real processes, each in a folder and a database of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.embedded import Embedded
from orchestrator.store import migrate
from tests.e2e.fleet import Fleet

MakeFleet = Callable[..., Fleet]


@pytest.fixture
def make_fleet(tmp_path: Path, database_url: str, redis_url: str) -> Iterator[MakeFleet]:
    """Makes the test's fleet, on the run's servers; ends what is left of it."""
    fleets: list[Fleet] = []

    def make(cards: int, **settings: int) -> Fleet:
        fleet = Fleet(tmp_path / "fleet", database_url, redis_url, **settings)
        fleet.folder.mkdir()
        fleet.set_up(cards)
        fleets.append(fleet)
        return fleet

    yield make
    for fleet in fleets:
        fleet.stop()


@pytest.fixture
def own_servers(tmp_path: Path) -> Iterator[Embedded]:
    """Servers that a test may stop and start: durable, migrated, nobody else's."""
    tmp_path.chmod(0o755)
    with Embedded(tmp_path / "servers") as servers:
        migrate.upgrade(servers.database_url)
        yield servers


@pytest.fixture
def own_fleet(tmp_path: Path, own_servers: Embedded) -> Iterator[Fleet]:
    """A fleet of one card on servers of its own."""
    fleet = Fleet(tmp_path / "fleet", own_servers.database_url, own_servers.redis_url, steps=60)
    fleet.folder.mkdir()
    fleet.set_up(1)
    yield fleet
    fleet.stop()
