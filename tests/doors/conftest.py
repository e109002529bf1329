"""A bench for each tracker adapter in the package, the real servers of `make peers` included."""

import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import trackers
from tests.doors.tracker_benches import BENCHES, Bench
from tests.peers.roundup import RoundupBench, Server, serving

ADAPTERS = sorted(module.name for module in pkgutil.iter_modules(trackers.__path__))
# Real trackers, which `make peers` installs.
PEERS = {"roundup"}


@pytest.fixture(scope="module")
def roundup_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real Roundup; each bench has a tracker of its own on it."""
    with serving(tmp_path_factory.mktemp("roundup")) as server:
        yield server


@pytest.fixture(params=[pytest.param(kind, marks=[pytest.mark.peer] * (kind in PEERS)) for kind in ADAPTERS])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    """A fresh board of each kind."""
    if request.param == "roundup":
        return RoundupBench(request.getfixturevalue("roundup_server"))
    return BENCHES[request.param](tmp_path)
