"""Every call that a flow's task makes through a door, with a fault at it: each effect once, or asked of a person.

A test is one kind of fault and holds a run for each call; what fails is named by the call's number and name. `make
faults` does the same with real workers that are really killed.
"""

import pytest

from tests.faults import faults
from tests.faults.tripwire import Tripwire
from tests.flows import outcome

pytestmark = [pytest.mark.timeout(600), pytest.mark.proves("DE-06", "DE-08", "DE-17", "DE-18", "H10", "H11", "S1")]

KINDS = [*faults.DEATHS, *faults.OUTAGES, *faults.RIVALS]


def begin(flow_world, at, *, word=False, left_out=frozenset()):
    """A world with a wire across its doors, before the story."""
    wire = Tripwire(at)
    world = flow_world(wrap=wire.wrap, believes_supervisors=word, left_out=left_out)
    wire.world = world
    return world, wire


def tell(world):
    """A task is started, ticked and delivered."""
    world.start()
    world.tick()
    world.deliver()


def play(flow_world, at, *, word=False, left_out=frozenset()):
    """What is wrong after the story with faults; empty: nothing."""
    world, _ = begin(flow_world, at, word=word, left_out=left_out)
    tell(world)
    return outcome.at_rest(world)


@pytest.fixture(scope="module")
def calls():
    """The calls of the story in which nothing goes wrong, once they are known."""
    return []


def golden(flow_world, calls):
    """The calls, told once."""
    if not calls:
        world, wire = begin(flow_world, {})
        tell(world)
        calls += wire.calls
        assert outcome.at_rest(world) == []
        assert len(world.paid()) == 1
    return calls


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("word", [False, True], ids=["by the lease", "by the supervisor"])
def test_a_fault_at_any_call_of_a_flow_doubles_nothing_and_loses_nothing(flow_world, calls, kind, word):
    """Whatever happens at whichever call, the task ends, or a person is asked by name; nothing is paid twice."""
    wrong = [
        f"{number} {name}: {found}"
        for number, name in enumerate(golden(flow_world, calls))
        if (found := play(flow_world, {number: kind}, word=word))
    ]
    assert not wrong, "\n".join(wrong)


def test_the_seams_of_a_flow_are_these(flow_world, calls):
    """Every durable write of the story passes a door: what is not on this list is not made."""
    assert [name for name in golden(flow_world, calls) if name.startswith(("flows", "steps", "turns"))] == [
        "flows.lose_silent",
        "flows.expire",
        "flows.prune",
        "flows.open_due",
        "flows.stale",
        "turns.admit",
        "flows.load",
        "steps.perform",
        "flows.checkpoint",
        "steps.perform",
        "flows.checkpoint",
        "steps.perform",
        "flows.intend",
        "steps.perform",
        "flows.committed",
        "flows.conclude",
    ]
