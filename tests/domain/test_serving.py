"""A mark says the same to whoever reads it, and nothing else on a card is one."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain import keys
from orchestrator.domain.serving import Mark, read, stamped

pytestmark = pytest.mark.proves("H30")

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MOMENTS = st.integers(-(10**9), 10**9).map(lambda seconds: NOON + timedelta(seconds=seconds))
MARKS = st.builds(Mark, st.text("0123456789abcdef", min_size=8, max_size=8), MOMENTS, MOMENTS)


@given(MARKS, st.text())
def test_a_mark_is_read_from_any_text_that_it_was_put_into(mark, body):
    """Whatever an agent said, also another mark: the one behind the first line counts."""
    assert read(keys.status_comment_key(mark.installation), stamped(body, mark)) == mark


@given(MARKS, MARKS)
def test_of_two_installations_exactly_one_stays(one, other):
    """Each reads the other's mark and its own, and both say the same of the two."""
    if one.installation != other.installation:
        assert one.is_before(other) != other.is_before(one)


def test_who_began_earlier_stays_whatever_it_promises():
    """A mark that is good for longer is no better."""
    first = Mark("zzzz", NOON, NOON + timedelta(minutes=1))
    assert first.is_before(Mark("aaaa", NOON + timedelta(seconds=1), NOON + timedelta(days=1)))


def test_other_clocks_zones_are_told_in_one():
    """What stands on the card is UTC, whatever zone the database's moments came in."""
    local = datetime.fromisoformat("2026-03-01T14:00:00+02:00")
    assert Mark("a", local, local).line() == Mark("a", NOON, NOON).line()


@pytest.mark.parametrize(
    ("key", "body"),
    [
        ("a:status", "Turn 1 is running."),
        ("a:hold:7", stamped("Held.", Mark("a", NOON, NOON))),
        (None, stamped("Turn 1 is running.", Mark("a", NOON, NOON))),
        ("a:status", f"Turn 1 ended.\n\n{Mark('a', NOON, NOON).line()}"),
        ("a:status", f"Turn 1 is running.\n{Mark('a', NOON, NOON).line()} Really."),
        ("a:status", f"Turn 1 is running.\n{Mark('a', NOON, NOON).line().replace('-03-', '-13-')}"),
    ],
    ids=["no line", "of a hold", "of a person", "further down", "with more behind it", "of no month"],
)
def test_nothing_else_is_a_mark(key, body):
    """Only the second line of a status comment, and only the whole of it."""
    assert read(key, body) is None
