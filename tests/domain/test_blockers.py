"""Whose blockers are read in which tick: few at a time, and every card in a bounded number of ticks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain import blockers
from orchestrator.domain.item import Blocker
from orchestrator.domain.select import Limits
from tests.domain.worlds import CONTRACT, board, item, records, running

MOST = 5


def hanging(key, *names, state="Todo", **more):
    """A card that names blockers whose states nobody told."""
    return item(key, state, blocked_by=tuple(Blocker(name, name, None) for name in names), **more)


@pytest.mark.proves("CS-10")
@given(
    st.dictionaries(
        st.sampled_from([f"A-{number:02d}" for number in range(30)]),
        st.lists(st.sampled_from([f"B-{number}" for number in range(12)]), min_size=1, max_size=8, unique=True),
        min_size=1,
    ),
    st.none() | st.text(max_size=4),
)
def test_every_card_gets_its_turn_within_a_bounded_number_of_ticks(named, after):
    """Each tick reads at most so many blockers, or those of one card; the next goes on behind it, and round."""
    cards = [hanging(key, *names) for key, names in sorted(named.items())]
    seen = set()
    for _ in cards:
        window = blockers.window(cards, after, most=MOST)
        ids = {name for card in window for name in blockers.unread(card)}
        assert len(window) == 1 or len(ids) <= MOST
        seen.update(card.id for card in window)
        after = window[-1].id
        if len(seen) == len(cards):
            return
    assert len(seen) == len(cards)


def test_nothing_to_read_is_no_window():
    """No card, no call."""
    assert blockers.window((), "A-1") == ()


def test_only_a_card_that_nothing_else_keeps_back_is_worth_a_read():
    """Not one that runs, that nobody wants, that a known blocker stops, or whose list could not be read."""
    known = item("A-5", blocked_by=(Blocker("B-1", "B-1", "Todo"), Blocker("B-2", "B-2", None)))
    cards = (
        hanging("A-9", "B-1"),
        hanging("A-1", "B-1"),
        hanging("A-2", "B-1", state="Backlog"),
        hanging("A-3", "B-1", dispatchable=False),
        hanging("A-4", "B-1", blockers_readable=False),
        known,
        hanging("A-6", "B-1"),
        item("A-7"),
    )
    found = blockers.needy(board(*cards), records(running("A-6")), contract=CONTRACT, limits=Limits())
    assert [card.id for card in found] == ["A-1", "A-9"]


def test_states_are_filled_in_where_they_are_known_and_nowhere_else():
    """A blocker that is not there stays unknown, and so cannot count as terminal."""
    filled = blockers.filled(hanging("A-1", "B-1", "B-2"), {"B-1": item("B-1", "Done")})
    assert [blocker.state for blocker in filled.blocked_by] == ["Done", None]
