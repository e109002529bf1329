"""The state contract: what makes one wrong, each rule by its name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain import contract
from orchestrator.domain.contract import StateContract, fold

SOUND = {"active": ("To Do", "In Progress"), "terminal": ("Done",), "in_progress": "In Progress", "handoff": "Review"}
NAMES = st.sampled_from(["To Do", " to do", "In Progress", "Review", "REVIEW ", "Done", "Straße", "STRASSE", "", " "])
CONTRACTS = st.builds(
    StateContract,
    active=st.lists(NAMES, max_size=3).map(tuple),
    terminal=st.lists(NAMES, max_size=3).map(tuple),
    in_progress=st.none() | NAMES,
    handoff=st.none() | NAMES,
)


def broken(**changes):
    """The rules that a sound contract breaks once it is changed."""
    return {problem.rule for problem in contract.problems(StateContract(**{**SOUND, **changes}))}


def test_a_sound_contract_has_no_problems():
    """The default board with a review column breaks no rule, with or without the optional roles."""
    assert broken() == set()
    assert broken(in_progress=None, handoff=None) == set()


@pytest.mark.proves("SC-01", "SC-02", "SC-03", "SC-04", "SC-05", "SC-06", "SC-07", "SC-08", "SC-09")
@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("SC-01", {"handoff": " "}),
        ("SC-01", {"active": ("To Do", "In Progress", "")}),
        ("SC-02", {"handoff": "TO DO"}),
        ("SC-03", {"handoff": "done "}),
        ("SC-04", {"in_progress": "Doing"}),
        ("SC-05", {"in_progress": "Done", "active": ("To Do", "Done")}),
        ("SC-06", {"in_progress": "review", "active": ("To Do", "Review")}),
        ("SC-07", {"terminal": ("Done", "to do")}),
        ("SC-08", {"active": (), "in_progress": None}),
        ("SC-08", {"terminal": ()}),
        ("SC-09", {"terminal": ("Done", "DONE")}),
    ],
)
def test_each_broken_rule_is_named(rule, changes):
    """A contract that breaks a rule is told so by the rule's name."""
    assert rule in broken(**changes)


@pytest.mark.proves("SC-08")
def test_both_empty_sets_are_reported_apart():
    """No active and no terminal states are two problems, with a key each."""
    found = contract.problems(StateContract((), ()))
    assert [problem.key for problem in found] == ["tracker.active_states", "tracker.terminal_states"]


@pytest.mark.proves("SC-09")
@given(st.text())
def test_names_compare_trimmed_and_folded(name):
    """Spaces around a name and the case of its letters decide nothing."""
    assert fold(f" {name}\t") == fold(name)
    assert StateContract((name,), ()).is_active(f"  {name} ")


@pytest.mark.proves("SC-09")
def test_case_is_folded_by_unicode_rules():
    """Sharp s and its two-letter capital are one name, which lower-casing would keep apart."""
    assert broken(terminal=("Straße", "STRASSE")) == {"SC-09"}


@pytest.mark.proves("SC-02", "SC-03", "SC-07")
@given(CONTRACTS)
def test_a_sound_contract_gives_each_state_one_role(candidate):
    """When nothing is reported, active, terminal and handoff share no state: no finished card starts again."""
    if contract.problems(candidate):
        return
    active, terminal = set(map(fold, candidate.active)), set(map(fold, candidate.terminal))
    handoff = set() if candidate.handoff is None else {fold(candidate.handoff)}
    assert active
    assert terminal
    assert not active & terminal
    assert not handoff & (active | terminal)
    assert candidate.in_progress is None or fold(candidate.in_progress) in active


@given(CONTRACTS, NAMES)
def test_terminal_wins_over_active_even_in_a_broken_contract(candidate, state):
    """No state is both: where a contract says so, the decision that was made counts."""
    assert not (candidate.is_active(state) and candidate.is_terminal(state))


@pytest.mark.proves("SC-14")
def test_a_state_that_the_board_lost_is_named_with_the_closest():
    """Each configured state that is gone is reported with its key and what it was probably renamed to."""
    (problem,) = contract.missing(StateContract(**SOUND), ["To Do", "in progress", "Done", "In Review"])
    assert (problem.rule, problem.key) == ("SC-14", "tracker.handoff_state")
    assert "'In Review'" in problem.message


@given(CONTRACTS)
def test_a_board_that_has_every_state_lacks_none(candidate):
    """The check against the board reports only what is not there."""
    states = [state.upper() for _, state in candidate.roles()]
    assert contract.missing(candidate, states) == ()
