"""However often a card is worked on, it bears one status comment of ours, and one for each hold."""

import pytest

from orchestrator.domain.turn import Outcome


def keys(world):
    """The hidden keys of our comments on the card, in order."""
    return [comment.key.split(":")[1] for comment in world.board.said("A-1") if comment.key is not None]


@pytest.mark.proves("TW-11", "TW-10", "FS-44")
def test_many_turns_and_two_holds_are_three_comments(world):
    """Three failures and a hold, a person's way out, three failures and a hold: no turn adds a comment of its own."""
    world.add("A-1")
    world.script("A-1", *[Outcome.FAILED] * 6)
    world.run_until_quiet()
    assert world.rows("select count(*) from turn") == [(3,)]
    assert sorted(keys(world)) == ["hold", "status"]
    world.drag("A-1", "Backlog")
    world.run_until_quiet()
    world.drag("A-1", "Todo")
    world.run_until_quiet()
    assert world.rows("select count(*) from turn") == [(6,)]
    assert sorted(keys(world)) == ["hold", "hold", "status"]
    assert len({comment.key for comment in world.board.said("A-1")}) == len(world.board.said("A-1"))


@pytest.mark.proves("TW-11", "FS-44")
def test_a_turn_that_goes_on_seven_times_says_so_in_one_place(world):
    """Seven replies in eighty seconds are one that changes."""
    world.add("A-1")
    world.script("A-1", *[Outcome.CONTINUE] * 7)
    for _ in range(10):
        world.settle_down()
        world.jump(2)
    world.run_until_quiet()
    assert keys(world) == ["status"]
    assert world.state("A-1") == "In Review"
