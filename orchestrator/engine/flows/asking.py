"""A question to a person: put once, waited for without a worker, answered by a command.

The answer is recorded as the step's output by whoever takes it, so a turn meets this step only while nobody has
answered: it puts the question, finds it standing, or finds that its time is over.
"""

from __future__ import annotations

from orchestrator.domain import flow
from orchestrator.domain.call import Answer, Part, Said
from orchestrator.domain.flow import Ending
from orchestrator.domain.step import StepContract
from orchestrator.domain.turn import StopReason
from orchestrator.engine import patience
from orchestrator.engine.flows.shift import Done, NotOurs, Shift
from orchestrator.ports.store import Asked, Asking


def put(shift: Shift, step: StepContract) -> Answer | Done | Ending:
    """The turn's end with a question that stands; the answer, where it came at this very moment; or a failed call."""
    store, task_id = shift.ports.store.flows, shift.task.task_id
    standing = patience.persist(lambda: store.asked(task_id, step.name)) or _ask(shift, step)
    if isinstance(standing, Answer | Ending):
        return standing
    if standing.is_answered:
        return _answered(shift, step)
    if standing.until is not None and shift.now() >= standing.until:
        return flow.stopped(StopReason.EXPIRED)
    return flow.waits_for_input(step, standing.words, standing.until)


def _ask(shift: Shift, step: StepContract) -> Asked | Answer | Ending:
    said = shift.perform(step, Part.QUESTION)
    if said.said is not Said.DONE:
        return said
    store, ref = shift.ports.store.flows, shift.admitted.ref
    asking = Asking(step.ordinal, step.name, str(said.value), step.owner, step.expires_seconds)
    return patience.persist(lambda: store.ask(ref, asking)) or shift.why()


def _answered(shift: Shift, step: StepContract) -> Done:
    """It came after the turn had read what was recorded."""
    task = patience.persist(lambda: shift.ports.store.flows.load(shift.admitted.ref))
    if task is None:
        raise NotOurs
    return Done(task.steps[step.name].output, task.steps[step.name].ends)
