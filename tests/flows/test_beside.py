"""A turn whose functions run beside its thread walks on one thread of its own, and is not lost with it."""

import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.clock import SystemClock
from orchestrator.steps.calling import StepCalls
from tests.waiting import until

REFERENCE = f"{Path(__file__).with_name('beside.py')}:FLOW"


@pytest.fixture
def world(flow_world):
    """A world whose worker calls the functions as a real one does."""
    world = flow_world(references=(REFERENCE,))
    door = StepCalls(world.flows, SystemClock(), supervisor=lambda: None, environment={}, state_dir=world.state_dir)
    world.process = replace(world.process, ports=replace(world.process.ports, steps=door))
    world.processes[:] = [world.process]
    return world


@pytest.fixture
def functions(world):
    """The module of the functions, as it was loaded."""
    world.flows.flow("test.beside")
    module = next(found for found in sys.modules.values() if getattr(found, "__file__", None) == REFERENCE[:-5])
    module.calls.clear()
    module.OPEN.clear()
    yield module
    module.OPEN.set()


@pytest.mark.proves("DE-06", "DE-07")
def test_every_step_of_a_turn_is_called_on_one_thread(world, functions):
    """A change of threads for each step costs as much as half of its record."""
    functions.OPEN.set()
    task = world.start(name="test.beside")
    world.tick()
    world.deliver()
    assert world.status(task) == "succeeded"
    threads = {output for (output,) in world.rows("select output from step")}
    assert len(threads) == 1
    assert threads != {threading.get_ident()}


@pytest.mark.proves("H26", "DE-06", "DE-07")
def test_a_turn_goes_on_without_the_thread_of_a_step_that_hangs(world, functions):
    """What was recorded stands and is not called again; the late attempt is told; its thread says nothing any more."""
    task = world.start(name="test.beside")
    world.tick()
    world.deliver()
    assert world.rows("select stop_reason, task_id from turn") == [("attempts_spent", task)]
    assert world.rows("select step, kind, reason from step_failure") == [
        ("second", "try_again", "it ran longer than 0.2 s")
    ]
    (hand,) = [output for (output,) in world.rows("select output from step")]
    assert functions.calls == ["first", f"second after {hand}"]
    functions.OPEN.set()
    until(lambda: hand not in {thread.ident for thread in threading.enumerate()}, what="the abandoned thread's end")
    assert len(world.rows("select 1 from step")) == 1
