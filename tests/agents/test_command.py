"""The command agent: what a program's exit, its report and its silence mean."""

import json
from pathlib import Path

import pytest

from orchestrator.agents import command
from orchestrator.domain.turn import Ending, Outcome, StopReason
from orchestrator.domain.workflow import AgentSettings
from orchestrator.ports.agent import AgentEvent, AgentMisconfigured
from orchestrator.ports.supervisor import SpawnFailed
from orchestrator.ports.workspaces import WorkspaceFailed
from tests.supervisor.station import marked
from tests.waiting import until


def said(**report):
    """A script that reports in the file."""
    return f"cat > $STATIONKEEPER_RESULT <<'END'\n{json.dumps(report)}\nEND\n"


def spoken(**report):
    """A script that reports as a line."""
    return f"echo '{json.dumps({'type': 'result', **report})}'\n"


def ended(session):
    """Outcome and stop reason, once it has ended."""
    ending = session.ending()
    return ending.outcome, ending.stop


FAILED = {reason: (Outcome.FAILED, reason) for reason in StopReason}
DONE = (Outcome.DONE, StopReason.DONE)

REPORTS = [
    ("done", DONE),
    ("continue", (Outcome.CONTINUE, StopReason.DONE)),
    ("no_change", (Outcome.NO_CHANGE, StopReason.NO_CHANGE)),
    ("blocked", (Outcome.BLOCKED, StopReason.BLOCKED)),
    ("failed", FAILED[StopReason.AGENT_FAILED]),
]


@pytest.mark.proves("RT-17")
@pytest.mark.parametrize("way", [said, spoken], ids=["in the file", "as a line"])
@pytest.mark.parametrize(("outcome", "means"), REPORTS, ids=[name for name, _ in REPORTS])
def test_a_clean_report_is_the_last_word(start, way, outcome, means):
    """Each outcome counts as it was reported, in the file or as a line, when the program ends well."""
    assert ended(start(way(outcome=outcome))) == means


@pytest.mark.proves("RT-17", "FS-10")
@pytest.mark.parametrize(("outcome", "means"), REPORTS, ids=[name for name, _ in REPORTS])
def test_a_failing_exit_takes_back_every_success(start, outcome, means):
    """A program that exits with an error has not succeeded, whatever it reported; blocked and failed stand."""
    stands = outcome in {"blocked", "failed"}
    assert ended(start(said(outcome=outcome) + "exit 7")) == (means if stands else FAILED[StopReason.AGENT_FAILED])


@pytest.mark.proves("FS-10", "RT-17")
def test_a_clean_exit_alone_is_no_success(start):
    """Exit 0 without a word and without a change is a failure of its own kind."""
    assert ended(start("exit 0")) == FAILED[StopReason.NO_EVIDENCE]


def test_a_clean_exit_with_a_change_is_done(start):
    """Exit 0 without a word counts as done where the workspace shows work."""
    assert ended(start("exit 0", evidence=lambda: True)) == DONE


def test_a_workspace_that_cannot_be_read_shows_no_work(start):
    """Evidence that cannot be had is no evidence, and the reason says what is wrong."""

    def unreadable():
        raise WorkspaceFailed("index.lock is in the way")

    ending = start("exit 0", evidence=unreadable).ending()
    assert ending.stop is StopReason.NO_EVIDENCE
    assert "index.lock" in ending.reason


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 7", "exited with 7"),
        ("kill -9 $$", "ended by signal 9"),
        ("no-such-command", "agent_not_found"),
        (spoken(outcome="done") + "exit 1", "though it reported done"),
    ],
)
def test_a_failure_says_how_it_failed(start, script, reason):
    """The reason names the exit code or the signal, and what the program claimed."""
    ending = start(script).ending()
    assert ending.stop is StopReason.AGENT_FAILED
    assert reason in ending.reason


BAD = {
    "no JSON": ("echo done > $STATIONKEEPER_RESULT", "result.json"),
    "no outcome": ("echo '{}' > $STATIONKEEPER_RESULT", "outcome"),
    "an outcome that there is not": (said(outcome="finished"), "finished"),
    "too long": ("head -c 70000 /dev/zero | tr '\\0' ' ' > $STATIONKEEPER_RESULT", "65536"),
    "a link": ('echo \'{"outcome":"done"}\' > a; ln -s $PWD/a $STATIONKEEPER_RESULT', "plain file"),
    "a folder": ("mkdir $STATIONKEEPER_RESULT", "plain file"),
    "a pipe": ("mkfifo $STATIONKEEPER_RESULT", "plain file"),
    "a year to wait": (said(outcome="failed", retry_after_seconds=3e7), "retry_after_seconds"),
    "a bad line": ('echo \'{"type":"result","outcome":1}\'', "outcome"),
}


