"""Every call of every story, with something going wrong at it: the fleet always reaches what the board asks for.

A test is one kind of fault in one story and holds a run for each call; what fails is named by the call's number and
name. `python -m tests.faults` tells the whole matrix, pairs included, with a report.
"""

import pytest

from tests.faults import faults, runs
from tests.faults.stories import STORIES

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.proves("CL-05", "CL-07", "CL-08", "H1", "H2", "H4", "H5", "H14", "H15", "TW-01", "TW-05", "TW-13"),
]

# The first story bears every fault; the others those that their own calls make interesting.
CHOSEN = [
    *(("one card", kind) for kind in faults.ALL),
    *(("two cards", kind) for kind in ("dies_after", "loses_its_answer", "another_tick_begins", "a_person_closes")),
    *(("closed", kind) for kind in ("dies_before", "loses_its_answer", "freezes", "a_person_drags_away_and_back")),
    *(("again", kind) for kind in ("dies_after", "loses_its_answer", "freezes", "a_person_asks_for_rework")),
    *(("doubled", kind) for kind in ("dies_after", "fails", "another_tick_begins", "a_person_deletes")),
]


@pytest.fixture(scope="module")
def calls(stage):
    """The calls of each story when nothing goes wrong."""
    return {name: runs.golden(stage, name) for name in STORIES}


@pytest.mark.parametrize(("story", "kind"), CHOSEN)
def test_a_fault_at_any_call_changes_only_when(stage, calls, story, kind):
    """Whatever happens at whichever call, the world at rest is as the board asks, and stays so."""
    wrong = [
        f"{number} {name}: {found}"
        for number, name in enumerate(calls[story])
        if (found := runs.play(stage, story, {number: faults.ALL[kind]}, word=bool(number % 2)))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.proves("CL-08", "RT-13")
@pytest.mark.parametrize("kind", ["dies_before", "dies_after"])
def test_a_death_is_survived_whoever_tells_of_it(stage, calls, kind):
    """The other half of the deaths: by the supervisor's word where it was the lease, and the other way round."""
    wrong = [
        f"{number} {name}: {found}"
        for number, name in enumerate(calls["one card"])
        if (found := runs.play(stage, "one card", {number: faults.ALL[kind]}, word=not number % 2))
    ]
    assert not wrong, "\n".join(wrong)
