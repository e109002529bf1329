"""Which workflow files there are, what a whole one means, and what a bad one says to its author."""

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain.contract import StateContract
from orchestrator.domain.select import Limits
from orchestrator.domain.turn import TurnLimits
from orchestrator.domain.workflow import AgentSettings, WorkspaceSettings
from orchestrator.ports.workflows import WorkflowInvalid
from orchestrator.workflow import WorkflowFiles

SMALL = """\
---
tracker:
  kind: backlog
  path: board
  active_states: [To Do]
  terminal_states: [Done]
agent:
  command: ./agent
---
Work on {{ issue.title }}.
"""

WHOLE = """\
---
name: team-a
tracker:
  kind: backlog
  path: ../board
  active_states: [To Do, In Progress]
  terminal_states: [Done, Dropped]
  in_progress_state: In Progress
  handoff_state: In Review
  required_labels: [Agent, Ready]
  assignee: robin
  trusted_authors: [robin, alex]
polling:
  interval_ms: 5000
workspace:
  root: /srv/rooms
  repository: $REPOSITORY
  base: main
  branch: agents/{key}
agent:
  kind: command
  command: exec agent --card "$STATIONKEEPER_ISSUE_ID"
  prompt: file
  env: {TOKEN: $AGENT_TOKEN, MODE: fast}
  max_concurrent_agents: 4
  max_concurrent_agents_by_state: {TO DO: 2}
  max_turns: 7
  max_sessions: 2
  max_attempts: 3
  max_retry_backoff_ms: 60000
  turn_timeout_ms: 600000
  stall_timeout_ms: 0
  read_timeout_ms: 1000
---
Work.
"""


def write(folder, text, name="WORKFLOW.md"):
    """A file with this text."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def door(*paths, **environment):
    """The door to these files."""
    return WorkflowFiles(paths, environment=environment)


def fault(text, path):
    """What the author of this text is told."""
    with pytest.raises(WorkflowInvalid) as caught:
        door().parse(text, path=path)
    return caught.value


def judged(text):
    """What the author of this text is told, None when it is a workflow."""
    try:
        door().parse(text, path=Path("WORKFLOW.md"))
    except WorkflowInvalid as found:
        return found
    return None


@pytest.mark.proves("CF-07")
def test_a_whole_file_means_what_it_says(tmp_path):
    """Each key arrives where the engine looks for it; states, labels and caps are folded for comparison."""
    path = write(tmp_path / "flows", WHOLE)
    found = door(path, REPOSITORY="/srv/product").read(path).workflow
    assert (found.name, found.interval_ms, found.prompt.strip(), found.warnings) == ("team-a", 5000, "Work.", ())
    assert (found.tracker.kind, found.tracker.options) == ("backlog", {"path": str(tmp_path / "board")})
    assert found.scope == f"backlog:{tmp_path / 'board'}"
    assert found.contract == StateContract(("To Do", "In Progress"), ("Done", "Dropped"), "In Progress", "In Review")
    assert found.limits == Limits(4, {"to do": 2}, ("agent", "ready"), "robin", ("robin", "alex"))
    assert found.turn_limits == TurnLimits(max_attempts=3, max_turns=7, max_sessions=2, max_retry_backoff_ms=60_000)
    assert found.workspace == WorkspaceSettings("/srv/rooms", "/srv/product", "main", "agents/{key}", found.scope)
    assert found.agent == AgentSettings(
        command='exec agent --card "$STATIONKEEPER_ISSUE_ID"',
        prompt="file",
        turn_timeout_ms=600_000,
        stall_timeout_ms=0,
        read_timeout_ms=1000,
        env={"TOKEN": "$AGENT_TOKEN", "MODE": "fast"},
    )


def test_what_is_left_out_takes_the_documented_defaults(tmp_path):
    """A small file runs with the domain's defaults, and is called by its folder."""
    path = write(tmp_path / "Team A", SMALL)
    found = door().read(path).workflow
    assert found.name == "team-a"
    assert found.contract == StateContract(("To Do",), ("Done",))
    assert (found.limits, found.turn_limits, found.interval_ms) == (Limits(), TurnLimits(), 30_000)
    assert found.agent == AgentSettings(command="./agent")
    assert found.workspace == WorkspaceSettings(str(path.parent / ".stationkeeper/workspaces"), board=found.scope)


def test_the_file_is_kept_as_written_with_its_digest(tmp_path):
    """What is stored is the text, `$VAR` included; one changed byte is another digest."""
    path = write(tmp_path, WHOLE)
    files = door(REPOSITORY="/srv/product")
    before = files.read(path)
    assert before.body == WHOLE
    assert files.parse(before.body, path=path) == before.workflow
    write(tmp_path, WHOLE + " ")
    assert files.read(path).digest != before.digest


@pytest.mark.proves("CF-01")
def test_a_folder_stands_for_the_files_in_it(tmp_path):
    """Its own WORKFLOW.md first, then those of the folders below, each once however often it is named."""
    top, team = write(tmp_path, SMALL), write(tmp_path / "team", SMALL)
    write(tmp_path, SMALL, name="README.md")
    assert door(tmp_path, str(team)).files() == (top, team)


