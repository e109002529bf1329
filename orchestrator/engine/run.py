"""A plan being carried out: what every step of it needs, what the loop remembers, and the right to go on."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.domain.select import Wait
from orchestrator.domain.workflow import Workflow
from orchestrator.ports import Ports
from orchestrator.ports.store import TickGrant, WorkflowRow

# Between two extensions of a tick's right: well below the ten seconds that each gives.
_EXTEND_AFTER_SECONDS = 2.0


class TickLost(Exception):
    """Another tick has the right now; this one stops, and what it left undone the other sees."""


@dataclass(slots=True)
class Run:
    """One plan being carried out: what every step needs, and what the loop remembers."""

    ports: Ports
    grant: TickGrant
    row: WorkflowRow
    workflow: Workflow
    waits: dict[str, Wait]
    extended_at: float
    publishing: bool = True
    refused: set[str] = field(default_factory=set)

    def go_on(self) -> None:
        """Extend the right to this tick where it is due. Raises TickLost."""
        self.extended_at = keep(self.ports, self.grant, self.extended_at)


def keep(ports: Ports, grant: TickGrant, extended_at: float) -> float:
    """Extend the right to this tick, between pages and actions, once some seconds have passed since `extended_at`.

    Returns when it was extended last, by the boot clock; raises TickLost when it is gone.
    """
    now = ports.clock.boot_seconds()
    if not grant.binding or now - extended_at < _EXTEND_AFTER_SECONDS:
        return extended_at
    if not ports.store.reconciler.extend(grant):
        raise TickLost
    return now
