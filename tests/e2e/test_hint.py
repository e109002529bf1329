"""A person drags a card while the board is read once in ten minutes: hints bring the listing forward."""

import sys

import pytest

from tests.e2e.conftest import MakeFleet
from tests.waiting import until

pytestmark = pytest.mark.e2e

ORCHESTRATOR = [sys.executable, "-c", "from orchestrator.cli import main; main()"]


@pytest.mark.proves("H20")
def test_a_drag_is_seen_at_once_where_the_interval_is_long(make_fleet: MakeFleet) -> None:
    """By the watch on the folder; and a hint by command or by message is taken, and starts no finished card."""
    fleet = make_fleet(1, steps=3, interval_ms=600_000)
    fleet.drag(1, "On Hold")
    fleet.worker("w1")
    fleet.beat()
    until(lambda: '"listing": true' in fleet.log("w1"), timeout_seconds=20, what="the first listing")
    fleet.drag(1, "To Do")
    until(lambda: fleet.count(1, "start"), timeout_seconds=15, what="an agent at work")
    until(lambda: fleet.state(1) == "In Review", timeout_seconds=30, what="the card in review")
    hinted = fleet.run(*ORCHESTRATOR, "hint", "T-1")
    assert (hinted.returncode, hinted.stdout.partition(":")[0]) == (0, "fleet")
    assert fleet.run(*ORCHESTRATOR, "hint", "--workflow", "other").returncode == 3
    listings = fleet.log("w1").count('"listing": true')
    assert fleet.call("call", "tasks.hint", "--kwargs", '{"workflow": "fleet", "item": "T-1"}').returncode == 0
    until(lambda: fleet.log("w1").count('"listing": true') > listings, timeout_seconds=10, what="another listing")
    assert fleet.count(1, "start") == 1