@pytest.mark.proves("CF-03")
def test_a_folder_without_files_is_an_error_of_its_own(tmp_path):
    """Nothing to serve is said, not served."""
    with pytest.raises(WorkflowInvalid, match="this folder has no WORKFLOW") as caught:
        door(tmp_path).files()
    assert caught.value.code == "missing_workflow_file"


@pytest.mark.proves("CF-03", "PT-06")
@pytest.mark.parametrize("name", ["absent.md", "folder", "pipe"])
def test_a_file_that_cannot_be_read_is_an_error_of_its_own(tmp_path, name):
    """Absent, a folder, a pipe that nobody writes to: never an empty prompt, and never a wait."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WorkflowInvalid) as caught:
        door().read(tmp_path / name)
    assert caught.value.code == "missing_workflow_file"
    assert caught.value.place == f"{tmp_path / name}:1"


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (b"---\na: \xff\n---\n", 2, "UTF-8"),
        (b"---\n---\nx\n\0\n", 4, "NUL"),
        (b"x" * (256 * 1024 + 1), 1, "256 KiB"),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path, content, line, said):
    """What cannot be stored or is far too long is not half read."""
    path = write(tmp_path, content)
    with pytest.raises(WorkflowInvalid, match=said) as caught:
        door().read(path)
    assert caught.value.place == f"{path}:{line}"


def test_a_mark_of_byte_order_and_other_line_ends_change_nothing(tmp_path):
    """A file that was saved on another system means the same."""
    path = write(tmp_path, b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert door().read(path).workflow == door().parse(SMALL, path=path)


@pytest.mark.proves("PT-02", "PT-07", "CF-03")
def test_a_bad_template_blocks_the_file_at_its_line(tmp_path):
    """The line counts from the top of the file, front matter included."""
    found = fault(SMALL + "\n\nAlso {{ issue.titel }}\n", tmp_path / "WORKFLOW.md")
    assert found.code == "template_parse_error"
    assert found.place == f"{tmp_path}/WORKFLOW.md:13"
    assert "did you mean 'issue.title'?" in found.message


@pytest.mark.proves("SC-02", "SC-08", "SC-17")
def test_a_broken_contract_is_named_by_rule_and_line(tmp_path):
    """Each broken rule has its own line; an absent set comes with the lines to add."""
    path = tmp_path / "WORKFLOW.md"
    text = SMALL.replace("  terminal_states: [Done]\n", "").replace("[To Do]", "[To Do]\n  handoff_state: to do")
    found = fault(text, path)
    assert found.code == "invalid_state_contract"
    assert "say 'terminal_states: [Done]'" in found.message
    assert f"{path}:2: 'tracker.terminal_states'" in str(found)
    assert f"{path}:6: 'tracker.handoff_state'" in str(found)
    assert "(SC-02)" in found.message


@pytest.mark.proves("CF-06")
@pytest.mark.parametrize("value", ["$BOARDS/a", "${BOARDS}/a", "~/boards/a"])
def test_paths_may_begin_with_a_variable_or_the_home(tmp_path, monkeypatch, value):
    """They are resolved before the board gets its scope: two spellings of one folder are one board."""
    monkeypatch.setenv("HOME", "/home/robin")
    text = SMALL.replace("path: board", f"path: {value}")
    found = door(BOARDS="/home/robin/boards").parse(text, path=tmp_path / "WORKFLOW.md")
    assert found.scope == "backlog:/home/robin/boards/a"


@pytest.mark.proves("SC-01")
@pytest.mark.parametrize("environment", [{}, {"BOARDS": ""}])
def test_a_variable_that_is_not_set_is_an_error_and_not_nothing(tmp_path, environment):
    """An empty substitution never turns into another folder."""
    text = SMALL.replace("path: board", "path: $BOARDS")
    with pytest.raises(WorkflowInvalid, match=r"'tracker.path': \$BOARDS is not set or is empty") as caught:
        door(**environment).parse(text, path=tmp_path / "WORKFLOW.md")
    assert caught.value.place.endswith(":4")


@given(st.text(max_size=200), st.booleans())
def test_no_text_at_all_is_met_with_a_traceback(text, fenced):
    """Whatever a file holds, it is a workflow or a WorkflowInvalid with a code and a line."""
    found = judged(f"---\n{text}\n---\n{text}" if fenced else text)
    assert found is None or (found.code and found.place.rpartition(":")[2].isdecimal())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
BLOCKS = st.dictionaries(
    st.sampled_from(["name", "tracker", "polling", "workspace", "agent", "hooks", "command"]),
    JSON
    | st.dictionaries(
        st.sampled_from(["kind", "path", "active_states", "terminal_states", "provider", "env", "command", "branch"]),
        JSON,
    ),
)


@pytest.mark.proves("CF-09")
@given(BLOCKS)
def test_no_wrong_value_is_met_with_a_traceback(blocks):
    """Valid YAML of any shape in any known place is judged before anybody uses it."""
    found = judged(f"---\n{yaml.safe_dump(blocks)}\n---\n")
    assert found is None or found.code
