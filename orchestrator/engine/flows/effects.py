"""An effect: intend, act, settle. One whose outcome is not known is found out before anything is sent again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from orchestrator.domain import effect, flow
from orchestrator.domain.call import Answer, Part, Said
from orchestrator.domain.effect import MARGIN_SECONDS, EffectRecord, EffectStatus, Move
from orchestrator.domain.flow import Ending
from orchestrator.domain.step import StepContract
from orchestrator.domain.turn import StopReason
from orchestrator.engine import patience
from orchestrator.engine.flows import card
from orchestrator.engine.flows.shift import Done, NotOurs, Shift
from orchestrator.ports.store import FlowStep, Intent


def forbidden(shift: Shift, step: StepContract) -> Ending:
    """The task was not given what the step needs."""
    given = ", ".join(sorted(shift.task.authority)) or "nothing"
    reason = f"authority: it needs {step.authority!r}; the task was given {given}"
    shift.fail(step, Said.REFUSED.value, reason)
    return flow.failed(StopReason.STEP_FAILED, f"{step.name}: {reason}")


def bring_about(shift: Shift, step: StepContract) -> Done | Ending:
    """Whatever is the next thing to do about this effect."""
    record = shift.task.effects.get(step.name)
    if step.authority is not None and step.authority not in shift.task.authority and not shift.is_open(step):
        return forbidden(shift, step)
    return _follow(shift, step, record=record)


def _follow(shift: Shift, step: StepContract, *, record: EffectRecord | None) -> Done | Ending:
    following = effect.after(record, step, shift.now())
    match following.move:
        case Move.INTEND if (stopping := shift.stopping) is not None:
            return flow.stopped(stopping)
        case Move.INTEND:
            return _intend(shift, step, record=record)
        case Move.LOOK_UP if record is not None:
            return _look_up(shift, step, record=record)
        case Move.WAIT if following.at is not None:
            return flow.unknown(following.at, f"{step.name}: {following.reason}")
        case Move.GIVE_UP:
            return flow.failed(StopReason.STEP_FAILED, f"{step.name}: {following.reason}")
        case _:
            return flow.asks(step, following.reason)


def _intend(shift: Shift, step: StepContract, *, record: EffectRecord | None) -> Done | Ending:
    """Key and parameters are derived once; from then on the ledger's are the ones."""
    if (ending := card.stops(shift, step)) is not None:
        return ending
    key, parameters = (record.key, record.parameters) if record is not None else ("", {})
    if record is None:
        prepared = shift.perform(step, Part.PREPARE)
        if prepared.said is not Said.DONE:
            return _failed(shift, step, prepared)
        key, parameters = prepared.key, prepared.parameters
    begun = shift.boot_seconds()
    undo = step.compensation.name if step.compensation is not None else None
    intent = Intent(key, step.name, parameters, step.timeout_seconds, step.safe_seconds, undo)
    store, ref = shift.ports.store.flows, shift.admitted.ref
    if not patience.persist(lambda: store.intend(ref, intent, lease_seconds=shift.worker.lease_seconds)):
        return _not_intended(shift, step, key)
    return _act(shift, step, intent=intent, until=begun + step.timeout_seconds)


def _act(shift: Shift, step: StepContract, *, intent: Intent, until: float) -> Done | Ending:
    """The act; `until` is the boot clock's reading after which it must not be sent any more."""
    answer = shift.perform(step, Part.ACT, of=intent, until=until)
    store, ref = shift.ports.store.flows, shift.admitted.ref
    match answer.said:
        case Said.DONE:
            return _commit(shift, step, key=intent.key, answer=answer)
        case Said.REFUSED:
            shift.fail(step, answer.said.value, answer.reason)
            _insist(patience.persist(lambda: store.refuse(ref, intent.key, answer.reason)))
            return flow.failed(StopReason.STEP_FAILED, f"{step.name}: {answer.reason}")
        case Said.NOT_SENT:
            _insist(patience.persist(lambda: store.absent(ref, intent.key, answer.reason)))
            return _failed(shift, step, answer)
        case _:
            shift.fail(step, answer.said.value, answer.reason)
            if not step.looks_up and not step.deduplicates:
                return flow.asks(step, answer.reason)
            wait = max(until - shift.boot_seconds(), 0.0) + MARGIN_SECONDS
            return flow.unknown(shift.now() + timedelta(seconds=wait), f"{step.name}: {answer.reason}")


def _look_up(shift: Shift, step: StepContract, *, record: EffectRecord) -> Done | Ending:
    """Ask the target by key; the ladder starts again with what it says."""
    answer = shift.perform(step, Part.LOOK_UP, of=record)
    store, ref = shift.ports.store.flows, shift.admitted.ref
    if answer.said is Said.DONE:
        return _commit(shift, step, key=record.key, answer=answer)
    if answer.said is Said.ABSENT:
        _insist(patience.persist(lambda: store.absent(ref, record.key, "looked up by key, and not there")))
        return _follow(shift, step, record=replace(record, status=EffectStatus.ABSENT))
    patience.persist(lambda: store.looked(record.key, answer.reason))
    return flow.unknown(effect.look_again_at(shift.now(), record.looks), f"{step.name}: {answer.reason}")


def _commit(shift: Shift, step: StepContract, *, key: str, answer: Answer) -> Done | Ending:
    """It happened: recorded before anything else, whoever we are by now."""
    record = FlowStep(step.ordinal, step.name, answer.value, answer.ends)
    store, ref = shift.ports.store.flows, shift.admitted.ref
    kept = patience.persist(lambda: store.committed(ref, key, step=record, lease_seconds=shift.worker.lease_seconds))
    if not kept.ours:
        return shift.why()
    return Done(answer.value, answer.ends)


def _failed(shift: Shift, step: StepContract, answer: Answer) -> Ending:
    """A call before or instead of the act that came to nothing."""
    if answer.said is Said.STOPPED:
        return flow.handed_back(shift.now())
    attempt = shift.fail(step, answer.said.value, answer.reason)
    if answer.said in {Said.TRY_AGAIN, Said.NOT_SENT}:
        return flow.attempted(step, attempt, shift.now(), reason=answer.reason)
    return flow.failed(StopReason.STEP_FAILED, f"{step.name}: {answer.reason}")


def _not_intended(shift: Shift, step: StepContract, key: str) -> Ending:
    """Flagged, late, not ours; or the key is in the ledger already, and not for this step of this task."""
    found = patience.persist(
        lambda: shift.ports.store.turns.renew([shift.admitted.ref], lease_seconds=shift.worker.lease_seconds)
    )
    renewed = found.get(shift.admitted.ref.turn_id)
    late = shift.admitted.deadline_at is not None and shift.now() >= shift.admitted.deadline_at
    if renewed is None or not renewed.ours or renewed.cancel is not None or late:
        return shift.why()
    reason = f"the key {key!r} is in the ledger already, for another task or step"
    shift.fail(step, Said.FAILED.value, reason)
    return flow.failed(StopReason.STEP_FAILED, f"{step.name}: {reason}")


def _insist(ours: bool) -> None:  # noqa: FBT001 -- what a statement answered
    if not ours:
        raise NotOurs
