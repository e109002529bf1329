"""Two faults in one run, at calls and of kinds that a seed chooses: each seed is the same run for ever."""

import pytest

from tests.faults import runs

pytestmark = [pytest.mark.timeout(600), pytest.mark.proves("CL-05", "H1", "H14", "TW-05")]

# So many pairs are part of every test run; `python -m tests.faults` goes on with seeds of its own.
SEEDS_A_TEST = 50


@pytest.mark.parametrize("first", range(0, 400, SEEDS_A_TEST))
def test_two_faults_in_one_run_change_only_when(stage, first):
    """Whatever two things happen, the world at rest is as the board asks."""
    wrong = [
        f"{pair}: {found}"
        for seed in range(first, first + SEEDS_A_TEST)
        if (found := runs.play_pair(stage, pair := runs.pair(seed)))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("first", range(1000, 1100, SEEDS_A_TEST))
def test_a_costly_board_changes_nothing_of_it(stage, first):
    """The same where a listing shows some columns only, and the rest is looked at slowly."""
    wrong = [
        f"{pair}: {found}"
        for seed in range(first, first + SEEDS_A_TEST)
        if (found := runs.play_pair(stage, pair := runs.pair(seed), costly=True))
    ]
    assert not wrong, "\n".join(wrong)
