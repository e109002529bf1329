"""The command line: which commands there are, and what happens to an error on its way to a person."""

from __future__ import annotations

import logging
import sys
from functools import partial

import typer

from orchestrator import telemetry
from orchestrator.cli import (
    drain,
    exits,
    explain,
    hint,
    history,
    init,
    metrics,
    migrate,
    operate,
    plan,
    recover,
    retire,
    run,
    status,
    up,
    validate,
    writes,
)
from orchestrator.cli.demo import command as demo
from orchestrator.cli.flows import flow, task

app = typer.Typer(
    name="orchestrator",
    help="Keeps a fleet of agents on station with the team's issue tracker.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.command("init")(init.command)
app.command("validate")(validate.command)
app.command("up")(up.command)
app.command("demo")(demo.command)
app.command("status")(status.command)
app.command("plan")(plan.command)
app.command("run")(run.command)
app.command("hint")(hint.command)
app.command("explain")(explain.command)
app.command("history")(history.command)
app.command("retire")(retire.command)
app.command("hold")(operate.hold)
app.command("release")(operate.release)
app.command("resume")(operate.resume)
app.command("discard")(operate.discard)
app.command("dead-letters")(operate.dead_letters)
app.command("drain")(drain.command)
app.command("recover")(recover.command)
app.command("writes")(writes.command)
app.command("metrics")(metrics.command)
app.command("migrate")(migrate.command)
app.add_typer(flow.app, name="flow")
app.add_typer(task.app, name="task")


def main() -> None:
    """Run the command that was typed, and end the process with its exit code."""
    telemetry.configure(telemetry.Style.CONSOLE, level=logging.WARNING)
    sys.exit(exits.guarded(partial(app, prog_name="orchestrator", standalone_mode=True), say=_say))


def _say(message: str) -> None:
    typer.echo(f"orchestrator: {message}", err=True)
