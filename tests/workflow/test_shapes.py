"""Files in the shape of two peers: what loads as it is, and what has to be changed, said in full."""

import re
from pathlib import Path

import pytest

from orchestrator import prompts
from orchestrator.domain.item import Item
from orchestrator.ports.workflows import WorkflowInvalid
from orchestrator.prompts import golang
from orchestrator.workflow import Kinds, WorkflowFiles
from tests.workflow import storm

SHAPES = Path(__file__).parent / "shapes"
KINDS = Kinds(trackers={"backlog"}, agents={"command", "codex", "claude-code"})
BARE = Item(id="1", identifier="BACK-1", title="Bare", state="To Do")
BACKLOG = """\
tracker:
  kind: backlog
  path: board
  active_states: [To Do, In Progress]
  in_progress_state: In Progress
  handoff_state: Human Review
  terminal_states: [Done]
"""


def shape(name, *, board=None):
    """A file of that shape, with its tracker block changed to ours where asked for, and nothing else."""
    text = (SHAPES / f"{name}.md").read_text(encoding="utf-8")
    return re.sub(r"^tracker:\n(?: .*\n)*", board, text, flags=re.MULTILINE) if board else text


def parse(text):
    """What it means here, where Backlog.md boards and commands are all that there is."""
    return WorkflowFiles([], environment={"HOME": "/home/robin"}, kinds=KINDS).parse(text, path=Path("WORKFLOW.md"))


def invalid(text):
    """What is wrong with it."""
    with pytest.raises(WorkflowInvalid) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize(("name", "kind"), [("symphony", "linear"), ("sortie", "jira")])
def test_a_peers_file_loads_but_for_its_kind_of_board(name, kind):
    """One error, at the line of the kind, with the five lines that help; nothing else of the file is in the way."""
    found = invalid(shape(name))
    ((place, message),) = found.findings
    assert (found.code, place) == ("unsupported_tracker_kind", "WORKFLOW.md:4")
    assert f"no kind {kind!r} here; known are backlog" in message
    five = message.split("\n", 1)[1]
    assert len(five.splitlines()) == 5
    assert parse(shape("symphony", board=five + "\n")).tracker.kind == "backlog"


def test_symphonys_shape_runs_with_the_tracker_block_alone_changed():
    """Its agent is codex because it has that block; its caps, its clocks and its prompt are read as they stand."""
    found = parse(shape("symphony", board=BACKLOG.replace("Human Review", "Review")))
    assert (found.agent.kind, found.agent.options["approval_policy"]) == ("codex", "never")
    assert found.agent.command == "codex --config shell_environment_policy.inherit=all app-server"
    assert (found.interval_ms, found.turn_limits.max_turns, found.limits.max_concurrent) == (5000, 20, 10)
    assert found.workspace.root.endswith("/harbour/rooms")
    said = [re.sub(r"^WORKFLOW.md:\d+: ", "", warning) for warning in found.warnings]
    assert [line for line in said if "not used yet" not in line] == [
        (
            "'hooks.after_create' reads $SOURCE_URL, which is empty there: hooks see an allow-list; "
            "add below 'hooks:' the line: env: [SOURCE_URL]"
        ),
        "'agent.max_concurrent_agents_by_state.todo' limits nothing; 'todo' is not in tracker.active_states",
    ]


def test_a_go_body_is_read_as_it_is_and_each_distinct_action_is_told():
    """Nothing but the tracker's block changed: warnings show how each action is read, and the prompt says it all."""
    text = shape("sortie", board=BACKLOG)
    found = parse(text)
    told = [warning for warning in found.warnings if "is read as" in warning]
    actions = {(spelled.action, spelled.liquid) for spelled in golang.spellings(text)}
    assert len(told) == len(actions)
    for warning in told:
        line, _, message = warning.removeprefix("WORKFLOW.md:").partition(": ")
        assert message.partition(" is of a Go template")[0] in text.split("\n")[int(line) - 1]
    assert (found.agent.kind, found.agent.command, found.agent.options["max_turns"]) == ("claude-code", "claude", 50)
    prompt = prompts.LiquidPrompts()
    bare, full = (
        prompt.render(found.prompt, item, attempt=attempt, run=run, retry_kind=None)
        for item, attempt, run in ((BARE, None, {"is_continuation": False}), (storm.ITEM, 2, storm.RUN))
    )
    said = ["What it says", "Labels:", "Part of", "Go on: turn 2", "BACK-6 blocks BACK-7", "urgent"]
    assert [line for line in said if line in bare] == []
    assert [line for line in said if line in full] == [line for line in said if line != "Part of"]
    assert ("Begin with a plan." in bare, "It has no link." in bare) == (True, True)


@pytest.mark.parametrize(
    ("action", "spelling"),
    [
        ("{{ .issue.title }}", "{{ issue.title }}"),
        ("{{- .issue.title -}}", "{{- issue.title -}}"),
        ("{{ if .issue.description }}", "{% if issue.description != empty %}"),
        ("{{ if .issue.url }}", "{% if issue.url %}"),
        ("{{ with .issue.parent }}", "{% if issue.parent %}"),
        ("{{ if $x }}", None),
        ("{{ if .attempt }}", "{% if attempt %}"),
        ("{{ if not .attempt }}", "{% if attempt == nil %}"),
        ("{{ if gt (len .issue.labels) 0 }}", "{% if issue.labels.size > 0 %}"),
        ("{{ if or .attempt .issue.labels }}", "{% if attempt or issue.labels != empty %}"),
        ("{{ index .issue.labels 0 | upper }}", "{{ issue.labels[0] | upcase }}"),
        ("{{ lower .issue.title }}", "{{ issue.title | downcase }}"),
        ("{{ $x := .issue.state }}", "{% assign x = issue.state %}"),
        ('{{ .issue.title | printf "%q" }}', None),
        ('{{ template "part" . }}', None),
        ("{{ if .issue.priority }}", "{% if issue.priority and issue.priority != 0 %}"),
        ("{{ if (eq .issue.state `Done`) }}", None),
        ('{{ if (eq .issue.state "Done") }}', '{% if issue.state == "Done" %}'),
        ("{{ .issue.labels }}", None),
        ("{{ len .issue.title }}", None),
        ("{{ .issue.parent.id }}", None),
        ("{{ range .issue.title }}", None),
        ("{{ $issue := .attempt }}", None),
        ("{{ .issue.title; .issue.state }}", None),
        ("{{ if .issue.title | lower }}", None),
        ("{{ toJSON .issue }}", None),
        ("{{/* a {% b */}}", None),
        ("{{ if or (and .attempt .issue.url) .issue.labels }}", None),
    ],
)  # fmt: skip
def test_one_action_has_one_spelling_or_is_left_to_its_author(action, spelling):
    """What is empty is false in Go and true in Liquid; what cannot be said the same way is not said at all."""
    (spelled,) = golang.spellings(action)
    assert spelled.liquid == spelling
    if spelling is None:
        ((place, message),) = invalid(f"---\n{BACKLOG}agent: {{command: x}}\n---\n\n{action}").findings
        assert (place, "no Liquid spelling" in message) == ("WORKFLOW.md:12", True)
