"""The doors: everything that the engine touches, as Protocols; one file a door.

The adapters behind them know nothing of each other.

A door's call either happens or raises; a refusal that is an everyday outcome is a value. `Ports` is the bundle that
wiring opens and the engine takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.domain.workflow import Workflow
from orchestrator.ports.agent import Agent, Employer
from orchestrator.ports.clock import Clock
from orchestrator.ports.hooks import Hooks
from orchestrator.ports.leases import Leases
from orchestrator.ports.prompts import Prompts
from orchestrator.ports.queue import Queue
from orchestrator.ports.remotes import NO_REMOTES, Remotes
from orchestrator.ports.steps import NO_FLOWS, Flows, Steps
from orchestrator.ports.store import Store
from orchestrator.ports.supervisor import Supervisor
from orchestrator.ports.tracker import Tracker
from orchestrator.ports.workflows import Workflows
from orchestrator.ports.workspaces import Workspaces


@dataclass(frozen=True, slots=True)
class Ports:
    """The open doors of one process. `tracker` and `agent` open one for a workflow, `agent` for a flow's decision too.

    `flows` are those that this process can run, `steps` calls their functions.
    """

    store: Store
    leases: Leases
    queue: Queue
    clock: Clock
    workflows: Workflows
    workspaces: Workspaces
    prompts: Prompts
    hooks: Hooks
    tracker: Callable[[Workflow], Tracker]
    agent: Callable[[Employer], Agent]
    supervisor: Callable[[], Supervisor]
    flows: Flows = NO_FLOWS
    steps: Steps = NO_FLOWS
    remotes: Remotes = NO_REMOTES
