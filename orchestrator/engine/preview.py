"""What a tick would do now, and what it would do under another contract. Reads what a tick reads, writes nothing."""

from __future__ import annotations

from orchestrator.domain import contract as contracts
from orchestrator.domain import difference, reconcile
from orchestrator.domain.difference import Comparison, Terms
from orchestrator.domain.reconcile import Plan
from orchestrator.domain.records import Board, Records
from orchestrator.domain.workflow import Workflow
from orchestrator.engine import blockers
from orchestrator.engine.reconcile import read_board, states_to_list
from orchestrator.ports import Ports
from orchestrator.ports.store import WorkflowRow


class OtherBoard(Exception):
    """The proposed file is about another board than the workflow in force; the message names both."""


def preview(ports: Ports, name: str) -> tuple[Plan, Board, Records]:
    """What the next full tick would do. Raises TrackerError, WorkflowInvalid, LookupError."""
    workflow = ports.workflows.parse((row := _row(ports, name)).body, path=row.source())
    board, records, _ = _look(ports, name, workflow=workflow, states=())
    return reconcile.plan(board, records, workflow.contract, limits=workflow.limits, now=board.began_at), board, records


def compare(ports: Ports, name: str, proposed: Workflow) -> Comparison:
    """What would change if `proposed` were in force. Raises OtherBoard, TrackerError, WorkflowInvalid, LookupError."""
    row = _row(ports, name)
    running = ports.workflows.parse(row.body, path=row.source())
    if proposed.scope != row.scope:
        raise OtherBoard(f"the file is about the board {proposed.scope}, workflow {name!r} serves {row.scope}")
    board, records, live = _look(ports, name, workflow=running, states=proposed.contract.active)
    sides = (Terms(side.contract, side.limits, contracts.missing(side.contract, live)) for side in (running, proposed))
    return difference.compare(board, records, next(sides), proposed=next(sides))


def _row(ports: Ports, name: str) -> WorkflowRow:
    row = ports.store.workflows.current(name)
    if row is None:
        raise LookupError(name)
    return row


def _look(
    ports: Ports, name: str, *, workflow: Workflow, states: tuple[str, ...]
) -> tuple[Board, Records, tuple[str, ...]]:
    """The board with the cards in `states` too, our records, and the states that the board has now."""
    tracker = ports.tracker(workflow)
    live = tracker.states()
    grant = ports.store.reconciler.peek(name)
    records = ports.store.items.records(grant)
    wanted = tuple(dict.fromkeys((*states_to_list(workflow, tracker, live), *states)))
    board = read_board(ports, grant, workflow=workflow, records=records, states=wanted)
    board, _ = blockers.on_board(tracker, board, records, workflow=workflow, grant=grant)
    return board, records, live
