"""`orchestrator plan --contract other.md`: what a changed workflow file would do to each card. Nothing is written."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import typer

from orchestrator.cli import output
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.domain.difference import Comparison
from orchestrator.ports import Ports
from orchestrator.ports.store import WorkflowRow

_BRAKED = "it would stop most of the running turns: the tick would hold that until a person confirms it"


def show(ports: Ports, path: Path, *, workflow: str | None, as_json: bool) -> None:
    """Compare the file with the workflow in force that it would replace, and say what becomes of which card.

    The file is judged as if it stood where the one in force was read, so that its relative paths mean the same.
    Raises Trouble, TrackerError, WorkflowInvalid.
    """
    from orchestrator.engine import preview

    file = ports.workflows.read(path.resolve())
    row = _replaced(ports, file.workflow.name, path=path, wanted=workflow)
    proposed = ports.workflows.parse(file.body, path=row.source())
    try:
        comparison = preview.compare(ports, row.name, proposed)
    except preview.OtherBoard as error:
        raise Trouble(Exit.CONFIGURATION, f"{path}: {error}; a plan can be compared on one board only") from error
    if as_json:
        output.show_json({row.name: document(comparison)})
        return
    for sentence in (*(f"{each.key}: {each.message}" for each in comparison.lacking), *[_BRAKED] * comparison.braked):
        typer.echo(f"{row.name}: {sentence}")
    table = output.Rows(f"{row.name}: would change", ("change", "item", "state", "why"), rows(comparison))
    if table.rows:
        output.show(table)
    else:
        typer.echo(f"{row.name}: no card would be treated otherwise")


def document(comparison: Comparison) -> dict[str, object]:
    """A comparison for programs."""
    return dataclasses.asdict(comparison)


def rows(comparison: Comparison) -> list[tuple[object, ...]]:
    """A comparison for people."""
    return [(each.change, each.identifier, each.state, each.why) for each in comparison.differences]


def _replaced(ports: Ports, name: str, *, path: Path, wanted: str | None) -> WorkflowRow:
    """The workflow in force that the file stands for: by name, else the only one."""
    in_force = {row.name: row for row in ports.store.workflows.all()}
    if wanted is None and name not in in_force and len(in_force) == 1:
        return next(iter(in_force.values()))
    found = in_force.get(wanted or name)
    if found is None:
        known = ", ".join(in_force) or "none yet"
        remedy = "name the one to compare with: --workflow NAME"
        message = f"{path}: no workflow {wanted or name!r} is in force, expected one of: {known}; {remedy}"
        raise Trouble(Exit.CONFIGURATION, message)
    return found
