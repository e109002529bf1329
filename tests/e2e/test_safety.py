"""A turn that cannot hurt, with real processes: hooks, kept work, a removal after death, by plain Celery workers."""

import pytest

from tests.e2e.conftest import MakeFleet
from tests.waiting import until

pytestmark = pytest.mark.e2e

HOOKS = {
    "after_create": "echo created >> ../../hooks.txt",
    "before_run": "echo half done > half.txt; echo before >> ../../hooks.txt",
    "after_run": "echo after >> ../../hooks.txt",
    "before_remove": "ls >> ../../removed.txt",
}


@pytest.mark.proves("HK-01", "HK-04", "HK-09", "WS-11", "WS-12", "FS-31")
def test_a_card_closed_in_mid_turn_loses_its_workspace_and_no_work(make_fleet: MakeFleet) -> None:
    """The agent dies, the hooks run, the half-done file is in a commit that the card names, the worktree is gone."""
    fleet = make_fleet(1, steps=600, hooks=HOOKS)
    fleet.worker()
    fleet.beat()
    until(lambda: fleet.count(1, "step") > 3, timeout_seconds=30, what="an agent in mid-turn")
    fleet.drag(1, "Done")
    until(lambda: not fleet.agents(1), timeout_seconds=20, what="the agent's death")
    until(lambda: not list((fleet.folder / "workspaces").glob("T-*")), timeout_seconds=30, what="the workspace gone")
    assert (fleet.folder / "hooks.txt").read_text().split() == ["created", "before", "after"]
    assert "half.txt" in (fleet.folder / "removed.txt").read_text()
    [kept] = fleet.git("for-each-ref", "--format=%(refname)", "refs/stationkeeper/kept").split()
    assert fleet.git("show", f"{kept}:half.txt") == "half done"
    until(lambda: kept in fleet.card_text(1), what="the card names it")
    assert "stationkeeper/" in fleet.git("branch", "--list", "stationkeeper/*")
    assert fleet.state(1) == "Done"
