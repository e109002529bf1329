"""Eventually stable reconciliation, explored exhaustively in small worlds.

When the person keeps still and nothing breaks any more, the fleet reaches what the board asks for and stays there: from
every state that any order of steps, moves of the person's hand, crashes, lost messages and torn reads can lead to.
"""

from functools import cache

import pytest

from orchestrator.domain.contract import StateContract
from tests.models.explore import explore
from tests.models.fleet import Fleet
from tests.models.world import Rules, is_quiet, start

PLAIN = StateContract(active=("Todo",), terminal=("Done",), handoff="In Review")
NO_REVIEW = StateContract(active=("Todo",), terminal=("Done",))
FULL = StateContract(active=("Todo", "In Progress"), terminal=("Done",), in_progress="In Progress", handoff="In Review")

WORLDS = {
    "one card, a hand that moves twice, two faults": Rules(PLAIN, cards=1, person=2, faults=2),
    "one card without a review column": Rules(NO_REVIEW, cards=1, person=2, faults=2),
    "one card that goes to In Progress": Rules(FULL, cards=1, person=1, faults=1),
    "two cards and one slot": Rules(PLAIN, cap=1, endings=("done",)),
    "two cards, agents that fail": Rules(PLAIN, faults=0),
    "two cards, a hand that moves twice": Rules(PLAIN, person=2, faults=0, endings=("done",)),
}

# What must not be left out: each by itself leaves some world that never comes to rest, or breaks a law on the way.
SABOTAGE = {
    "the dead are never taken over": Rules(PLAIN, cards=1, person=0, forgets=frozenset({"expire"})),
    "a lost message is never sent again": Rules(PLAIN, cards=1, person=0, forgets=frozenset({"requeue"})),
    "a task whose card was taken away is never ended": Rules(PLAIN, cards=1, forgets=frozenset({"endtask"})),
    "a person's move lifts no hold": Rules(PLAIN, cards=1, faults=0, forgets=frozenset({"lifthold"})),
    "a hold remembers what the worker last read": Rules(FULL, cards=1, person=1, faults=0, holds_by_the_reread=True),
    "a hold takes back a move that was made": Rules(FULL, cards=1, person=1, faults=1, takes_back_claimed=True),
}


@cache
def explored(rules):
    """Everything that can happen under the rules, up to the first world that breaks a law."""
    fleet = Fleet(rules)
    return explore(start(rules), fleet.calm, fleet.disturbances, is_wrong=lambda world: bool(world.wrong))


@pytest.mark.proves("H14", "H16", "CL-07", "CL-08", "CL-09", "FS-16", "FS-25", "FS-26")
@pytest.mark.parametrize("rules", WORLDS.values(), ids=WORLDS)
def test_from_every_state_the_fleet_comes_to_rest(rules):
    """Calm moves lead every world to what the board asks for; no work is done twice, no hold lifted by us."""
    found = explored(rules)
    assert found.wrong is None, f"{found.worlds[found.wrong].wrong}:\n{found.story(found.wrong)}"
    restless = found.restless(is_quiet)
    assert restless == [], f"{found.worlds[restless[0]]} never comes to rest:\n{found.story(restless[0])}"


@pytest.mark.proves("H16", "FS-08", "FS-11")
@pytest.mark.parametrize("rules", SABOTAGE.values(), ids=SABOTAGE)
def test_each_rule_left_out_is_found_out(rules):
    """The model can tell a fleet that is built wrongly from one that is not."""
    found = explored(rules)
    assert found.wrong is not None or found.restless(is_quiet) != []


def test_the_small_worlds_hold_what_they_are_about():
    """Both workers work, turns and messages are lost, cards are held, closed in mid-turn, handed off."""
    worlds = [world for rules in WORLDS.values() for world in explored(rules).worlds]
    pairs = {pair for world in worlds for pair in zip(world.cards, world.rows, strict=True)}
    assert any(len(world.workers) == 2 for world in worlds)
    assert any(not worker.ours for world in worlds for worker in world.workers)
    assert any(row.turn == "queued" and not row.message for _, row in pairs)
    assert any(row.held and card == "Todo" for card, row in pairs)
    assert any(row.turn == "running" and card == "Done" for card, row in pairs)
    assert any(not row.task and card == "In Review" for card, row in pairs)
