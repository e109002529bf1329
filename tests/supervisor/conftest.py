"""A station for each test that disturbs it, and one for each module of tests that only use it."""

import pytest

from orchestrator.supervisor.trust import Config
from tests.supervisor import station


def config(installation, **numbers):
    """Numbers short enough for a test."""
    given = {
        "lease_seconds": station.LEASE_SECONDS,
        "grace_seconds": station.GRACE_SECONDS,
        "renewal_seconds": station.RENEWAL_SECONDS,
        "kill_grace_seconds": 0.3,
        "sweep_seconds": 0.3,
    }
    return Config(installation, "here", **given | numbers)


@pytest.fixture
def make_station(tmp_path):
    """Make a station with other numbers than the usual ones."""
    opened = []

    def make(*, opened_by_a_worker=False, **numbers):
        here = station.Station(tmp_path.resolve(), config(f"test-{tmp_path.name}", **numbers))
        if opened_by_a_worker:
            return here
        opened.append(here)
        return here.open()

    yield make
    for here in opened:
        here.close()


@pytest.fixture
def here(make_station):
    """A station of the test's own."""
    return make_station()


@pytest.fixture(scope="module")
def station_of_the_module(tmp_path_factory):
    """A station that starts one supervisor for a whole module, and trusts it for longer."""
    folder = tmp_path_factory.mktemp("station").resolve()
    opened = station.Station(folder, config(f"test-{folder.name}", lease_seconds=20)).open()
    yield opened
    opened.close()


@pytest.fixture
def shared(station_of_the_module, tmp_path):
    """The module's station, with a workspace and a transcript of the test's own."""
    return station_of_the_module.at(tmp_path.resolve())
