"""A card's turn is one flow: what it records and writes is what its contract says, and is seen like any task's."""

import pytest
from typer.testing import CliRunner

from orchestrator.cli import app
from orchestrator.domain.effect import EffectStatus
from orchestrator.domain.writeback import WriteKind
from orchestrator.engine import relay, work
from orchestrator.flows.ticket import TICKET
from orchestrator.store.flows import showing
from tests.stage import stage
from tests.stage import world as board

__all__ = ["board", "stage"]


def worked(board):
    """A card that an agent has finished."""
    board.add("A-1")
    board.run_until_quiet()
    return showing.story(board.store.slow, "A-1")


@pytest.mark.proves("DE-06", "DE-08")
def test_a_cards_turn_records_the_steps_of_its_flow(board):
    """In the contract's order, under its names, once each."""
    told = worked(board)
    assert [(row.ordinal, row.name) for row in told.steps] == [(step.ordinal, step.name) for step in TICKET.steps[:3]]
    assert (told.line.is_card, told.line.status.value, told.line.stop_reason) == (True, "succeeded", "done")


def test_its_contract_has_the_loops_own_limits():
    """How long a workspace may take to make, and one try of a write-back."""
    assert TICKET.steps[1].timeout_seconds == work.PREPARE_SECONDS
    assert TICKET.steps[3].timeout_seconds == relay.CLAIM_SECONDS


@pytest.mark.proves("DE-08", "TW-09")
def test_its_write_backs_are_effects_of_the_ledger(board):
    """Each of a closed kind, settled as committed."""
    told = worked(board)
    kinds = {kind.value for kind in WriteKind}
    assert told.ledger
    assert {row.what.partition(" ")[0] for row in told.ledger} <= kinds
    assert {row.status for row in told.ledger} <= {status.value for status in EffectStatus}
    assert [row.what for row in told.ledger if row.status == "committed"][-1].startswith("turn_ended")


def test_tasks_of_cards_are_listed_when_they_are_asked_for(board):
    """Of a card that was worked on twice the newest task is shown."""
    worked(board)
    board.drag("A-1", "Todo")
    board.run_until_quiet()
    lines = showing.tasks(board.store.slow, cards=True)
    assert [(line.identifier, line.flow, line.is_card) for line in lines] == [("A-1", "world", True)] * 2
    assert showing.tasks(board.store.slow) == []
    newest = max(lines, key=lambda line: line.opened_at)
    assert showing.story(board.store.slow, "A-1").line.id == newest.id


@pytest.mark.proves("DE-07")
def test_flow_show_prints_the_flow_of_a_card(monkeypatch):
    """The same diagram and table as for any flow; nobody can start it by hand."""
    monkeypatch.setenv("STATIONKEEPER_FLOWS", "")
    printed = CliRunner().invoke(app.app, ["flow", "show", "ticket"]).output
    assert "agent -. refused .-> failed([failed])" in printed
    assert "write_back -. unknown .-> write_back_found{look up by key}" in printed
    assert "workspace\tstep\tidempotent_write" in printed
    assert CliRunner().invoke(app.app, ["flow", "run", "ticket"]).exit_code != 0
