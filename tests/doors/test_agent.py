"""The suite of the agent's door, on every kind that the package holds: what any agent program may do to a turn."""

import importlib
import pkgutil
from dataclasses import replace

import pytest

from orchestrator import agents
from orchestrator.domain.turn import Outcome, StopReason
from tests.agents.behaviours import SETTINGS, Behaviour
from tests.agents.conftest import INHERITED, here, turn  # noqa: F401 - fixtures
from tests.supervisor.station import marked
from tests.waiting import until

MODULES = {
    name: importlib.import_module(f"{agents.__name__}.{name}") for _, name, _ in pkgutil.iter_modules(agents.__path__)
}
KINDS = {name: module for name, module in MODULES.items() if hasattr(module, "connect")}


@pytest.fixture(params=KINDS)
def begin(request, here, turn):  # noqa: F811 - fixtures
    """Start an agent of each kind that behaves as asked; `changes` are the turn's."""
    kind = request.param

    def start(behaviour, **changes):
        agent = KINDS[kind].connect(SETTINGS[kind][behaviour], INHERITED)
        return agent.start(replace(turn, **changes), here.client)

    return start


def test_every_kind_can_be_put_to_the_test():
    """A new agent joins the suite by a line in `tests/agents/behaviours.py`."""
    assert {name: set(Behaviour) for name in KINDS} == {name: set(known) for name, known in SETTINGS.items()}


@pytest.mark.proves("RT-17")
def test_the_protocols_last_word_is_the_success(begin):
    """A program that reports done and ends well is done, whatever the workspace shows."""
    ending = begin(Behaviour.SAYS_DONE).ending()
    assert (ending.outcome, ending.stop) == (Outcome.DONE, StopReason.DONE)


@pytest.mark.proves("RT-17", "FS-10")
@pytest.mark.parametrize("behaviour", [Behaviour.SAYS_NOTHING, Behaviour.CRASHES])
def test_nothing_else_is_a_success(begin, behaviour):
    """Neither an exit without a word nor a crash after a success is one."""
    assert begin(behaviour).ending().outcome is Outcome.FAILED


def test_events_end_with_the_program(begin, turn):  # noqa: F811 - fixture
    """The events of a turn are finite, and when they end nothing of the program is left."""
    session = begin(Behaviour.SAYS_DONE)
    assert "message" in [event.type for event in session.events()]
    assert marked(turn) == {}


@pytest.mark.proves("RT-13", "FS-16")
def test_a_cancelled_turn_has_no_process(begin, turn):  # noqa: F811 - fixture
    """After a cancel the turn ends as cancelled, and no process of it is left, deaf and hidden ones included."""
    session = begin(Behaviour.HANGS)
    until(lambda: "on" in turn.transcript.read_text() and len(marked(turn)) > 1)
    session.cancel()
    assert session.ending().stop is StopReason.CANCELLED
    assert marked(turn) == {}


@pytest.mark.proves("RT-12")
def test_a_program_that_hangs_is_stalled(begin):
    """No byte for the stall time ends the turn as stalled."""
    assert begin(Behaviour.HANGS, stall_seconds=0.3).ending().stop is StopReason.STALLED


@pytest.mark.proves("RT-14")
def test_a_program_that_never_ends_times_out(begin):
    """The turn's time ends it, however much it says."""
    assert begin(Behaviour.CHATTERS, timeout_seconds=0.3).ending().stop is StopReason.TIMED_OUT


@pytest.mark.proves("HK-07", "AE-08")
def test_no_program_sees_a_secret_of_ours(begin, turn):  # noqa: F811 - fixture
    """What the workflow does not pass on stays with the worker."""
    begin(Behaviour.SHOWS_ITS_ENVIRONMENT).ending()
    shown = turn.transcript.read_text()
    assert "STATIONKEEPER_ISSUE_ID=10" in shown
    assert [name for name in ("DATABASE_URL", "MODEL_KEY") if name in shown] == []
