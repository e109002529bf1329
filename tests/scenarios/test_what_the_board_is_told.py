"""Each word of ours on a card was observed, and is taken back when it is true no more (FS-46)."""

from dataclasses import replace
from itertools import product

import pytest

from orchestrator.domain.contract import StateContract, problems
from orchestrator.domain.turn import Outcome, StopReason, TurnLimits
from orchestrator.domain.writeback import Role, target
from tests.memory.desk import Killed
from tests.memory.workflows import CONTRACT, workflow

pytestmark = pytest.mark.proves("FS-46", "TW-09")


def said(world):
    """What stands on the card, ours by their keys' last part."""
    return [comment.body for comment in world.board.said("A-1")]


def test_no_write_of_ours_ever_says_that_a_card_is_done():
    """We move cards in two roles, and no contract is taken in which either is a terminal state."""
    assert set(Role) == {Role.IN_PROGRESS, Role.HANDOFF}
    assert not any(CONTRACT.is_terminal(target(role, CONTRACT) or "") for role in Role)
    for in_progress, handoff in product(("In Progress", "Done"), ("In Review", "Done")):
        broken = problems(StateContract(("Todo", "In Progress"), ("Done",), in_progress, handoff))
        assert bool(broken) == ("Done" in {in_progress, handoff})


def test_a_finished_card_waits_in_review_for_a_person(world):
    """The agent's `done` is no `Done`; only a person's hand closes the card."""
    world.add("A-1")
    world.run_until_quiet()
    assert (world.state("A-1"), [move.to for move in world.board.history][-1]) == ("In Review", "In Review")


def test_a_turn_whose_worker_died_is_not_said_to_run(stage):
    """From its death on until the next turn begins the card says that the turn was lost."""
    world = stage.world(believes_supervisors=True)
    world.add("A-1")
    dead = []

    def dies(_turn):
        if not dead:
            dead.append(world.process)
            world.relay()
            raise Killed("agent")

    world.agents.during = dies
    world.tick()
    world.deliver()
    assert [body.splitlines()[0] for body in said(world)] == ["Turn 1 is running."]
    world.tick(full=False)
    world.relay()
    (now,) = said(world)
    assert "its worker was lost" in now
    assert "running" not in now
    world.run_until_quiet()
    assert said(world) == ["Turn 2 is done.\n\ndid A-1"]


def test_a_card_that_was_blocked_and_goes_on_is_not_said_to_be_held(world):
    """The hold's comment is edited when a person lifts it, and stands as what was; none is added."""
    world.add("A-1")
    world.script("A-1", Outcome.BLOCKED, Outcome.DONE)
    world.run_until_quiet()
    assert [body.partition(":")[0] for body in said(world)][-1] == "Held (blocked)"
    world.drag("A-1", "Rework")
    world.run_until_quiet()
    status, hold = said(world)
    assert status.startswith("Turn 2 is done")
    assert hold.startswith("No longer held: a person moved the card")
    assert "Move the card to another column" not in hold
    assert world.state("A-1") == "In Review"


@pytest.mark.parametrize("command", ["release", "resume"])
def test_a_hold_that_a_command_ends_is_over_on_the_card_too(stage, command):
    """Whoever looks at the card sees who let it go, and why."""
    world = stage.world(workflow=workflow(turn_limits=TurnLimits(max_attempts=1)))
    world.add("A-1")
    world.script("A-1", Outcome.FAILED if command == "resume" else Outcome.BLOCKED, Outcome.DONE)
    world.run_until_quiet()
    assert said(world)[-1].startswith("Held (")
    world.command("A-1", command, reason="the key is there now")
    world.run_until_quiet()
    assert "the key is there now" in said(world)[-1]
    assert said(world)[-1].startswith("No longer held")
    assert world.state("A-1") == "In Review"


def test_a_letter_that_is_given_up_stays_held_on_the_card(stage):
    """A discard ends no hold but its kind: the card does not go on."""
    world = stage.world(workflow=workflow(turn_limits=TurnLimits(max_attempts=1)))
    world.add("A-1")
    world.script("A-1", Outcome.FAILED)
    world.run_until_quiet()
    world.command("A-1", "discard")
    world.run_until_quiet()
    assert said(world)[-1].startswith("Held (dead_letter)")


def test_an_end_that_nobody_reported_is_not_called_done(world):
    """Every failing end of a turn has its own words on the card, and none of them are those of a finished one."""
    for stop in (StopReason.STALLED, StopReason.TIMED_OUT, StopReason.NO_EVIDENCE, StopReason.BAD_REPORT):
        world.add(stop.value)
        world.script(stop.value, Outcome.FAILED)
        world.agents.scripts[stop.value][-1] = replace(world.agents.scripts[stop.value][-1], stop=stop)
        world.tick()
        world.deliver()
        world.relay()
        (body,) = [comment.body for comment in world.board.said(stop.value)]
        assert "is done" not in body
        assert stop.value.replace("_", " ") in body
