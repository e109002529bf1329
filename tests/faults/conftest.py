"""Every test here plays on a stage of its module, without a word and without pauses."""

import logging
from collections.abc import Iterator

import pytest
import stamina

from orchestrator import telemetry
from tests.stage import stage, world

__all__ = ["stage", "world"]


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    """Retries do not pause, and thousands of runs do not log."""
    telemetry.configure(telemetry.Style.JSON, level=logging.CRITICAL)
    with stamina.set_testing(True, attempts=99):
        yield
    telemetry.configure(telemetry.Style.JSON)
