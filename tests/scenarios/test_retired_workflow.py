"""A person lets a workflow go: what runs finishes, what waits ends, nothing begins; the next one takes the cards."""

from dataclasses import replace

import pytest

from orchestrator.domain.hold import Hold, HoldKind, HoldScope, Lift
from orchestrator.domain.turn import Outcome
from orchestrator.engine import publish
from orchestrator.ports.store import WorkflowRow
from tests.memory.workflows import workflow
from tests.world import LONG_SECONDS


def succeed(world):
    """Put another workflow in force on the same board."""
    world.bodies["other body"] = replace(workflow(), name="other")
    row = WorkflowRow("other", 0, "digest", "other body", "other/WORKFLOW.md", "memory:world")
    world.store.workflows.publish(row, interval_ms=30_000)


def let_time_pass(world):
    """Rounds of everything, long enough for whatever is due; no tick any more is quiet, too."""
    for _ in range(5):
        world.settle_down()
        world.jump(LONG_SECONDS)


@pytest.fixture
def busy(world):
    """One card between two turns, one with a queued turn, one that nobody asked for."""
    world.script("A-1", Outcome.FAILED)
    world.add("A-1")
    world.tick()
    world.deliver()
    world.add("A-2")
    world.add("A-3", state="Backlog")
    world.tick()
    return world


def test_nothing_begins_any_more_and_no_card_waits(busy):
    """The failed turn is not tried again, the queued one does not start, and no reason of it is left on any card."""
    publish.retire(busy.store, "world")
    busy.add("A-4")
    let_time_pass(busy)
    assert [busy.state(card) for card in ("A-1", "A-2", "A-3", "A-4")] == ["Todo", "Todo", "Backlog", "Todo"]
    tasks = busy.rows("select item.item_id, status, stop_reason from task join item on item.key = item_key order by 1")
    assert tasks == [("A-1", "cancelled", "cancelled"), ("A-2", "cancelled", "cancelled")]
    assert busy.rows("select * from wait") == []
    assert busy.tick() is None


def test_what_runs_finishes_and_is_written_back(world):
    """The agent was at work when the workflow was let go: its card is in review, as the last version says."""
    world.add("A-1")
    world.agents.during = lambda _turn: (publish.retire(world.store, "world"), world.tick())
    world.tick()
    let_time_pass(world)
    assert world.state("A-1") == "In Review"
    assert world.rows("select status, stop_reason from task") == [("succeeded", "done")]


def test_a_hold_on_the_workflow_keeps_nothing_of_it_open(busy):
    """What a brake keeps from starting is over with the workflow."""
    hold = Hold(HoldScope.WORKFLOW, HoldKind.MASS_CANCEL, Lift.CONDITION, "most of the board moved")
    busy.store.items.hold_workflow("world", hold, HoldKind.MASS_CANCEL)
    publish.retire(busy.store, "world")
    let_time_pass(busy)
    assert busy.one("select count(*) from turn where status in ('queued', 'running')") == 0
    assert busy.tick() is None


def test_a_lost_board_keeps_no_retired_workflow_alive(busy):
    """Its column was renamed and nobody will rename it back: what waits ends from our records alone."""
    busy.board.states = ("Elsewhere",)
    busy.tick()
    publish.retire(busy.store, "world")
    let_time_pass(busy)
    assert busy.one("select count(*) from task where status not in ('succeeded', 'failed', 'cancelled')") == 0
    assert busy.one("select problem from workflow") is None
    assert busy.tick() is None


@pytest.mark.proves("CS-05")
def test_the_workflow_that_follows_takes_the_cards_with_their_past(busy):
    """At most one live task a card all the while; the fence goes on where it stood."""
    publish.retire(busy.store, "world")
    succeed(busy)
    busy.run_until_quiet()
    assert [busy.state(card) for card in ("A-1", "A-2", "A-3")] == ["In Review", "In Review", "Backlog"]
    turns = (
        "select turn.workflow, turn.fence from turn join item on item.key = item_key where item_id = 'A-1' order by 2"
    )
    assert busy.rows(turns) == [("world", 1), ("other", 2)]
