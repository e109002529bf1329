"""Removes the workspaces that may go on this host; a hint that finds it at work is dropped."""

from __future__ import annotations

from orchestrator import office, telemetry
from orchestrator.celery import app
from orchestrator.engine import tidy as engine
from orchestrator.ports.store import StoreUnavailable


@app.task(name="tasks.tidy")
def tidy() -> None:
    """Preserve, tell, remove, until nothing is left to go."""
    context = office.context()
    with context.tidy.slot() as free:
        if not free:
            return
        try:
            engine.tidy_all(context.ports, context.worker)
        except StoreUnavailable as error:
            telemetry.service_failed("postgres", error=error)
