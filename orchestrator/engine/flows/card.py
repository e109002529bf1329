"""Before an effect of a task that belongs to a card: the card is read again, and a closed one ends the task (H22).

A tick would see it too, an interval later; by then a refund is paid. The look is fail-closed, as the relay's is: what
cannot be read lets nothing happen, and is tried again.
"""

from __future__ import annotations

from datetime import timedelta

from orchestrator.domain import flow
from orchestrator.domain.flow import Ending
from orchestrator.domain.step import StepContract
from orchestrator.domain.turn import StopReason
from orchestrator.engine import looking, patience
from orchestrator.engine.flows.shift import Shift
from orchestrator.ports.store import Card
from orchestrator.ports.tracker import TrackerError
from orchestrator.ports.workflows import WorkflowInvalid

# A tracker that is away is asked as often as a board is read by default.
_AGAIN_SECONDS = 30.0


def stops(shift: Shift, step: StepContract) -> Ending | None:
    """Why the effect must not begin; None when it may. What takes a task back asks nobody's card."""
    card = shift.task.card
    if card is None or shift.is_undoing:
        return None
    try:
        return _asked(shift, step, card=card)
    except (TrackerError, WorkflowInvalid) as error:
        reason = f"{step.name}: the card {card.identifier} could not be read: {error}"
        return flow.later(shift.now() + timedelta(seconds=_AGAIN_SECONDS), reason)


def _asked(shift: Shift, step: StepContract, *, card: Card) -> Ending | None:
    row = patience.persist(lambda: shift.ports.store.workflows.current(card.workflow))
    if row is None:
        return flow.blocked(step, f"the workflow {card.workflow} of its card {card.identifier} is gone")
    workflow = shift.ports.workflows.parse(row.body, path=row.source())
    tracker = shift.ports.tracker(workflow)
    item = looking.by_id(tracker, card.item_id) or looking.by_id(tracker, card.item_id)  # one miss is no absence
    if item is None:
        return flow.blocked(step, f"its card {card.identifier} is not on the board any more")
    return flow.stopped(StopReason.TERMINAL_SEEN) if workflow.contract.is_terminal(item.state) else None
