"""Rings a tick. `celery -A orchestrator call tasks.reconcile` leads to one full tick that begins after the call."""

from __future__ import annotations

from orchestrator import office, telemetry
from orchestrator.celery import app
from orchestrator.engine import reconcile as engine
from orchestrator.ports.queue import PublishFailed
from orchestrator.ports.store import StoreUnavailable


@app.task(name="tasks.reconcile")
def reconcile(workflow: str | None = None, full: bool = True) -> None:  # noqa: FBT001, FBT002 -- the CLI's arguments
    """Run one due tick, of one workflow or of whichever is due; `full` lists the whole board."""
    context = office.context()
    with context.control.slot() as free:
        if not free and not full:
            return  # two ticks are at work in this process, and the request that brought us stands on the row
        try:
            context.publisher.look()
            engine.ring(context.ports, workflow, full=full, only=context.only)
        except (StoreUnavailable, PublishFailed) as error:
            telemetry.service_failed("postgres or redis", error=error)
