"""The store: what we did and mean to do, in Postgres. One call is one commit; a refusal is a value.

Locks are taken in the order fleet, workflow, item, task, turn. An exception out of a call that writes means *unknown*,
never "not committed": every write can be asked for again, since each is conditional on a version, a fence or a claim.
"""

from __future__ import annotations

from typing import Protocol

from orchestrator.ports.store.faults import StoreUnavailable
from orchestrator.ports.store.flows import (
    Asked,
    Asking,
    Card,
    Failure,
    FlowStep,
    FlowStore,
    FlowTask,
    Intent,
    Kept,
    NewTask,
    Offer,
    Recorded,
    Started,
)
from orchestrator.ports.store.items import ItemStore, Opened, Opening, Refused, Sight
from orchestrator.ports.store.operators import Hand, OperatorStore, Place
from orchestrator.ports.store.outbox import Claimed, OutboxStore, Settlement
from orchestrator.ports.store.reconciler import ReconcilerStore, TickGrant
from orchestrator.ports.store.turns import Admitted, Owner, Renewal, StepRecord, TurnRef, TurnStore
from orchestrator.ports.store.workers import WorkerRow, WorkerStore
from orchestrator.ports.store.workflows import WorkflowRow, WorkflowStore
from orchestrator.ports.store.workspaces import Idle, Made, WorkspaceRow, WorkspaceStore

# One door, one import: its values live in the rooms' files.
__all__ = [
    "Admitted",
    "Asked",
    "Asking",
    "Card",
    "Claimed",
    "Failure",
    "FlowStep",
    "FlowStore",
    "FlowTask",
    "Hand",
    "Idle",
    "Intent",
    "ItemStore",
    "Kept",
    "Made",
    "NewTask",
    "Offer",
    "Opened",
    "Opening",
    "OperatorStore",
    "OutboxStore",
    "Owner",
    "Place",
    "ReconcilerStore",
    "Recorded",
    "Refused",
    "Renewal",
    "Settlement",
    "Sight",
    "Started",
    "StepRecord",
    "Store",
    "StoreUnavailable",
    "TickGrant",
    "TurnRef",
    "TurnStore",
    "WorkerRow",
    "WorkerStore",
    "WorkflowRow",
    "WorkflowStore",
    "WorkspaceRow",
    "WorkspaceStore",
]


class Store(Protocol):
    """Everything durable, by room. `installation` is the id that our hidden keys carry."""

    @property
    def installation(self) -> str:
        """This installation's id: short, stable, the same for every process."""
        ...

    @property
    def reconciler(self) -> ReconcilerStore:
        """The rings."""
        ...

    @property
    def workflows(self) -> WorkflowStore:
        """The workflows in force."""
        ...

    @property
    def items(self) -> ItemStore:
        """What the tick reads and does."""
        ...

    @property
    def turns(self) -> TurnStore:
        """What workers write."""
        ...

    @property
    def flows(self) -> FlowStore:
        """Tasks that have no card."""
        ...

    @property
    def outbox(self) -> OutboxStore:
        """Where writes wait."""
        ...

    @property
    def operators(self) -> OperatorStore:
        """A person's commands."""
        ...

    @property
    def workspaces(self) -> WorkspaceStore:
        """Where work lies."""
        ...

    @property
    def workers(self) -> WorkerStore:
        """Who is there."""
        ...
