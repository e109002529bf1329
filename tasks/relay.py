"""Drains the outbox. A hint that finds two drains at work is dropped: they see what it came for."""

from __future__ import annotations

from orchestrator import office, telemetry
from orchestrator.celery import app
from orchestrator.engine import relay as engine
from orchestrator.ports.store import StoreUnavailable


@app.task(name="tasks.relay")
def relay() -> None:
    """Post what is due until nothing is."""
    context = office.context()
    with context.relay.slot() as free:
        if not free:
            return
        try:
            engine.drain(context.ports)
        except StoreUnavailable as error:
            telemetry.service_failed("postgres", error=error)
