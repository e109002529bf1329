"""A station for each test, ended with it."""

import pytest

from orchestrator.supervisor.trust import Config
from tests.supervisor import station


@pytest.fixture
def make_station(tmp_path):
    """Make a station with other numbers than the usual ones."""
    opened = []

    def make(*, opened_by_a_worker=False, **numbers):
        given = {
            "installation": f"test-{tmp_path.name}",
            "host": "here",
            "lease_seconds": station.LEASE_SECONDS,
            "grace_seconds": station.GRACE_SECONDS,
            "renewal_seconds": station.RENEWAL_SECONDS,
            "kill_grace_seconds": 0.3,
            "sweep_seconds": 0.3,
        }
        here = station.Station(tmp_path.resolve(), Config(**given | numbers))
        if opened_by_a_worker:
            return here
        opened.append(here)
        return here.open()

    yield make
    for here in opened:
        here.close()


@pytest.fixture
def here(make_station):
    """A station with the usual numbers."""
    return make_station()
