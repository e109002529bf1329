"""Every test of a flow world plays on its module's stage, without a word and without pauses."""

import pytest

from orchestrator.store.open import open_store
from tests.faults.conftest import quick
from tests.flows.world import FlowWorld
from tests.stage import stage

__all__ = ["quick", "stage"]


@pytest.fixture
def flow_world(stage):
    """Makes a fresh world; `left_out` names rules of the store that do not hold in it."""

    def make(*, left_out=frozenset(), **more):
        if left_out not in stage.stores:
            stage.stores[left_out] = open_store(stage.database_url, left_out=left_out)
        return FlowWorld(stage.stores[left_out], stage.state_dir, **more)

    return make


@pytest.fixture
def world(flow_world):
    """A world in which nobody has started anything."""
    return flow_world()
