"""Any one look of a turn, a tick or the relay may show a card as it was; nothing finished is done again for that.

Each look by id of the stories in turn is made of an older board, alone and together with the look after it.
"""

import pytest

from tests.stale.runs import Run, looks, play

pytestmark = [pytest.mark.timeout(600), pytest.mark.proves("TW-01", "TW-05", "CL-05")]

STORIES = ("one card", "closed", "again")


def wrong(stage, story, kind, *, together):
    """What is wrong after the story, for each look by id at which that happens."""
    found = []
    for call in looks(stage, story):
        run = Run(call, story, dict.fromkeys(range(call, call + together), kind))
        if what := play(stage, run):
            found.append(f"{run}: {what}")
    return found


@pytest.mark.parametrize(
    "kind", ["a read by id lags by one change", "a read by id lags by three", "both lag by one change"]
)
@pytest.mark.parametrize("story", STORIES)
def test_one_look_at_an_older_board_changes_only_when(stage, story, kind):
    """Wherever a turn begins, ends, or a write is permitted."""
    found = wrong(stage, story, kind, together=1)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("story", STORIES)
def test_two_looks_at_an_older_board_in_a_row_do_no_finished_work_again(stage, story):
    """A copy that lags does so for a while."""
    found = wrong(stage, story, "a read by id lags by three", together=2)
    assert not found, "\n".join(found)