@pytest.mark.proves("WS-14")
@pytest.mark.parametrize(("script", "names"), BAD.values(), ids=BAD.keys())
def test_a_bad_report_is_no_success(start, script, names):
    """A report that cannot be used fails the turn and says what was wrong, whatever the evidence."""
    ending = start(script, evidence=lambda: True).ending()
    assert ending.stop is StopReason.BAD_REPORT
    assert names in ending.reason


def test_everything_that_was_reported_is_carried_on(start):
    """Summary, reason, session and the time to wait reach the engine."""
    session = start(said(outcome="failed", summary="s", reason="r", session="new", retry_after_seconds=9, more=1))
    assert session.ending() == Ending(Outcome.FAILED, StopReason.AGENT_FAILED, "s", "r", "new", 9)


def test_the_last_line_counts_and_the_file_is_stronger(start):
    """Of several result lines the last one counts; a report in the file overrules it."""
    assert ended(start(spoken(outcome="failed") + spoken(outcome="done"))) == DONE
    assert ended(start(said(outcome="done") + spoken(outcome="failed"))) == DONE


def test_an_earlier_try_leaves_no_word(start, turn):
    """A result file from before the start counts for nothing."""
    turn.scratch.mkdir()
    (turn.scratch / "result.json").write_text('{"outcome":"done"}')
    assert ended(start("exit 0")) == FAILED[StopReason.NO_EVIDENCE]


def test_events_come_while_the_agent_works(start, turn):
    """Message, usage and session are events at once; other objects and text are log; the report's usage comes last."""
    lines = ['{"type":"session","session":"new"}', "hello", '{"type":"other"}', "[1]", '{"type":"message","text":"hi"}']
    script = "".join(f"echo '{line}'\n" for line in lines) + "while ! [ -e go ]; do sleep 0.02; done\n"
    session = start(script + said(outcome="done", usage={"input_tokens": 5}))
    events = session.events()
    assert [next(events), next(events)] == [
        AgentEvent("session", {"session": "new"}),
        AgentEvent("message", {"text": "hi"}),
    ]
    (turn.workspace / "go").touch()
    assert list(events) == [AgentEvent("usage", {"input_tokens": 5})]
    assert session.ending().session == "new"
    assert [line for line in lines if line not in turn.transcript.read_text()] == []


def test_a_session_goes_on_unless_another_is_named(start):
    """The turn's session stays the item's when the program says nothing about it."""
    assert start(said(outcome="continue")).ending().session == "old-session"


@pytest.mark.parametrize(("prompt", "script"), [("stdin", "cat > got"), ("file", "cp $STATIONKEEPER_PROMPT got")])
def test_the_prompt_arrives_either_way(start, turn, prompt, script):
    """On standard input, or in the file that a variable names."""
    start(script, prompt=prompt).ending()
    assert (turn.workspace / "got").read_text() == turn.prompt


@pytest.mark.proves("RT-12")
def test_a_silent_agent_is_stalled(start):
    """No byte for the stall time: stalled, and a report that it wrote before does not help."""
    assert ended(start(said(outcome="done") + "sleep 300", stall_seconds=0.3)) == FAILED[StopReason.STALLED]


def test_an_agent_that_takes_too_long_has_timed_out(start):
    """The turn's time is over, whatever the agent says meanwhile."""
    script = "while :; do echo; sleep 0.05; done"
    assert ended(start(script, timeout_seconds=0.3)) == FAILED[StopReason.TIMED_OUT]


@pytest.mark.proves("RT-13")
def test_a_cancelled_agent_is_cancelled_and_gone(start, turn):
    """Cancel ends it, even if it says that it is done on its way out; no process of the turn is left."""
    session = start(
        'trap \'echo \'"\'"\'{"type":"result","outcome":"done"}\'"\'"\'; exit 0\' INT; echo on; sleep 300 & wait'
    )
    until(lambda: "on" in turn.transcript.read_text())
    session.cancel()
    assert ended(session) == FAILED[StopReason.CANCELLED]
    assert marked(turn) == {}


def test_settings_that_cannot_work_are_named():
    """An empty command and an unknown way for the prompt are refused with key and remedy."""
    with pytest.raises(AgentMisconfigured, match=r"agent\.command"):
        command.connect(AgentSettings(command=" "), {})
    with pytest.raises(AgentMisconfigured, match=r"agent\.prompt: found 'mail'; expected stdin or file"):
        command.connect(AgentSettings(command="x", prompt="mail"), {})


def test_a_workspace_that_is_gone_is_said(start, tmp_path):
    """An agent is not started anywhere else."""
    with pytest.raises(SpawnFailed, match="invalid_workspace_cwd"):
        start("true", workspace=Path(tmp_path / "gone"))
