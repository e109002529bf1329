"""The supervisor is told of a step that may take long, and not of each one that does not."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.supervisor.trust import GAP_SECONDS

REFERENCE = f"{Path(__file__).with_name('covering.py')}:FLOW"


@dataclass(slots=True)
class Renewing:
    """A supervisor as far as it knows until when a turn is renewed; everything else is the hand's."""

    hand: Any
    boot_seconds: Any
    until: float = 0.0
    words: int = 0

    def __getattr__(self, name):
        """The hand's."""
        return getattr(self.hand, name)

    def begin_step(self, turn_id, seconds):
        """From now on, for as long as that."""
        del turn_id
        self.words += 1
        self.until = self.boot_seconds() + seconds

    def bury(self):
        """A program has ended: from then on the turn has the gap between two steps."""
        self.until = self.boot_seconds() + GAP_SECONDS


@dataclass(slots=True)
class Timed:
    """Calls of which each takes a moment; `left` is for how long the turn was renewed when it began."""

    door: Any
    renewing: Renewing
    world: Any
    left: dict[str, float]
    moment: float

    def perform(self, call, *, isolated):
        """The door's answer, a moment later."""
        self.left[f"{call.step} {call.part.value}"] = self.renewing.until - self.renewing.boot_seconds()
        self.world.clock.jump(self.moment)
        answer = self.door.perform(call, isolated=isolated)
        if isolated:
            self.renewing.bury()
        return answer

    def watched(self, walk, *, shortest_seconds):
        """The door's."""
        return self.door.watched(walk, shortest_seconds=shortest_seconds)


@pytest.fixture
def run(flow_world):
    """Runs the flow, each call so many seconds long; gives what was left to each, and how many words were said."""

    def go(moment):
        world = flow_world(references=(REFERENCE,))
        ports = world.process.ports
        renewing = Renewing(world.process.supervisor, world.clock.boot_seconds)
        timed = Timed(ports.steps, renewing, world, {}, moment)
        world.process = replace(world.process, ports=replace(ports, supervisor=lambda: renewing, steps=timed))
        world.processes[:] = [world.process]
        task = world.start(name="test.covering")
        world.tick()
        world.deliver()
        assert world.status(task) == "succeeded"
        return timed.left, renewing.words

    return go


@pytest.mark.parametrize("moment", [0.0, 3.0])
def test_a_turn_is_renewed_for_as_long_as_each_call_may_take(run, moment):
    """Also after a program's end, which takes back what was announced before."""
    left, _ = run(moment)
    long = {"long run": 600, "sent prepare": 30, "sent act": 30, "at_last run": 300}
    assert len(left) == 10
    assert {call: seconds for call, seconds in left.items() if seconds < long.get(call, 60) - 0.001} == {}


def test_steps_that_follow_at_once_are_announced_together(run):
    """The first of the short ones, the long one, and the one after the program's end."""
    _, words = run(0.0)
    assert words == 3
