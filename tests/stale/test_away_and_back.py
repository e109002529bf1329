"""A person puts a card elsewhere, and back to where its run began: what a look has shown is not forgotten.

The hand-off of that run is not made any more; the card is worked on anew, since to put it there is a wish of its own.
"""

import pytest

from tests.stale import stamps
from tests.stale.runs import Run, looks, play

pytestmark = [pytest.mark.timeout(600), pytest.mark.proves("TW-01", "TW-05", "H15", "FS-17")]

AGAIN = "a_person_asks_for_rework"
ELSEWHERE = ("a_person_drags_away", "a_person_wants_it_done")
# Both runs begin in Rework: of the first the card goes to In Progress while it works, of the second it does not.
BEGINNINGS = (0, 17)
SHOWN = (stamps.exact, stamps.coarse, stamps.absent)


def wrong(stage, runs, show):
    """What is wrong in which of these runs."""
    return [f"{run}: {found}" for run in runs if (found := play(stage, run, show))]


@pytest.mark.parametrize("show", SHOWN)
@pytest.mark.parametrize("elsewhere", ELSEWHERE)
@pytest.mark.parametrize("begins", BEGINNINGS)
def test_a_card_that_was_seen_elsewhere_is_not_handed_off_when_it_is_back(stage, begins, elsewhere, show):
    """Away at any look by id, and back at the next call.

    Without stamps the board is asked in the next call, so the person is back after that one.
    """
    soonest = 1 if show is stamps.exact else 2
    seen = [call for call in looks(stage, "one card", {begins: AGAIN}) if call > begins]
    runs = (Run(call, "one card", {begins: AGAIN, call: elsewhere, call + soonest: AGAIN}) for call in seen)
    found = wrong(stage, runs, show)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("show", SHOWN)
def test_a_card_that_is_put_back_from_in_progress_is_worked_on_anew(stage, show):
    """At any call after our own move: the column where the run began is one of a person's choice now."""
    found = wrong(stage, (Run(call, "one card", {0: AGAIN, call: AGAIN}) for call in range(3, 17)), show)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("column", ["in progress renamed", "the first column renamed"])
def test_a_column_that_is_renamed_for_one_look_takes_nobody_away(stage, column):
    """Its old name is back when the board is asked: nothing is lacking, but it has no such column."""
    runs = (
        Run(call, "one card", {call: column, call + later: "renamed back"}) for call in range(2, 15) for later in (1, 3)
    )
    found = wrong(stage, runs, stamps.exact)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("show", [stamps.coarse, stamps.absent])
@pytest.mark.parametrize("kind", ["a read by id lags by one change", "a read by id lags by three"])
def test_an_older_look_without_a_stamp_takes_nothing_away(stage, kind, show):
    """Our own moves and comments lie between it and the present: no finished work is done again for it."""
    found = wrong(stage, (Run(call, "one card", {call: kind}) for call in looks(stage, "one card")), show)
    assert not found, "\n".join(found)
