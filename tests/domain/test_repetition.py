"""What tells a circle from work: the same few calls count up, and something new takes several back."""

import pytest

from orchestrator.domain.repetition import REMEMBERED, Calls

ROUNDS = 200


def repeated(calls):
    """The repetitions that count at most, on the way through these calls."""
    heard, most = Calls(), 0
    for call in calls:
        heard = heard.heard(call)
        most = max(most, heard.repeated)
        assert len(heard.recent) <= REMEMBERED
    return most


@pytest.mark.proves("FS-58")
@pytest.mark.parametrize("circle", ["a", "ab", "abc", "abcd"])
def test_the_same_few_calls_over_and_over_are_a_circle(circle):
    """Whether one call or four: every one counts but the first of each."""
    assert repeated(circle * ROUNDS) == len(circle) * ROUNDS - len(set(circle))


@pytest.mark.proves("FS-58")
@pytest.mark.parametrize(
    "work",
    [
        [f"read {number}" for number in range(ROUNDS)],
        [call for number in range(ROUNDS) for call in (f"edit {number}", "test")],
        [call for number in range(ROUNDS) for call in (f"edit {number}", "test", "diff", "status", "test")],
        [call for number in range(ROUNDS) for call in ("look", "look", "look", f"read {number}")],
    ],
    ids=["nothing twice", "a test after each edit", "a ritual after each edit", "looks again and again"],
)
def test_work_that_repeats_itself_is_no_circle(work):
    """However long it goes on: something new comes each time."""
    assert repeated(work) <= 10


def test_something_new_takes_several_back_and_a_circle_goes_on_counting():
    """A single new call in the middle of a long circle does not hide it."""
    assert repeated(["a"] * 40 + ["new"] + ["a"] * 40) > 50
