"""A closed card's workspace under every fault: it goes in the end, its work was kept before, and the card names it."""

import pytest

from orchestrator.domain.workflow import Hook, HookSettings
from tests.faults import faults, stable
from tests.faults.tripwire import Tripwire
from tests.memory.workflows import workflow

pytestmark = [pytest.mark.timeout(300), pytest.mark.proves("WS-11", "WS-12", "CL-07")]

HOOKS = HookSettings(commands={hook: hook.value for hook in Hook})
LONG_SECONDS = 900


def tell(world):
    """A card is done with something left uncommitted; a person closes it, and its workspace goes."""
    world.workspaces.unfinished.add("A-1")
    world.add("A-1")
    world.tick()
    world.deliver()
    world.relay()
    world.tick()
    world.close("A-1")
    world.jump(LONG_SECONDS)
    world.tick()
    world.tidy()
    world.relay()


def begin(stage, at):
    """The world before the story."""
    wire = Tripwire(at)
    world = stage.world(workflow=workflow(hooks=HOOKS), wrap=wire.wrap, believes_supervisors=True)
    wire.world = world
    return world, wire


def wrong(world):
    """What is wrong with the world once it is at rest for long."""
    for _ in range(3):
        world.run_until_quiet()
        world.jump(LONG_SECONDS)
    found = stable.violations(world)
    if world.state("A-1") != "Done" or not world.one("select count(*) from workspace"):
        return found
    if world.one("select count(*) from workspace where removed_at is null"):
        found.append("the workspace of a closed card stands")
    if len(world.workspaces.kept) < len(set(world.workspaces.removed)):
        found.append("work was removed that was not kept")
    if not any("refs/stationkeeper/kept/A-1" in comment.body for comment in world.board.said("A-1")):
        found.append("the card does not say where its work is")
    return found


@pytest.fixture(scope="module")
def calls(stage):
    """The calls of the story when nothing goes wrong."""
    world, wire = begin(stage, {})
    tell(world)
    names = list(wire.calls)
    assert wrong(world) == []
    assert world.workspaces.removed == ["A-1"]
    return names


@pytest.mark.parametrize("kind", ["dies_after", "loses_its_answer"])
def test_a_fault_at_any_call_costs_no_work_and_leaves_no_folder(stage, calls, kind):
    """Whatever happens at whichever call of the story."""
    found = []
    for number, name in enumerate(calls):
        world, _ = begin(stage, {number: faults.ALL[kind]})
        tell(world)
        if what := wrong(world):
            found.append(f"{number} {name}: {what}")
    assert not found, "\n".join(found)
