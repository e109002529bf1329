"""The command line as a person meets it first."""

import pytest
from typer.testing import CliRunner

from orchestrator.cli import app
from orchestrator.cli.exits import Exit


def test_help_lists_every_command():
    """One line a command, and nothing that is not there."""
    shown = CliRunner().invoke(app.app, ["--help"]).output
    assert all(
        f" {name} " in shown
        for name in ("init", "validate", "up", "demo", "status", "plan", "explain", "history", "migrate")
    )


@pytest.mark.parametrize(
    "words",
    [["stauts"], ["demo", "--cards", "2"], ["demo", "--sabotage", "gravity"], ["up", "--workers", "0"], ["explain"]],
)
def test_a_command_line_that_makes_no_sense_is_a_usage_error(words: list[str]):
    """A wrong word, a number out of range, an unknown choice, a missing key: code 2 and nothing started."""
    assert CliRunner().invoke(app.app, words).exit_code == Exit.USAGE
