"""The agent's part of a turn: what cannot be prepared ends the turn with its reason, and costs what it should."""

from dataclasses import replace

import pytest

from orchestrator.domain.turn import Outcome
from orchestrator.engine import turn
from orchestrator.ports.agent import AgentMisconfigured
from orchestrator.ports.prompts import PromptFailed
from orchestrator.ports.supervisor import Refusal, SpawnFailed
from orchestrator.ports.workspaces import WorkspaceBusy, WorkspaceFailed
from tests.memory import desk


def run_with(world, **doors):
    """One turn of a card with some doors of the process replaced; gives the turn's row."""
    world.add("A-1")
    world.tick()
    ports = replace(world.process.ports, **doors)
    turn_id, fence = world.queue.take()
    turn.take_turn(ports, world.process.worker, turn_id=turn_id, fence=fence)
    return world.rows("select status, stop_reason, summary from turn")[0]


def failing(method, fault):
    """A door whose only used method fails."""

    def fail(*_values, **_named):
        raise fault

    return type("Failing", (), {method: staticmethod(fail)})()


def test_a_prompt_that_cannot_be_rendered_asks_a_person(world):
    """Nothing would change by trying again: the card is held, and no agent ran."""
    status, stop, summary = run_with(world, prompts=failing("render", PromptFailed("line 3: no variable `isue`")))
    assert (status, stop) == ("failed", "contract_broken")
    assert "line 3" in summary
    assert world.rows("select kind from hold where lifted_at is null") == [("blocked",)]
    assert world.agents.log == []


def test_a_workspace_that_cannot_be_made_is_tried_again(world):
    """A failure with its words, and a due time."""
    status, stop, summary = run_with(world, workspaces=failing("prepare", WorkspaceFailed("no space left")))
    assert (status, stop, summary) == ("failed", "contract_broken", "no space left")
    assert world.one("select count(*) from task where due_at is not null") == 1


@pytest.mark.proves("RT-11", "WS-13")
def test_a_workspace_that_another_still_holds_costs_no_attempt(world):
    """The old agent is not dead yet: the turn is handed back, and counts against no cap."""
    _, stop, _ = run_with(world, workspaces=failing("prepare", WorkspaceBusy("held by pid 7")))
    assert stop == "workspace_busy"
    assert world.one("select attempt from item") == 0


@pytest.mark.proves("PT-05")
def test_a_kept_session_gets_its_prompt_once(world):
    """The first turn of a session has the whole prompt; a continuation of it is told to go on, and no more."""
    told = []
    world.agents.during = lambda turn: told.append(turn.prompt)
    world.add("A-1")
    world.script("A-1", Outcome.CONTINUE, Outcome.CONTINUE, Outcome.DONE)
    world.run_until_quiet()
    assert told == ["Mend A-1", "go on: Mend A-1", "go on: Mend A-1"]


@pytest.mark.proves("PT-05")
def test_a_continuation_without_a_session_gets_the_whole_prompt_again(world, monkeypatch):
    """A program that names no session begins anew at each turn: guidance alone would be a riddle to it."""
    told = []
    monkeypatch.setattr(desk.ScriptedSession, "events", lambda session: iter(told.append(session.turn.prompt) or ()))
    world.add("A-1")
    world.script("A-1", Outcome.CONTINUE, Outcome.DONE)
    world.run_until_quiet()
    assert told == ["Mend A-1", "Mend A-1"]


@pytest.mark.proves("AE-02", "RT-08")
@pytest.mark.parametrize(
    ("fault", "stop", "held"),
    [
        (SpawnFailed(Refusal.AGENT_NOT_FOUND, "no such program"), "contract_broken", ["blocked"]),
        (SpawnFailed(Refusal.MISSING_VARIABLE, "$KEY is not set"), "contract_broken", ["blocked"]),
        (SpawnFailed(Refusal.INVALID_WORKSPACE_CWD, "a link"), "contract_broken", ["blocked"]),
        (AgentMisconfigured("agent.prompt: pipe"), "contract_broken", ["blocked"]),
        (SpawnFailed(Refusal.SUPERVISOR_LOST, "it is being replaced"), "agent_failed", []),
        (SpawnFailed(Refusal.WORKSPACE_BUSY, "held"), "workspace_busy", []),
    ],
)
def test_what_a_person_has_to_put_right_is_not_tried_again(world, fault, stop, held):
    """One hold with the reason, and no second start; what may pass by itself is tried again."""
    _, found, _ = run_with(world, agent=lambda _workflow: failing("start", fault))
    assert found == stop
    assert [kind for (kind,) in world.rows("select kind from hold where lifted_at is null")] == held
