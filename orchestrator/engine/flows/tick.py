"""One tick of a flow: silent turns are concluded, late tasks stopped, due ones opened, and messages sent.

The board has no say here, so no tracker is asked; everything comes from our own rows.
"""

from __future__ import annotations

from orchestrator import telemetry
from orchestrator.domain import flow
from orchestrator.domain.call import FlowUnknown
from orchestrator.domain.step import flow_of
from orchestrator.engine.flows import pruning
from orchestrator.ports import Ports
from orchestrator.ports.queue import PublishFailed
from orchestrator.ports.store import TickGrant


def tick(ports: Ports, grant: TickGrant) -> tuple[dict[str, int], str | None]:
    """Do what is due for the grant's flow; returns what was done how often, and what was in the way."""
    store = ports.store.flows
    counts = {"lost": store.lose_silent(grant.workflow, flow.LIMITS) if grant.trusted else 0}
    counts["expired"] = store.expire(grant.workflow)
    counts["pruned"] = pruning.prune(ports, grant) if grant.listing else 0
    fault = None
    try:
        cap = ports.flows.contract(flow_of(grant.workflow)).max_concurrent
        counts["opened"] = len(store.open_due(grant.workflow, cap=cap))
    except FlowUnknown as unknown:
        fault = str(unknown)  # a process that knows it opens them
    counts["enqueued"], unsent = _enqueue(ports, grant)
    done = {name: count for name, count in counts.items() if count}
    telemetry.tick(grant.workflow, listing=grant.listing, report={"counts": done, "fault": unsent or fault})
    return done, unsent or fault


def _enqueue(ports: Ports, grant: TickGrant) -> tuple[int, str | None]:
    """Offer every queued turn whose message is missing; what the broker refuses is offered again by a later tick."""
    offers = ports.store.flows.stale(grant.workflow)
    if not offers:
        return 0, None
    try:
        ports.queue.turns(offers)
    except PublishFailed as error:
        telemetry.service_failed("redis", error=error)
        return 0, str(error)
    ports.store.items.mark_enqueued([offer.turn_id for offer in offers])
    return len(offers), None
