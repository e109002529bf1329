"""Which of two looks at a card is the later one: only a stamp tells, and a doubt is no proof."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from orchestrator.domain.sighting import Age, Sighting
from tests.domain.worlds import item

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SEEN = Sighting("Todo", NOON)


def look(state, updated_at):
    """A card as a later call shows it."""
    return replace(item("A-1", state), updated_at=updated_at)


@pytest.mark.proves("TW-01")
@pytest.mark.parametrize(
    ("state", "minutes", "age"),
    [
        pytest.param("Todo", 0, Age.LATER, id="nothing has changed"),
        pytest.param("TODO", 0, Age.LATER, id="the state is spelled otherwise"),
        pytest.param("In Review", 1, Age.LATER, id="a later stamp is believed whatever it shows"),
        pytest.param("In Review", 0, Age.UNSURE, id="moved within the stamp's minute, or back in time"),
        pytest.param("In Review", -1, Age.EARLIER, id="an older stamp is the past"),
        pytest.param("Todo", -1, Age.EARLIER, id="also where its state is the same: its text may not be"),
    ],
)
def test_a_look_is_judged_by_its_stamp_and_doubted_by_its_state(state, minutes, age):
    """The same call, some minutes of the tracker's own clock apart."""
    assert SEEN.age(look(state, NOON + timedelta(minutes=minutes))) is age


@pytest.mark.parametrize(("before", "after"), [(None, NOON), (NOON, None), (None, None)])
def test_without_a_stamp_another_state_is_doubted(before, after):
    """A tracker that has no stamps, or a card that was given one meanwhile."""
    assert Sighting("Todo", before).age(look("Done", after)) is Age.UNSURE
    assert Sighting("Todo", before).age(look("Todo", after)) is Age.LATER


@pytest.mark.proves("TW-01")
def test_what_is_known_goes_on_with_each_look_that_is_surely_later():
    """A doubtful look, an older one and one that failed leave it as it was."""
    later = NOON + timedelta(minutes=1)
    assert SEEN.then(look("Rework", later)) == Sighting("Rework", later)
    assert SEEN.then(look("Rework", NOON)) == SEEN
    assert SEEN.then(look("Rework", NOON - timedelta(minutes=1))) == SEEN
    assert SEEN.then(None) == SEEN
