"""Finished work never starts again: two overlapping ticks explored exhaustively, as the system is built and as it is not."""

import pytest

from tests.models import overlap
from tests.models.explore import explore
from tests.models.overlap import Rules, World

# Ways in which the same system is wrong, each with the law that its shortest story breaks.
SABOTAGE = [
    pytest.param(
        Rules(compares_version=False),
        "finished work starts again",
        id="the dispatch does not compare the version that its plan saw",
    ),
    pytest.param(
        Rules(compares_version=False, ticks=3),
        "stops turn 2",
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

SOUND = [
    pytest.param(Rules(), id="as designed, two ticks"),
    pytest.param(Rules(ticks=3), id="as designed, three ticks"),
    pytest.param(
        Rules(order=("version", "facts", "board", "reread")), id="the records in two reads, the version first"
    ),
    pytest.param(
        Rules(order=("board", "reread", "records")), id="the board first, but a board older than our move waits"
    ),
]


def explored(rules, law=""):
    """Everything that can happen under the rules, up to the first world that breaks the law."""
    return explore(World(), overlap.moves(rules), is_wrong=lambda world: bool(world.wrong) and law in world.wrong)


@pytest.mark.proves("H1", "CL-02", "CL-03", "CL-06", "FS-01")
@pytest.mark.parametrize("rules", SOUND)
def test_no_order_of_steps_starts_finished_work_again(rules):
    """Whatever overlaps, whenever the lease vanishes, wherever the person drags the card: in no world of all there are."""
    found = explored(rules)
    assert found.wrong is None, f"{found.wrong.wrong}:\n{found.story(found.wrong)}"
    assert len(found) > 2_000


@pytest.mark.proves("H1", "FS-02")
@pytest.mark.parametrize(("rules", "law"), SABOTAGE)
def test_without_the_rule_the_work_starts_again(rules, law):
    """The model can tell: each rule left out is found, with the shortest story of how it happens."""
    found = explored(rules, law)
    assert found.wrong is not None, f"{len(found)} worlds, and none breaks the law: the model has lost its teeth"
    story = found.story(found.wrong)
    assert law in found.wrong.wrong, story
    assert "tick 2" in story or "tick 1 reads the board" in story, story


def test_the_model_reaches_what_it_is_about():
    """It is not sound for want of trying: cards are handed off, dragged back and worked on again, turns are flagged."""
    worlds = explored(Rules(ticks=3)).came_from
    assert any(world.card == "In Review" and world.finished for world in worlds)
    assert any(world.row.turn == "running" and world.row.fence == 2 for world in worlds)
    assert any(world.row.turn == "flagged" for world in worlds)
    assert any(world.lease is None and world.row.turn == "running" for world in worlds)
    assert any(None not in {tick.deed for tick in world.ticks} for world in worlds), "both ticks act at once"
