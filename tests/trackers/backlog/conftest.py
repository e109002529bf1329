"""A board for each test of the adapter."""

from pathlib import Path

import pytest

from tests.trackers.backlog.hand import Hand


@pytest.fixture
def hand(tmp_path: Path) -> Hand:
    """An empty board and a person's hand on it."""
    return Hand(tmp_path)
