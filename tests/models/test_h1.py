"""Finished work never starts again: overlapping ticks explored exhaustively, as they are built and as they are not."""

import pytest

from tests.models import overlap
from tests.models.explore import explore
from tests.models.overlap import Rules, World

SOUND = [
    pytest.param(Rules(), id="as designed, two ticks"),
    pytest.param(Rules(ticks=3), id="as designed, three ticks"),
    pytest.param(Rules(order=("version", "facts", "board", "reread")), id="records in two reads, the version first"),
    pytest.param(Rules(order=("board", "reread", "records")), id="the board first, but its age is heeded"),
]

# Ways in which the same system is wrong, each with the law that its shortest story breaks.
SABOTAGE = [
    pytest.param(
        Rules(opens_by_version=False),
        "finished work starts again",
        id="the dispatch does not compare the version that its plan saw",
    ),
    pytest.param(
        Rules(cancels_by_version=False, ticks=3),
        "the cancel of turn 1 stops turn 2",
        id="the cancel does not compare the version that its plan saw",
    ),
    pytest.param(
        Rules(order=("facts", "version", "board", "reread")),
        "finished work starts again",
        id="the records come in two reads, the version last",
    ),
    pytest.param(
        Rules(order=("board", "reread", "records"), heeds_settled_moves=False),
        "finished work starts again",
        id="the board is read before the records, and its age is not heeded",
    ),
]


def explored(rules):
    """Everything that can happen under the rules, up to the first world that breaks a law."""
    return explore(World(), overlap.moves(rules), is_wrong=overlap.is_wrong)


@pytest.mark.proves("H1", "CL-02", "CL-03", "CL-06", "FS-01")
@pytest.mark.parametrize("rules", SOUND)
def test_no_order_of_steps_starts_finished_work_again(rules):
    """Whatever overlaps, whenever the lease vanishes, wherever the person drags the card: in no world that there is."""
    found = explored(rules)
    assert found.wrong is None, f"{found.worlds[found.wrong].wrong}:\n{found.story(found.wrong)}"
    assert len(found.worlds) > 2_000


@pytest.mark.proves("H1", "FS-02")
@pytest.mark.parametrize(("rules", "law"), SABOTAGE)
def test_without_the_rule_the_law_is_broken(rules, law):
    """The model can tell: each rule left out is found, with the shortest story of how it happens."""
    found = explored(rules)
    assert found.wrong is not None, f"none of {len(found.worlds)} worlds breaks the law: the model has lost its teeth"
    assert law in found.worlds[found.wrong].wrong, found.story(found.wrong)


@pytest.mark.proves("H1")
def test_the_shortest_story_is_the_one_that_is_told():
    """Two ticks, one of them slow: its records are older than the other's turn, its board older than the hand-off."""
    found = explored(Rules(opens_by_version=False))
    told = found.story(found.wrong).splitlines()
    places = [
        next(place for place, line in enumerate(told) if sentence in line)
        for sentence in (
            "tick 2 reads the records: version 0",
            "tick 1 opens turn 1",
            "turn 1 is concluded",
            "tick 2 re-reads the card: Todo",
            "tick 2 opens turn 2",
            "turn 2 is admitted",
        )
    ]
    assert places == sorted(places), "\n".join(told)


def test_the_model_reaches_what_it_is_about():
    """It is not sound for want of trying: cards are handed off, dragged back and worked on again, turns are flagged."""
    worlds = explored(Rules(ticks=3)).worlds
    assert any(world.card == "In Review" and world.finished for world in worlds)
    assert any(world.row.turn == "running" and world.row.fence == 2 for world in worlds)
    assert any(world.row.turn == "flagged" for world in worlds)
    assert any(world.lease is None and world.row.turn == "running" for world in worlds)
    assert any(None not in {tick.deed for tick in world.ticks} for world in worlds), "no two ticks act at once"
