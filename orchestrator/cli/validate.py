"""`orchestrator validate`: what a workflow file means and what is wrong with it, without any server or board."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli import judge, output
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.domain.workflow import Workflow
from orchestrator.ports.workflows import WorkflowInvalid


def command(
    file: Annotated[Path, typer.Argument(help="The workflow file, or a folder of them.")] = Path("WORKFLOW.md"),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,  # noqa: FBT002 - a flag
    respell: Annotated[bool, typer.Option("--respell", help="Print the prompt in Liquid.")] = False,  # noqa: FBT002
) -> None:
    """Judge a workflow file offline: every error and warning with its line, and what is not used."""
    if respell:
        typer.echo(_liquid(file))
        return
    results = list(_judged(file))
    if as_json:
        output.show_json(results)
    else:
        for result in results:
            _tell(result)
    broken = sum(not result["valid"] for result in results)
    if broken:
        raise Trouble(Exit.CONFIGURATION, f"{broken} of {len(results)} workflow file(s) cannot be used")


def _liquid(file: Path) -> str:
    """The prompt of a file; an action of Go that has no spelling stands in it as it was."""
    if file.is_dir():
        raise Trouble(Exit.USAGE, f"{file} is a folder; name the one file whose prompt you want to see")
    return judge.door([file]).liquid(file)


def _judged(path: Path) -> Iterator[dict[str, object]]:
    files = judge.door([path])
    try:
        found = files.files()
    except WorkflowInvalid as error:
        yield _invalid(path, error)
        return
    for file in found:
        try:
            yield _valid(file, files.read(file).workflow)
        except WorkflowInvalid as error:
            yield _invalid(file, error)


def _valid(file: Path, workflow: Workflow) -> dict[str, object]:
    contract = workflow.contract
    return {
        "file": str(file),
        "valid": True,
        "name": workflow.name,
        "tracker": workflow.tracker.kind,
        "agent": workflow.agent.kind,
        "active": list(contract.active),
        "terminal": list(contract.terminal),
        "in_progress": contract.in_progress,
        "handoff": contract.handoff,
        "errors": [],
        "warnings": [_warning(file, warning) for warning in workflow.warnings],
    }


def _invalid(file: Path, error: WorkflowInvalid) -> dict[str, object]:
    errors = [_finding(place, message) for place, message in error.findings]
    return {"file": str(file), "valid": False, "code": error.code, "errors": errors, "warnings": []}


def _finding(place: str, message: str) -> dict[str, object]:
    return {"place": place, "line": int(place.rpartition(":")[2]), "message": message}


def _warning(file: Path, warning: str) -> dict[str, object]:
    line, _, message = warning.removeprefix(f"{file}:").partition(": ")
    return _finding(f"{file}:{line}", message)


def _tell(result: Mapping[str, Any]) -> None:
    for kind in ("errors", "warnings"):
        for finding in result[kind]:
            typer.echo(f"{finding['place']}: {kind.removesuffix('s')}: {finding['message']}")
    if result["valid"]:
        typer.echo(f"{result['file']}: valid; workflow {result['name']!r}, a {result['tracker']} board, ", nl=False)
        typer.echo(f"agent kind {result['agent']}, {len(result['warnings'])} warning(s)")
