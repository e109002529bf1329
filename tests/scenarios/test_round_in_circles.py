"""An agent that only repeats itself is a failed attempt, a new conversation, and in the end a person's (FS-58)."""

from dataclasses import replace

import pytest

from orchestrator.ports.agent import AgentEvent
from tests.memory.workflows import workflow

pytestmark = pytest.mark.proves("FS-58")


def circle(_turn):
    """Three hundred and sixty-four identical calls."""
    return (AgentEvent("tool", {"name": "Read", "arguments": {"file": "plan.md"}}) for _ in range(364))


def stops(world):
    """Why each turn ended."""
    return [stop for (stop,) in world.rows("select stop_reason from turn order by fence")]


def test_each_attempt_is_stopped_and_the_last_one_is_a_dead_letter(world):
    """The attempts are those of any failure, and each begins to count at nothing: no retry feeds the next one."""
    world.add("A-1")
    world.agents.calls = circle
    sessions = []
    world.agents.during = lambda turn: sessions.append(turn.session)
    world.run_until_quiet()
    assert stops(world) == ["repeated", "repeated", "attempts_spent"]
    assert world.rows("select kind from hold where lifted_at is null") == [("dead_letter",)]
    assert "the last of Read" in world.one("select reason from hold")
    assert sessions == [None, None, None]  # the conversation that went round in circles is not gone on with


def test_three_cards_whose_agents_go_round_in_circles_make_the_workflow_rest(world):
    """What one model does on three cards the next card would pay for too."""
    for card in ("A-1", "A-2", "A-3", "A-4"):
        world.add(card)
    world.agents.calls = circle
    world.slots = 1
    world.tick()
    world.deliver()
    assert "failed alike (repeated)" in world.one("select rest_why from workflow")


def test_an_agent_that_calls_different_things_is_left_alone(world):
    """As many calls, each another one."""
    world.add("A-1")
    world.agents.calls = lambda _turn: (AgentEvent("tool", {"name": "Read", "arguments": [n]}) for n in range(364))
    world.run_until_quiet()
    assert (stops(world), world.state("A-1")) == (["done"], "In Review")


def test_a_workflow_may_let_its_agents_repeat_themselves(stage):
    """`agent.max_repeated_calls: 0`."""
    patient = workflow()
    world = stage.world(workflow=replace(patient, agent=replace(patient.agent, max_repeated_calls=0)))
    world.add("A-1")
    world.agents.calls = circle
    world.run_until_quiet()
    assert stops(world) == ["done"]
