"""Takes a task back: the compensations of what it has committed, the last effect's first, each once.

They are effects of the same ledger, with keys, look-ups and authorities of their own; what differs is only what an end
means, since a task that is taken back ends in one way (`domain.flow.while_undoing`).
"""

from __future__ import annotations

from orchestrator.domain import flow
from orchestrator.domain.effect import EffectStatus
from orchestrator.domain.flow import Ending
from orchestrator.domain.step import StepContract
from orchestrator.engine.flows import effects
from orchestrator.engine.flows.shift import Shift


def walk(shift: Shift) -> Ending:
    """Undo what is committed, until one compensation ends the turn or all are settled."""
    shift.outputs.update({name: found.output for name, found in shift.task.steps.items()})
    for undone in reversed(shift.contract.steps):
        undo = undone.compensation
        if undo is None or not _is_due(shift, undone, undo):
            continue
        outcome = shift.between(undo) or effects.bring_about(shift, undo)
        if isinstance(outcome, Ending):
            return flow.while_undoing(undo, outcome)
    return flow.undone()


def _is_due(shift: Shift, undone: StepContract, undo: StepContract) -> bool:
    """What did not happen needs no undoing; one that was refused has had its person, who let it pass."""
    done, back = (shift.task.effects.get(step.name) for step in (undone, undo))
    if done is None or done.status is not EffectStatus.COMMITTED:
        return False
    return back is None or back.status not in {EffectStatus.COMMITTED, EffectStatus.REFUSED}
