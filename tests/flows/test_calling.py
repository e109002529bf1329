"""What an end that is none of a function's own means: it ran too long, its process died, or we ended it."""

import threading
from dataclasses import dataclass, field
from uuid import UUID

import pytest
from pydantic import BaseModel

from orchestrator.clock import SystemClock
from orchestrator.domain.call import Answer, Call, Part, Said
from orchestrator.flows import Flow, Step
from orchestrator.flows.loading import FlowFiles
from orchestrator.ports.supervisor import EndedBy, Exit, Refusal, SpawnFailed
from orchestrator.steps import wire
from orchestrator.steps.calling import StepCalls

GATE = threading.Event()


class Nothing(BaseModel):
    """An input that says nothing."""


def wait(input: Nothing) -> str:  # noqa: A002 -- the flow's own word
    """Waits until somebody opens the gate, if it is closed."""
    assert input is not None
    GATE.wait()
    return threading.current_thread().name


FLOW = Flow("test.calling", version=1, isolated=False, steps=[Step("s", wait)])


@dataclass
class Program:
    """A program that says these lines and ends like this."""

    said: list[bytes]
    ended: Exit

    def lines(self):
        """Its lines."""
        yield from self.said

    def wait(self):
        """Its end."""
        return self.ended


@dataclass
class Station:
    """A supervisor that starts one program, or refuses."""

    program: Program | None = None
    refusal: Refusal = Refusal.NOT_ADOPTED
    orders: list = field(default_factory=list)

    def spawn(self, order):
        """Start it."""
        self.orders.append(order)
        if self.program is None:
            raise SpawnFailed(self.refusal, "no")
        return self.program


def call(part, seconds=0.05):
    """A call of the only step."""
    return Call(UUID(int=0), 1, "test.calling", "s", part, "t", seconds, input={})


def calls(tmp_path, station=None):
    """The door, with this supervisor."""
    flows = FlowFiles((f"{__file__}:FLOW",))
    return StepCalls(flows, SystemClock(), supervisor=lambda: station, environment={}, state_dir=tmp_path)


@pytest.mark.proves("H26", "DE-07")
def test_a_call_beside_that_hangs_is_abandoned_and_the_next_one_is_made(tmp_path):
    """The worker's thread goes on; the next call has a thread of its own."""
    door = calls(tmp_path)
    gate = door._flows.flow("test.calling").steps[0].run.__globals__["GATE"]
    gate.clear()
    late = door.perform(call(Part.RUN), isolated=False)
    assert (late.said, late.reason) == (Said.TRY_AGAIN, "it ran longer than 0.05 s")
    gate.set()
    assert door.perform(call(Part.RUN, 5.0), isolated=False) == Answer(Said.DONE, "step")


@pytest.mark.proves("DE-07", "DE-08")
@pytest.mark.parametrize(
    ("part", "ended", "said"),
    [
        (Part.RUN, Exit(None, 9, EndedBy.EXITED), Said.TRY_AGAIN),
        (Part.ACT, Exit(None, 9, EndedBy.EXITED), Said.UNKNOWN),
        (Part.LOOK_UP, Exit(1, None, EndedBy.EXITED), Said.UNKNOWN),
        (Part.DECIDE, Exit(None, 9, EndedBy.TIMED_OUT), Said.TRY_AGAIN),
        (Part.ACT, Exit(None, 9, EndedBy.TIMED_OUT), Said.UNKNOWN),
        *((Part.RUN, Exit(None, 9, ended), Said.STOPPED) for ended in (EndedBy.CANCELLED, EndedBy.FENCE_LOST)),
        *((Part.ACT, Exit(None, 9, ended), Said.UNKNOWN) for ended in (EndedBy.CANCELLED, EndedBy.SHUTDOWN)),
    ],
)
def test_a_process_that_ends_without_a_word_says_no_more_than_is_known(tmp_path, part, ended, said):
    """Of an act nobody knows; anything else failed, or was stopped by us."""
    station = Station(Program([b'{"type": "log"}'], ended))
    assert calls(tmp_path, station).perform(call(part), isolated=True).said is said


@pytest.mark.proves("H5", "H10")
@pytest.mark.parametrize(
    ("part", "refusal", "said"),
    [
        (Part.ACT, Refusal.NOT_ADOPTED, Said.NOT_SENT),
        (Part.RUN, Refusal.NOT_ADOPTED, Said.STOPPED),
        (Part.RUN, Refusal.SUPERVISOR_LOST, Said.TRY_AGAIN),
    ],
)
def test_what_was_never_started_was_surely_not_sent(tmp_path, part, refusal, said):
    """A supervisor that does not renew the turn any more starts nothing of it."""
    assert calls(tmp_path, Station(refusal=refusal)).perform(call(part), isolated=True).said is said


def test_the_answer_is_the_one_marked_line_and_the_order_has_the_steps_own_time_out(tmp_path):
    """Whatever else the program prints is log."""
    answer = Answer(Said.DONE, {"n": 1})
    station = Station(Program([b'{"said": "done"}', wire.pack_answer(answer)], Exit(0, None, EndedBy.EXITED)))
    assert calls(tmp_path, station).perform(call(Part.RUN, 7.0), isolated=True) == answer
    assert station.orders[0].timeout_seconds == 7.0
    assert station.orders[0].transcript.name == "s.run.log"
