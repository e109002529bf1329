"""What one turn works with, for each step of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestrator.domain.item import Item
from orchestrator.domain.workflow import Workflow
from orchestrator.engine.worker import Worker
from orchestrator.ports import Ports
from orchestrator.ports.store import Admitted


@dataclass(frozen=True, slots=True)
class Desk:
    """What one turn works with."""

    ports: Ports
    admitted: Admitted
    workflow: Workflow
    item: Item
    worker: Worker

    @property
    def session(self) -> str | None:
        """The conversation to go on with; None where the work came from another host, which has the agent's memory."""
        is_here = self.workflow.workspace.shared or self.admitted.home == self.worker.identity.host
        return self.admitted.session if is_here else None

    def folder(self) -> Path:
        """This turn's folder under our state: transcript, scratch, what its hooks said."""
        return self.worker.state_dir / "turns" / str(self.admitted.ref.turn_id)
