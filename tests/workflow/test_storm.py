"""Ten thousand workflow files that nobody should have written; a hundred thousand: `python -m tests.workflow.storm`."""

import pytest

from tests.workflow import bad_files, storm

# Everything that a file may end as. A run that meets only a few of them has stopped being a storm.
ENDS = {
    "rendered",
    "template_render_error",
    "template_parse_error",
    "workflow_parse_error",
    "invalid_state_contract",
    "unsupported_tracker_kind",
}


@pytest.mark.proves("CF-03", "CF-09", "PT-09")
def test_a_thousand_bad_files_meet_a_workflow_or_a_clear_error():
    """Cut, mistyped, nested, aliased, inflated, wrongly encoded, running away, reaching for Python: never a crash."""
    ends = storm.storm(range(1000), 1)
    assert ends.total() == 1000
    assert ENDS - {"unsupported_tracker_kind"} <= set(ends)


@pytest.mark.long
@pytest.mark.timeout(600)  # a minute of CPU time, on a machine that other tests share
@pytest.mark.proves("CF-03", "CF-09", "PT-09")
def test_ten_thousand_bad_files_meet_every_clear_error():
    """The same at length, with other files: each kind of error is met, and no file costs time or memory without end."""
    ends = storm.storm(range(9000), 2)
    assert set(ends) >= ENDS


@pytest.mark.parametrize("bomb", bad_files.BOMBS, ids=range(len(bad_files.BOMBS)))
def test_each_bomb_of_the_storm_is_survived(bomb):
    """So that no bomb is left to chance: it renders, or it says where it was stopped."""
    with storm.bounded_memory(), storm.bounded_time():
        storm.judged(bomb)


def test_the_same_number_makes_the_same_file():
    """A file that was met wrongly is found again by its number."""
    assert bad_files.make(1, 7) == bad_files.make(1, 7)
    assert len({bad_files.make(1, number) for number in range(100)}) > 90
