"""A word from outside: a webhook, a button, another program. It asks for a listing, and the next ring gives it."""

from __future__ import annotations

from orchestrator import office, telemetry
from orchestrator.celery import app
from orchestrator.ports.store import StoreUnavailable


@app.task(name="tasks.hint")
def hint(workflow: str | None = None, item: str | None = None) -> None:
    """Say that something happened on a board, of one workflow or of any; `item` is whoever sends it speaking."""
    try:
        if office.context().ports.store.reconciler.hint(workflow):
            telemetry.hinted(str(workflow or "every workflow")[:80], item=str(item or "")[:80])
    except StoreUnavailable as error:
        telemetry.service_failed("postgres", error=error)
