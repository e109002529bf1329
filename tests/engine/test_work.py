"""The agent's part of a turn: what cannot be prepared ends the turn with its reason, and costs what it should."""

from dataclasses import replace

import pytest

from orchestrator.engine import turn
from orchestrator.ports.prompts import PromptFailed
from orchestrator.ports.workspaces import WorkspaceBusy, WorkspaceFailed


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
