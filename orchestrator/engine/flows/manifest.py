"""Puts flows in force: a row with a version, which tasks are bound to for as long as they live."""

from __future__ import annotations

from orchestrator.domain.step import FlowContract
from orchestrator.ports.steps import Flows
from orchestrator.ports.store import Store, WorkflowRow

# How often a flow is looked at without anything being due; what is due rings by itself.
_INTERVAL_MS = 60_000


def put_in_force(store: Store, flows: Flows) -> None:
    """Every flow that this process can run, in force. Raises FlowUnknown for one that cannot be loaded."""
    for name in flows.names():
        publish(store, flows.contract(name))


def publish(store: Store, contract: FlowContract) -> WorkflowRow:
    """The row of this very contract, made when there is none yet."""
    row = store.workflows.current(contract.workflow)
    while row is None or row.digest != contract.digest:
        seen = row.version if row is not None else 0
        wanted = WorkflowRow(contract.workflow, seen, contract.digest, contract.body, contract.place, contract.workflow)
        row = store.workflows.publish(wanted, interval_ms=_INTERVAL_MS)
    return row
