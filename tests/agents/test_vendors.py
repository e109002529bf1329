"""Kinds that speak a protocol, with stand-ins of the vendors' programs: what each end of a turn becomes."""

from dataclasses import replace

import pytest

from orchestrator.agents import claude_code, codex
from orchestrator.domain.turn import Outcome, StopReason
from orchestrator.domain.workflow import AgentSettings
from orchestrator.ports.agent import AgentMisconfigured
from tests.agents.behaviours import standin
from tests.agents.conftest import INHERITED
from tests.waiting import until

KINDS = {"codex": codex, "claude": claude_code}


@pytest.fixture
def begin(here, turn, tmp_path):
    """Start a stand-in that does this; it keeps its sessions in a folder of the test."""
    home = {"CODEX_HOME": str(tmp_path / "kept"), "CLAUDE_CONFIG_DIR": str(tmp_path / "kept")}

    def start(name, deed, *, session=None, options=None, command=None, **settings):
        told = AgentSettings(command=command or standin(name, deed), options=options or {}, **settings)
        agent = KINDS[name].connect(told, {**INHERITED, **home})
        return agent.start(replace(turn, session=session), here.client)

    return start


def usages(session):
    """Every usage that a turn told, and its ending."""
    told = [dict(event.data) for event in session.events() if event.type == "usage"]
    return told, session.ending()


@pytest.mark.parametrize("name", KINDS)
def test_a_turn_ends_with_the_agents_last_message(begin, name, turn):
    """The vendor's clean last word is done, the last message is the summary, and the prompt had arrived."""
    ending = begin(name, "work").ending()
    assert (ending.outcome, ending.stop, ending.summary) == (Outcome.DONE, StopReason.DONE, "All done.")
    assert (turn.workspace / "did.txt").read_text() == turn.prompt
    assert ending.session


@pytest.mark.proves("AE-06")
@pytest.mark.parametrize("name", KINDS)
def test_a_resumed_session_counts_only_its_own_turn(begin, name):
    """The second turn goes on in the session of the first, and what it spent is not what the session spent."""
    first = begin(name, "work")
    told, ending = usages(first)
    spent = {"input_tokens": 200, "cached_input_tokens": 40, "output_tokens": 50, "total_tokens": 250}
    assert told[-1] == spent
    again, after = usages(begin(name, "work", session=ending.session))
    assert (after.session, again[-1]) == (ending.session, spent)


@pytest.mark.parametrize("name", KINDS)
def test_a_session_that_is_gone_is_begun_anew(begin, name, turn):
    """Sessions lie on a host: where there is none of that name the turn runs in a new one, and says so."""
    ending = begin(name, "work", session="gone").ending()
    assert ending.outcome is Outcome.DONE
    assert ending.session not in {None, "gone"}
    assert "session_not_found: " in turn.transcript.read_text()


HOLD, TRY_AGAIN = (Outcome.BLOCKED, StopReason.CONTRACT_BROKEN), (Outcome.FAILED, StopReason.AGENT_FAILED)
REFUSALS = [
    ("codex", "401", HOLD, "auth: refused", None),
    ("codex", "429", TRY_AGAIN, "rate_limited: ", 60.0),
    ("codex", "500", TRY_AGAIN, "turn_failed: refused", None),
    ("claude", "401", HOLD, "auth: Failed to authenticate", None),
    ("claude", "login", HOLD, "auth: Not logged in", None),
    ("claude", "429", TRY_AGAIN, "rate_limited: ", 60.0),
    ("claude", "500", TRY_AGAIN, "turn_failed: API Error: 500", None),
]


@pytest.mark.proves("AE-01", "AE-02")
@pytest.mark.parametrize(("name", "deed", "means", "reason", "wait"), REFUSALS)
def test_a_refusal_of_the_provider_is_told_apart(begin, name, deed, means, reason, wait):
    """Who is not let in is held for a person, who is too fast waits, and what may pass by itself is tried again."""
    ending = begin(name, deed).ending()
    assert (ending.outcome, ending.stop) == means
    assert ending.reason.startswith(reason)
    assert ending.retry_after_seconds == wait


def test_a_spent_limit_is_waited_for_until_it_is_filled(begin):
    """The provider's own moment beats our guess."""
    wait = begin("codex", "limit").ending().retry_after_seconds
    assert 7000 < wait <= 7200


