"""Takes a queued turn, if it still is one: a doubled, stale or invented message gets no row and ends."""

from __future__ import annotations

from uuid import UUID

from orchestrator import office, telemetry
from orchestrator.celery import app
from orchestrator.engine import turn as engine
from orchestrator.ports.store import StoreUnavailable


@app.task(name="tasks.turn")
def turn(turn_id: str, fence: int) -> None:
    """Run the turn to its end in this thread."""
    try:
        wanted, number = UUID(turn_id), int(fence)
    except (ValueError, AttributeError, TypeError):
        telemetry.message_refused("tasks.turn", found=repr((turn_id, fence))[:80])
        return
    context = office.context()
    try:
        engine.take_turn(context.ports, context.worker, turn_id=wanted, fence=number)
    except StoreUnavailable as error:
        telemetry.service_failed("postgres", error=error)
