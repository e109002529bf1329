"""`orchestrator plan`: what the next tick would do, or what another contract would change. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from orchestrator import settings
from orchestrator.cli import output, proposal
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.domain.reconcile import Action, Cancel, Dispatch, EndTask, LiftHold, Plan
from orchestrator.domain.records import Board, ItemRecord
from orchestrator.ports import Ports


def command(
    workflow: Annotated[str | None, typer.Option(help="Only the workflow of this name.")] = None,
    contract: Annotated[
        Path | None, typer.Option(help="A changed workflow file: show what it would start, stop, clean and re-slot.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """Show what the next tick would do and why each other item would wait; with --contract, what that would change."""
    from orchestrator import wiring
    from orchestrator.engine import preview

    ports = wiring.open_ports(settings.load())
    if contract is not None:
        proposal.show(ports, contract, workflow=workflow, as_json=as_json)
        return
    plans = {name: preview.preview(ports, name) for name in _names(ports, workflow)}
    if as_json:
        output.show_json({name: document(plan, board) for name, (plan, board, _) in plans.items()})
        return
    for name, (plan, board, _) in plans.items():
        if plan.mass_cancel:
            typer.echo(f"{name}: this plan would cancel most of the running turns, so it would be held instead")
        output.show(
            output.Rows(f"{name}: would do", ("action", "item", "why"), list(_actions(plan))),
            output.Rows(f"{name}: would wait", ("item", "title", "reason", "detail"), list(_waits(plan, board))),
        )


def document(plan: Plan, board: Board) -> dict[str, object]:
    """A plan for programs."""
    return {
        "mass_cancel": plan.mass_cancel,
        "actions": [{"action": kind, "item": item, "why": why} for kind, item, why in _actions(plan)],
        "waiting": [
            {"item": item, "title": title, "reason": reason, "detail": detail}
            for item, title, reason, detail in _waits(plan, board)
        ],
    }


def _names(ports: Ports, wanted: str | None) -> list[str]:
    names = [row.name for row in ports.store.workflows.all()]
    if wanted is not None and wanted not in names:
        known = ", ".join(names) or "none yet"
        raise Trouble(Exit.CONFIGURATION, f"--workflow {wanted}: no such workflow in force; expected one of: {known}")
    if not names:
        raise Trouble(Exit.CONFIGURATION, "no workflow is in force: start the system with a workflow file")
    return names if wanted is None else [wanted]


def _actions(plan: Plan) -> Iterator[tuple[object, ...]]:
    for action in plan.actions:
        yield type(action).__name__.lower(), _item_of(action), _why(action)


def _waits(plan: Plan, board: Board) -> Iterator[tuple[object, ...]]:
    for item_id, wait in plan.reasons.items():
        item = board.items.get(item_id)
        yield item.identifier if item else item_id, item.title if item else None, wait.reason, wait.detail


def _item_of(action: Action) -> str:
    if isinstance(action, Dispatch):
        return action.item.identifier
    record: ItemRecord = action.record
    return record.identifier


def _why(action: Action) -> str:
    match action:
        case Dispatch(item=item):
            return f"{item.state}: {item.title}"
        case Cancel(stop=stop) | EndTask(stop=stop):
            return stop.value
        case LiftHold(reason=reason):
            return reason
        case _:
            return ""