@pytest.mark.proves("AE-06")
def test_what_a_program_says_on_its_way_out_is_heard(begin, turn):
    """A cancel reaches the program itself; its bridge stays for its last lines, and what was spent is a fact."""
    session = begin("claude", "heed")
    until(lambda: turn.transcript.exists() and "heeding" in turn.transcript.read_text())
    session.cancel()
    told, ending = usages(session)
    assert (ending.stop, told[-1]["input_tokens"]) == (StopReason.CANCELLED, 200)
    assert "Traceback" not in turn.transcript.read_text()


@pytest.mark.proves("AE-05")
@pytest.mark.parametrize(("name", "asked"), [("codex", "may it run: rm -rf /"), ("claude", "Which pump?")])
def test_a_question_ends_the_turn_with_the_question(begin, name, asked):
    """Nobody answers during a turn, and nothing is answered in a person's name."""
    ending = begin(name, "ask").ending()
    assert (ending.outcome, ending.stop) == (Outcome.BLOCKED, StopReason.BLOCKED)
    assert ending.reason.startswith(f"turn_input_required: {asked}")


@pytest.mark.proves("AE-04")
def test_a_tool_that_is_not_there_gets_an_answer(begin):
    """The session goes on, and was told that there is no such tool."""
    ending = begin("codex", "tool").ending()
    assert ending.outcome is Outcome.DONE
    assert '"success": false' in ending.summary
    assert "no tool 'oracle' here" in ending.summary


@pytest.mark.proves("RT-15")
def test_an_answer_that_is_owed_is_waited_for_so_long(begin):
    """A server that does not answer the handshake fails the turn after the read time."""
    ending = begin("codex", "deaf", read_timeout_ms=300).ending()
    assert ending.stop is StopReason.AGENT_FAILED
    assert ending.reason == "response_timeout: no answer to initialize in 0.3 s"


@pytest.mark.proves("AE-01")
@pytest.mark.parametrize("name", KINDS)
def test_a_program_that_is_not_there_is_a_persons_business(begin, name):
    """The card is held with the command that was not found."""
    ending = begin(name, "", command="no-such-program").ending()
    assert (ending.outcome, ending.stop) == HOLD
    assert ending.reason.startswith("agent_not_found: no-such-program")


@pytest.mark.parametrize("name", KINDS)
def test_a_program_that_goes_without_a_last_word_has_failed(begin, name):
    """Exit 0 is no success, nor is an error after a success; the reason says what was said last."""
    assert begin(name, "nothing").ending().reason.startswith("port_exit: the program ended with 0")
    assert begin(name, "crash").ending().reason.startswith("port_exit: the program ended with 3")


@pytest.mark.proves("AE-03")
def test_lines_that_are_no_objects_are_log(begin):
    """Broken, endless and foreign lines cost nothing but their place in the transcript."""
    assert begin("claude", "garbage").ending().outcome is Outcome.DONE


@pytest.mark.parametrize("name", KINDS)
def test_an_agents_own_report_is_stronger_than_a_clean_end(begin, name):
    """The file speaks of the work, the protocol of the program; but no report hides a failed turn."""
    report = 'echo \'{"outcome":"continue"}\' > $STATIONKEEPER_RESULT; '
    assert begin(name, "", command=report + standin(name, "done")).ending().outcome is Outcome.CONTINUE
    assert begin(name, "", command=report + standin(name, "500")).ending().outcome is Outcome.FAILED


def test_the_settings_of_the_block_become_flags(begin):
    """Each key of the peer's block reaches the program under its flag; without a mode nobody is asked."""
    options = {"model": "small", "max_turns": 50, "max_budget_usd": 5, "permission_mode": "bypassPermissions"}
    words = begin("claude", "words", options=options).ending().summary
    assert '"--permission-mode", "bypassPermissions", "--model", "small", "--max-turns", "50"' in words
    assert '"--max-budget-usd", "5"' in words
    assert "--dangerously-skip-permissions" in begin("claude", "words").ending().summary


def test_sessions_that_are_not_kept_are_refused():
    """Later turns could not go on."""
    with pytest.raises(AgentMisconfigured, match=r"claude-code\.session_persistence: found false"):
        claude_code.connect(AgentSettings(options={"session_persistence": False}), {})


def test_a_module_of_the_workspace_is_not_taken_for_ours(begin, turn):
    """A card's repository may hold a folder of our name."""
    (turn.workspace / "orchestrator").mkdir()
    (turn.workspace / "orchestrator" / "__init__.py").write_text("raise SystemExit(9)")
    assert begin("codex", "done").ending().outcome is Outcome.DONE
