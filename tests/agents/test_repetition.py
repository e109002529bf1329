"""An agent that goes round in circles is stopped, with real programs; one that makes many calls is left alone."""

from dataclasses import replace

import pytest

from orchestrator.agents import claude_code, codex
from orchestrator.domain.turn import Outcome, StopReason
from orchestrator.domain.workflow import AgentSettings
from orchestrator.engine import watching
from tests.agents.behaviours import standin
from tests.agents.conftest import INHERITED

pytestmark = pytest.mark.proves("FS-58")

LIMIT = 50
# A program of kind `command` says its calls as lines; what its tools answer is not its call.
LINE = """printf '{"type":"tool","name":"shell","arguments":{"command":"%s"},"answer":%s}\\n'"""
CIRCLE = f"""i=0; while [ $i -lt 400 ]; do i=$((i + 1)); {LINE} "git status" $i; done; sleep 300"""
TOIL = f"""i=0; while [ $i -lt 400 ]; do i=$((i + 1)); {LINE} "edit $i" $i; {LINE} "make test" $i; done
echo '{{"type":"result","outcome":"done"}}'"""


@pytest.fixture
def begin(here, turn, start, tmp_path):
    """Start an agent of a kind that does this."""
    own = {"CODEX_HOME": str(tmp_path / "kept"), "CLAUDE_CONFIG_DIR": str(tmp_path / "kept")}

    def begin_one(kind, deed):
        if kind == "command":
            return start(CIRCLE if deed == "circle" else TOIL, session=None)
        agent = {"codex": codex, "claude": claude_code}[kind]
        settings = AgentSettings(command=standin(kind, deed))
        return agent.connect(settings, {**INHERITED, **own}).start(replace(turn, session=None), here.client)

    return begin_one


def heard(session, *, flag=None):
    """How a turn ended that the engine watched, and how many calls it heard."""
    events = []
    ending = watching.heard(session, events.append, most_repeats=LIMIT, flagged=lambda: flag)
    return ending, sum(event.type == "tool" for event in events)


@pytest.mark.parametrize("kind", ["command", "codex", "claude"])
def test_an_agent_that_goes_round_in_circles_is_stopped(begin, here, turn, kind):
    """Hundreds of the same call: the turn is a failure of a kind of its own, and says of what."""
    ending, _ = heard(begin(kind, "circle"))
    assert (ending.outcome, ending.stop) == (Outcome.FAILED, StopReason.REPEATED)
    assert ending.reason.startswith(f"repeated the same few calls {LIMIT} times, the last of ")
    assert not here.client.has_processes(turn.turn_id)


@pytest.mark.parametrize("kind", ["command", "codex", "claude"])
def test_an_agent_that_makes_many_different_calls_is_left_alone(begin, kind):
    """Work may be long, and may come back to the same test after each edit."""
    ending, calls = heard(begin(kind, "toil"))
    assert ending.outcome is Outcome.DONE
    assert calls >= 200


def test_who_stopped_it_meanwhile_is_who_stopped_it(begin):
    """The flag of a closed card counts, whatever else was found out."""
    ending, _ = heard(begin("command", "circle"), flag=StopReason.TERMINAL_SEEN)
    assert ending.stop is StopReason.CANCELLED
