"""One turn of a flow: its steps in order, each recorded before the next; what is recorded never runs again.

A turn decides nothing that it can lose: when a checkpoint is refused, the turn is not ours any more, or is to stop.
"""

from __future__ import annotations

from orchestrator import telemetry
from orchestrator.domain import flow
from orchestrator.domain.call import Answer, FlowUnknown, Late, Part, Said
from orchestrator.domain.flow import Ending
from orchestrator.domain.step import FlowContract, NodeKind, StepContract, flow_of
from orchestrator.domain.turn import StopReason
from orchestrator.engine import patience
from orchestrator.engine.flows import asking, deciding, effects, undoing
from orchestrator.engine.flows.shift import Done, NotOurs, Shift
from orchestrator.engine.worker import Worker
from orchestrator.ports import Ports
from orchestrator.ports.store import Admitted, FlowStep


def run(ports: Ports, worker: Worker, *, admitted: Admitted, sent_at: float) -> Ending | None:
    """Take an admitted turn of a flow to its end; None when it was lost on the way."""
    ending = _run(ports, worker, admitted=admitted, sent_at=sent_at)
    if ending is not None and _conclude(ports, admitted, ending):
        return ending
    telemetry.write_refused(admitted.ref.turn_id, fence=admitted.ref.fence, what="flow turn")
    return None


def _run(ports: Ports, worker: Worker, *, admitted: Admitted, sent_at: float) -> Ending | None:
    try:
        contract = _bound_to(ports, admitted)
    except FlowUnknown as misfit:
        return flow.misfit(str(misfit), "whoever deploys")

    def walk(late: Late | None) -> Ending | None:
        """From what is recorded, as far as it goes; `late` is a call in which it was abandoned before."""
        task = patience.persist(lambda: ports.store.flows.load(admitted.ref))
        return _go(Shift(ports, worker, admitted, contract, task, sent_at, late)) if task is not None else None

    if contract.isolated:
        return walk(None)
    return ports.steps.watched(walk, shortest_seconds=min(step.timeout_seconds for step in contract.steps))


def _go(shift: Shift) -> Ending | None:
    try:
        return undoing.walk(shift) if shift.is_undoing else _walk(shift)
    except NotOurs:
        return None


def _bound_to(ports: Ports, admitted: Admitted) -> FlowContract:
    """The contract that the task was started with. Raises FlowUnknown when this process has another one, or none."""
    contract = ports.flows.contract(flow_of(admitted.workflow.name))
    if contract.digest != admitted.workflow.digest:
        bound = f"manifest {admitted.workflow.version} ({admitted.workflow.digest})"
        raise FlowUnknown(f"the task is bound to {bound}; this worker has {contract.digest} from {contract.place}")
    return contract


def _walk(shift: Shift) -> Ending:
    """The steps in order, until one of them ends the turn."""
    for step in shift.contract.steps:
        outcome = shift.recorded(step) or shift.between(step) or _take(shift, step)
        if isinstance(outcome, Ending):
            return outcome
        if outcome.ends is not None:
            return flow.succeeded(outcome.ends)
        shift.outputs[step.name] = outcome.output
    return flow.succeeded()


def _take(shift: Shift, step: StepContract) -> Done | Ending:
    if step.kind is NodeKind.EFFECT:
        return effects.bring_about(shift, step)
    if step.authority is not None and step.authority not in shift.task.authority:
        return effects.forbidden(shift, step)
    answer = _answer(shift, step)
    if not isinstance(answer, Answer):
        return answer
    match answer.said:
        case Said.DONE:
            return _record(shift, step, answer)
        case Said.TRY_AGAIN | Said.UNKNOWN:
            attempt = shift.fail(step, answer.said.value, answer.reason)
            return flow.attempted(step, attempt, shift.now(), reason=answer.reason)
        case Said.STOPPED:
            return flow.handed_back(shift.now())  # unless it was flagged: then the statement knows better
        case Said.REFUSED:
            shift.fail(step, answer.said.value, answer.reason)
            return flow.failed(StopReason.PROPOSAL_REFUSED, f"{step.name}: {answer.reason}")
        case _:
            shift.fail(step, answer.said.value, answer.reason)
            return flow.failed(StopReason.STEP_FAILED, f"{step.name}: {answer.reason}")


def _answer(shift: Shift, step: StepContract) -> Answer | Done | Ending:
    if shift.late is not None and shift.late.step == step.name:
        late, shift.late = shift.late, None
        return late.answer
    if step.kind is NodeKind.QUESTION:
        return asking.put(shift, step)
    if step.kind is not NodeKind.DECISION:
        return shift.perform(step, Part.RUN)
    if step.proposer is None:
        return shift.perform(step, Part.DECIDE)
    return deciding.propose(shift, step, step.proposer)


def _record(shift: Shift, step: StepContract, answer: Answer) -> Done | Ending:
    """The checkpoint. Where an earlier record stands, it is the one that counts."""
    record = FlowStep(step.ordinal, step.name, answer.value, answer.ends, is_decision=step.kind is NodeKind.DECISION)
    store, ref = shift.ports.store.flows, shift.admitted.ref
    kept = patience.persist(lambda: store.checkpoint(ref, record, lease_seconds=shift.worker.lease_seconds))
    if not kept.ours:
        return shift.why()
    if kept.kept:
        return Done(answer.value, answer.ends)
    task = patience.persist(lambda: store.load(ref))
    if task is None:
        raise NotOurs
    return Done(task.steps[step.name].output, task.steps[step.name].ends)


def _conclude(ports: Ports, admitted: Admitted, ending: Ending) -> bool:
    status = patience.persist(lambda: ports.store.flows.conclude(admitted.ref, ending))
    if status is None:
        return False
    telemetry.turn_ended(
        admitted.identifier,
        turn_id=admitted.ref.turn_id,
        fence=admitted.ref.fence,
        stop=ending.stop,
        session=None,
    )
    return True
