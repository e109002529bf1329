"""What another contract would change, item by item, and nothing for a contract that says the same."""

from dataclasses import replace

import pytest

from orchestrator.domain import contract as contracts
from orchestrator.domain.difference import Change, Terms, compare
from orchestrator.domain.records import Board, Records
from orchestrator.domain.select import Limits
from tests.domain.worlds import CONTRACT, NOW, item, queued, row, running

NOW_IN_FORCE = Terms(CONTRACT, Limits())


def changes(cards, rows, *, to, slots=10, before=NOW_IN_FORCE):
    """What becomes of each card, by its id."""
    board = Board({card.id: card for card in cards}, NOW)
    records = Records({record.id: record for record in rows}, free_slots=slots)
    return {each.item: each.change for each in compare(board, records, before, proposed=to).differences}


def under(**changed):
    """The contract with something changed."""
    return Terms(replace(CONTRACT, **changed), Limits())


pytestmark = pytest.mark.proves("SC-18")


def test_the_same_contract_changes_nothing():
    """Whatever stands on the board and in our records."""
    cards = [item("A-1"), item("A-2", "Backlog"), item("A-3", "Done")]
    assert changes(cards, [running("A-1"), row("A-2")], to=NOW_IN_FORCE) == {}


def test_a_state_that_becomes_active_starts_its_cards():
    """At once, or as soon as there is a slot."""
    more = under(active=(*CONTRACT.active, "Backlog"))
    assert changes([item("A-2", "Backlog")], [], to=more) == {"A-2": Change.START}
    assert changes([item("A-2", "Backlog")], [], to=more, slots=0) == {"A-2": Change.START}


def test_a_state_that_is_active_no_more_stops_and_leaves_its_cards():
    """The open turn is stopped, the one that waited does not start."""
    less = under(active=("In Progress", "Rework"))
    cards = [item("A-1"), item("A-2"), item("A-3", "Rework")]
    assert changes(cards, [running("A-1"), running("A-3", state="Rework")], to=less) == {
        "A-1": Change.STOP,
        "A-2": Change.LEAVE,
    }


def test_a_state_that_becomes_terminal_cleans_its_cards_up():
    """Their work is over, whether a turn is open or not."""
    more = under(terminal=(*CONTRACT.terminal, "In Review"))
    assert changes([item("A-1", "In Review")], [row("A-1")], to=more) == {"A-1": Change.CLEAN}


def test_another_cap_moves_cards_between_slots():
    """One that would have started waits, and an open turn counts under a cap of its own."""
    capped = Terms(CONTRACT, Limits(max_concurrent_by_state={"todo": 1}))
    assert changes([item("A-1"), item("A-2")], [queued("A-1")], to=capped) == {"A-1": Change.SLOT, "A-2": Change.SLOT}


def test_a_contract_that_the_board_cannot_keep_starts_nothing():
    """What the board lacks is told, and only a terminal state would stop a turn."""
    to = under(active=("Doing",), in_progress=None)
    lacking = contracts.missing(to.contract, ("Todo", "In Review", "Done", "Closed"))
    assert changes([item("A-1"), item("A-2")], [running("A-1")], to=replace(to, lacking=lacking)) == {
        "A-2": Change.LEAVE
    }


def test_a_change_that_stops_most_of_the_fleet_says_that_it_would_be_held():
    """The stops are listed all the same."""
    keys = [f"A-{number}" for number in range(1, 6)]
    board, records = Board({key: item(key) for key in keys}, NOW), Records({key: running(key) for key in keys})
    found = compare(board, records, NOW_IN_FORCE, proposed=under(active=("In Progress", "Rework")))
    assert found.braked
    assert {each.change for each in found.differences} == {Change.STOP}
