"""`orchestrator validate`: judges without a server, for people line by line, for programs with code and place."""

import json

import pytest
from typer.testing import CliRunner

from orchestrator.cli import app, exits
from orchestrator.cli.exits import Exit

GOOD = """\
---
tracker: {kind: backlog, path: board, active_states: [To Do], terminal_states: [Done]}
agent: {command: x, max_turn: 3}
reactions: {review: x}
---
Work on {{ issue.title }}.
"""


@pytest.fixture
def file(tmp_path):
    """Where the workflow stands; there is no board beside it."""
    return tmp_path / "WORKFLOW.md"


def run(*words):
    """The exit code, what was printed, what was said at the end."""
    said, printed = [], CliRunner()

    def command():
        result = printed.invoke(app.app, ["validate", *map(str, words)])
        outputs.append(result.output)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception

    outputs = []
    return exits.guarded(command, say=said.append), outputs[0], said


def test_a_usable_file_is_told_with_its_warnings(file):
    """What is misspelt and what is not used yet, each with its line; the code is that of a fine file."""
    file.write_text(GOOD)
    code, told, _ = run(file)
    assert code == Exit.FINE
    assert f"{file}:3: warning: unknown key 'agent.max_turn' is not read; did you mean 'agent.max_turns'?" in told
    assert f"{file}:4: warning: 'reactions' is not used yet" in told
    assert f"{file}: valid; workflow" in told


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("kind: backlog", "kind: backlgo", "unsupported_tracker_kind", 2),
        ("[Done]", "[to do]", "invalid_state_contract", 2),
        ("max_turn: 3", "max_turns: x", "workflow_parse_error", 3),
        ("issue.title", "issue.titel", "template_parse_error", 6),
        ("tracker: {", "tracker: ]", "workflow_parse_error", 2),
        (GOOD, "---\n- a\n---\n", "workflow_front_matter_not_a_map", 2),
    ],
)
def test_a_broken_file_is_told_to_a_program_with_code_and_place(file, old, new, code, line):
    """One document, whatever is wrong; the exit code is that of a wrong configuration."""
    file.write_text(GOOD.replace(old, new))
    ended, told, said = run(file, "--json")
    (result,) = json.loads(told)
    assert (ended, result["valid"], result["code"]) == (Exit.CONFIGURATION, False, code)
    assert (result["errors"][0]["place"], result["errors"][0]["line"]) == (f"{file}:{line}", line)
    assert said == ["1 of 1 workflow file(s) cannot be used"]


def test_every_file_of_a_folder_is_judged(file):
    """One that is wrong does not hide another."""
    file.write_text(GOOD)
    other = file.parent / "team" / "WORKFLOW.md"
    other.parent.mkdir()
    other.write_text("---\n")
    code, told, _ = run(file.parent)
    assert code == Exit.CONFIGURATION
    assert f"{other}:1: error: the front matter begins here" in told
    assert f"{file}: valid" in told


def test_a_file_that_is_not_there_is_an_error_with_a_code(file):
    """So is a folder without one."""
    assert json.loads(run(file, "--json")[1])[0]["code"] == "missing_workflow_file"
    assert json.loads(run(file.parent, "--json")[1])[0]["code"] == "missing_workflow_file"


def test_a_go_prompt_is_told_action_by_action_and_printed_in_liquid(file):
    """For a person and for a program; what is printed is a prompt that needs no warning any more."""
    body = "Work on {{ .issue.title }}.\n{{ if .attempt }}Again.{{ end }}\n"
    file.write_text(GOOD.replace("Work on {{ issue.title }}.\n", body))
    code, told, _ = run(file)
    assert code == Exit.FINE
    assert f"{file}:6: warning: {{{{ .issue.title }}}} is of a Go template and is read as {{{{ issue.title }}}}" in told
    (result,) = json.loads(run(file, "--json")[1])
    assert [warning["line"] for warning in result["warnings"] if "read as" in warning["message"]] == [6, 7, 7]
    code, liquid, _ = run(file, "--respell")
    assert (code, liquid) == (Exit.FINE, "Work on {{ issue.title }}.\n{% if attempt %}Again.{% endif %}\n")
    file.write_text(GOOD.replace("Work on {{ issue.title }}.\n", liquid))
    assert "Go template" not in run(file)[1]


def test_an_action_without_a_spelling_stays_as_it_is_and_is_an_error(file):
    """The rest is printed in Liquid, so that a person has one thing left to write."""
    file.write_text(GOOD.replace("{{ issue.title }}", "{{ .issue.title }}{{ toJSON .issue }}"))
    code, told, _ = run(file)
    assert (code, told.count("error:"), "{{ toJSON .issue }} is of a Go template and has no" in told) == (3, 1, True)
    assert run(file, "--respell")[1] == "Work on {{ issue.title }}{{ toJSON .issue }}.\n"
    assert run(file.parent, "--respell")[0] == Exit.USAGE
