"""What went wrong for others at a turn's end: brakes that fed the loop, moves that failed for ever or moved nothing."""

from dataclasses import replace

import pytest

from orchestrator.domain.turn import Outcome, TurnLimits
from orchestrator.ports.tracker import Moved, TrackerError, TrackerFault
from tests.memory.workflows import workflow
from tests.world import LONG_SECONDS


class Odd:
    """A tracker of which one thing is odd: `move` is asked in its place, and it compares nothing."""

    def __init__(self, tracker, move):
        self._tracker, self.move = tracker, move

    def __getattr__(self, name):
        return getattr(self._tracker, name)

    @property
    def profile(self):
        """It moves whatever stands there."""
        return replace(self._tracker.profile, conditional_moves=False)


def with_moves(stage, move):
    """A world whose tracker answers every move so, with one card; and the targets that were asked for."""
    asked = []

    def moved(item_id, to, **_):
        asked.append(to)
        return move(item_id)

    world = stage.world(wrap=lambda _pid, name, door: Odd(door, moved) if name == "tracker" else door)
    world.add("A-1")
    return world, asked


def go_on(world):
    """Time passes, whatever it brings."""
    for _ in range(6):
        world.settle_down()
        world.jump(LONG_SECONDS)


@pytest.mark.proves("FS-08", "RT-10")
def test_spent_sessions_hold_the_card_through_every_later_tick(stage):
    """Two conversations of two turns did not finish it: a hold with a reason, not a release into the next tick."""
    world = stage.world(workflow=workflow(turn_limits=TurnLimits(max_turns=2, max_sessions=2)))
    world.add("A-1")
    world.script("A-1", *[Outcome.CONTINUE] * 30)
    go_on(world)
    turns = world.one("select count(*) from turn")
    go_on(world)
    assert world.one("select count(*) from turn") == turns
    assert (
        world.one("select max(stop_reason) from turn where ordinal = (select max(ordinal) from turn)")
        == "sessions_spent"
    )
    assert world.reason("A-1") == "held_item"


@pytest.mark.proves("FS-23", "TW-07")
def test_a_forbidden_hand_off_is_parked_and_never_a_loop(stage):
    """The tracker does not let us move the card: one hold that says so, and no second run of finished work."""

    def refuse(_item):
        raise TrackerError(TrackerFault.AUTH, "this user may not move cards")

    world, asked = with_moves(stage, refuse)
    go_on(world)
    assert world.one("select count(*) from turn") == 1
    assert asked.count("In Review") == 1
    holds = world.rows("select kind, reason from hold where lifted_at is null")
    assert [kind for kind, _ in holds] == ["parked_move"]
    assert "may not move cards" in holds[0][1]


@pytest.mark.proves("FS-20", "TW-04")
def test_a_move_that_was_said_to_be_made_and_was_not_is_found_out(stage):
    """The tracker answers that all is well and the card stands where it stood: read back, parked, told."""
    world, asked = with_moves(stage, lambda _item: Moved())
    go_on(world)
    assert (world.state("A-1"), world.one("select count(*) from turn")) == ("Todo", 1)
    assert asked.count("In Review") == 1
    assert "'In Review', and it stands in 'Todo' untouched" in world.one(
        "select max(detail) from outbox where act = 'move'"
    )


@pytest.mark.proves("FS-20")
def test_a_person_who_moves_on_right_after_our_move_is_no_fault(stage):
    """The card bears neither what it bore nor our state: somebody was quicker than the look back."""
    world = None

    def moved(item_id):
        world.board.drag(item_id, "Backlog")
        return Moved()

    world, _ = with_moves(stage, moved)
    go_on(world)
    assert world.state("A-1") == "Backlog"
    assert world.rows("select status from outbox where status = 'parked'") == []
