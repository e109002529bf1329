"""Deletes a flow's tasks once they are over for as long as the flow keeps them, so that the bytes stay bounded.

It is done by the flow's own full ticks, in small commits, for at most a moment each: what is left goes a minute later.
"""

from __future__ import annotations

from orchestrator.domain.call import FlowUnknown
from orchestrator.domain.step import flow_of
from orchestrator.ports import Ports
from orchestrator.ports.store import TickGrant

# One commit: short enough that nobody waits for its locks.
_BATCH = 500
# Of one tick, which is the flow's only one meanwhile; some ten thousand tasks go in it.
_SECONDS = 3.0


def prune(ports: Ports, grant: TickGrant) -> int:
    """Delete what is due to go; returns how many tasks. A process that does not know the flow deletes nothing of it."""
    try:
        days = ports.flows.contract(flow_of(grant.workflow)).keep_days
    except FlowUnknown:
        return 0
    if days is None:
        return 0
    total, until = 0, ports.clock.boot_seconds() + _SECONDS
    while True:
        deleted = ports.store.flows.prune(days=days, at_most=_BATCH, workflow=grant.workflow)
        total += deleted
        if deleted < _BATCH or ports.clock.boot_seconds() >= until:
            return total
