"""The first guess at the roles of a board's states: sensible for the boards that teams have, and sound for all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain import contract, roles

COLUMNS = [
    "To Do",
    "Backlog",
    "In Progress",
    "Doing",
    "In Review",
    "QA",
    "Done",
    "Closed",
    "Blocked",
    "",
    " ",
    "done",
    "X",
]


@pytest.mark.parametrize(
    ("states", "active", "terminal", "in_progress", "handoff"),
    [
        (["To Do", "In Progress", "Done"], ["To Do", "In Progress"], ["Done"], "In Progress", None),
        (["Backlog", "Todo", "Doing", "Review", "Done"], ["Todo", "Doing"], ["Done"], "Doing", "Review"),
        (["Open", "Closed"], ["Open"], ["Closed"], None, None),
        (["Ideas", "Ready", "WIP", "Human Review", "Cancelled", "Done"], ["Ready", "WIP"], ["Cancelled", "Done"], "WIP",
         "Human Review"),
        (["Neu", "Fertig"], ["Neu"], ["Fertig"], None, None),
    ],
)  # fmt: skip
def test_a_boards_columns_suggest_their_roles(states, active, terminal, in_progress, handoff):
    """What waits and what is worked on is active, what is decided is terminal, what is parked is left alone."""
    found = roles.guess(states)
    assert (found.active, found.terminal) == (tuple(active), tuple(terminal))
    assert (found.in_progress, found.handoff) == (in_progress, handoff)


@pytest.mark.parametrize("states", [[], ["Done"], ["Done", "Closed"], ["Backlog", "Done"]])
def test_too_few_columns_are_no_contract(states):
    """Nothing is called active that nobody would call so."""
    assert roles.guess(states) is None


@given(st.lists(st.sampled_from(COLUMNS) | st.text(max_size=6)))
def test_a_guess_is_always_sound(states):
    """Whatever a board calls its columns, the guess breaks no rule and names only states that are there."""
    found = roles.guess(states)
    if found is not None:
        assert contract.problems(found) == ()
        assert contract.missing(found, states) == ()
