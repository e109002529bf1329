"""Boards that lag, lie, fail and change between two looks: nothing is overwritten, doubled or lost.

A seeded part; `python -m tests.stale 15000` plays the full number. What was wrong once is played for ever.
"""

import pytest

from tests.faults import stories
from tests.stale import mischief
from tests.stale.runs import Run, play

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.proves("H7", "H10", "H14", "H15", "TW-01", "TW-02", "TW-03", "TW-04", "TW-05", "TW-10", "TW-13"),
    pytest.mark.proves("FS-17", "FS-20", "FS-23", "FS-28", "FS-44"),
]

SEEDS = range(40)
# A column renamed during a move; a refused comment that was given up; one read by id that did not show the card; a
# column renamed while a turn ended, between a tick's look at the columns and its cancel, and before it lifted a hold;
# an old listing that seemed to lift one; a card that went away and came back between the relay's two looks.
FOUND = (
    Run(7, "again", {9: "429", 25: "the first column renamed", 41: "500 after the write"}),
    Run(9, "closed", {8: "401 or 403", 17: "closed and reopened", 23: "slow", 39: "out and in"}),
    Run(196, "one card", {13: "both lag by three"}),
    Run(1163, "one card", {11: "in progress renamed"}),
    Run(1109, "two cards", {4: "the first column renamed", 5: "404", 30: "the listing lags by five"}),
    Run(
        20195,
        "doubled",
        {1: "the listing lags by one change", 16: "a_person_wants_it_done", 26: "both lag by one change"},
    ),
    Run(1125, "two cards", {22: "500 after the write", 30: "in progress renamed"}),
    Run(32219, "again", {22: "both lag by three", 25: "429 with Retry-After"}),
    Run(
        38299,
        "again",
        {
            3: "review renamed",
            21: "the listing lags by one change",
            24: "the listing lags by five",
            42: "a read by id lags by three",
        },
    ),
    Run(
        61016,
        "one card",
        {
            22: "a_person_asks_for_rework",
            33: "a_person_drags_away",
            35: "a_person_asks_for_rework",
            42: "429 with Retry-After",
        },
    ),
    Run(32954, "again", {9: "review renamed", 18: "429 with Retry-After", 31: "in progress renamed"}),
)
# At these calls of the first story the relay and the tick look, decide and write.
EVERY_CALL = range(0, 16, 3)


def wrong(stage, runs, **said):
    """What is wrong in which of these runs."""
    return [f"{run}: {found}" for run in runs if (found := play(stage, run, **said))]


def test_stale_and_unobserved_worlds_come_to_what_their_boards_ask(stage):
    """Up to four mischiefs a world, at calls and of kinds that its seed chooses."""
    found = wrong(stage, map(Run.of, SEEDS))
    assert not found, "\n".join(found)


def test_what_was_wrong_once_stays_right(stage):
    """The runs that found something."""
    found = wrong(stage, FOUND)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("kind", ["500 after the write", "cut after the write", "both lag by three", "review renamed"])
def test_one_mischief_at_any_look_or_write_changes_only_when(stage, kind):
    """The sharpest kinds, alone, along the shortest story."""
    found = wrong(stage, (Run(call, "one card", {call: kind}) for call in EVERY_CALL))
    assert not found, "\n".join(found)


def test_a_tracker_whose_moves_are_read_back_comes_to_the_same(stage):
    """It promises no compare-and-set, and a look back meets the same mischiefs as any other."""
    sharp = ("both lag by three", "a read by id lags by one change", "closed and reopened")
    found = wrong(stage, map(Run.of, range(100, 112)), compares=False)
    found += wrong(
        stage, (Run(call, "one card", {call: kind}) for call in EVERY_CALL for kind in sharp), compares=False
    )
    assert not found, "\n".join(found)


def test_every_kind_and_every_story_is_played():
    """The seeds of the full number leave out none."""
    runs = [Run.of(seed) for seed in range(1_000)]
    assert {kind for run in runs for kind in run.at.values()} == set(mischief.ALL)
    assert {run.story for run in runs} == set(stories.STORIES)
