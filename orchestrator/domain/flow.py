"""How one turn of a flow may end, and what that means for its task. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from orchestrator.domain import retry
from orchestrator.domain.hold import Hold, HoldKind, HoldScope, Lift
from orchestrator.domain.step import StepContract
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import StopReason, TurnLimits, TurnStatus

# What a turn that kills its worker may try; a step's own attempts are in its contract.
LIMITS = TurnLimits()


@dataclass(frozen=True, slots=True)
class Ending:
    """A turn's end: its own status and reason, the task's status after it, and what wakes the task.

    `due_at` is when the next turn is wanted, None for never by time; `hold` is placed with it. `clean` sets the attempt
    counter back; `counted` is False for an end that is nobody's failure.
    """

    turn: TurnStatus
    stop: StopReason
    task: TaskStatus
    reason: str = ""
    due_at: datetime | None = None
    hold: Hold | None = None
    clean: bool = True
    counted: bool = True


def succeeded(reason: str = "") -> Ending:
    """Every step is recorded, or one of them ended the flow."""
    return Ending(TurnStatus.SUCCEEDED, StopReason.DONE, TaskStatus.SUCCEEDED, reason)


def failed(stop: StopReason, reason: str) -> Ending:
    """A step failed in a way that no other attempt would mend, or its proposal was refused."""
    return Ending(TurnStatus.FAILED, stop, TaskStatus.FAILED, reason)


def stopped(stop: StopReason) -> Ending:
    """A person's cancel, or the deadline; nothing is open any more."""
    expired = stop is StopReason.EXPIRED
    return Ending(TurnStatus.CANCELLED, stop, TaskStatus.FAILED if expired else TaskStatus.CANCELLED)


def undone() -> Ending:
    """What could be taken back is taken back: the task fails with the stop reason that it had before."""
    return Ending(TurnStatus.SUCCEEDED, StopReason.DONE, TaskStatus.FAILED)


def while_undoing(step: StepContract, ending: Ending) -> Ending:
    """What a turn's end means while a task is taken back: it goes on with that, and no failure ends it but a person's.

    A compensation has its own failure (DE-10): one that was refused, may not be done, or failed for good is a dead
    letter of its owner. A person who resumes it lets it be tried again, or passed over where the target has refused it
    for good; a person who discards it leaves undone what is left.
    """
    if ending.task is not TaskStatus.FAILED:
        return replace(ending, task=TaskStatus.COMPENSATING)
    words = f"{ending.reason}; undo it by hand, then `orchestrator resume` or `orchestrator discard`"
    hold = Hold(HoldScope.ITEM, HoldKind.DEAD_LETTER, Lift.PERSON, words, step.owner)
    return replace(ending, task=TaskStatus.COMPENSATING, hold=hold)


def handed_back(now: datetime) -> Ending:
    """The worker is being stopped, or was told nothing: the next turn goes on at once."""
    return Ending(TurnStatus.CANCELLED, StopReason.DEPLOY, TaskStatus.RUNNING, due_at=now, clean=False, counted=False)


def yielded(now: datetime) -> Ending:
    """The quantum is over: others first, and then the next turn."""
    return Ending(TurnStatus.SUCCEEDED, StopReason.YIELDED, TaskStatus.RUNNING, due_at=now)


def waits_for_input(step: StepContract, words: str, until: datetime | None) -> Ending:
    """A person is asked, and nobody's time is taken meanwhile; `until` is when that ends without an answer."""
    turn, waiting = TurnStatus.SUCCEEDED, TaskStatus.WAITING_INPUT
    return Ending(turn, StopReason.INPUT_ASKED, waiting, f"{step.name}: {words}", due_at=until)


def later(at: datetime, reason: str) -> Ending:
    """What has to be asked before an effect could not be asked: nothing was begun, and nobody has failed."""
    running = TaskStatus.RUNNING
    return Ending(TurnStatus.FAILED, StopReason.READ_FAILED, running, reason, due_at=at, clean=False, counted=False)


def unknown(at: datetime, reason: str) -> Ending:
    """An effect's outcome is not known; it can be found out from `at` on."""
    return Ending(TurnStatus.SUCCEEDED, StopReason.UNKNOWN_OUTCOME, TaskStatus.UNKNOWN, reason, due_at=at)


def asks(step: StepContract, reason: str) -> Ending:
    """Only a person can find out what became of an effect."""
    words = f"{step.name}: {reason}; see `orchestrator task show`, then `orchestrator task settle`"
    hold = Hold(HoldScope.ITEM, HoldKind.UNKNOWN_EFFECT, Lift.PERSON, words, step.owner)
    return Ending(TurnStatus.SUCCEEDED, StopReason.UNKNOWN_OUTCOME, TaskStatus.UNKNOWN, reason, hold=hold)


def blocked(step: StepContract, reason: str) -> Ending:
    """An agent cannot go on, or cannot be started as it is: a person puts something right, and it is asked again."""
    words = f"{step.name}: {reason}"
    hold = Hold(HoldScope.ITEM, HoldKind.BLOCKED, Lift.PERSON, words, step.owner)
    return Ending(TurnStatus.FAILED, StopReason.BLOCKED, TaskStatus.RUNNING, words, hold=hold)


def misfit(reason: str, owner: str) -> Ending:
    """The task is bound to another manifest than this worker has."""
    hold = Hold(HoldScope.ITEM, HoldKind.BLOCKED, Lift.PERSON, reason, owner)
    return Ending(TurnStatus.FAILED, StopReason.CONTRACT_BROKEN, TaskStatus.RUNNING, reason, hold=hold, clean=False)


def attempted(
    step: StepContract, attempt: int, now: datetime, *, reason: str, not_before: datetime | None = None
) -> Ending:
    """A failed attempt: another one after a pause, or when a provider wants it; a dead letter once all are used up."""
    if attempt < step.max_attempts:
        due_at = max(retry.step_due_at(now, attempt), not_before or now)
        return Ending(TurnStatus.FAILED, StopReason.STEP_FAILED, TaskStatus.RUNNING, reason, due_at=due_at)
    words = f"{step.name}: {attempt} attempts failed; the last: {reason}"
    hold = Hold(HoldScope.ITEM, HoldKind.DEAD_LETTER, Lift.PERSON, words, step.owner)
    return Ending(TurnStatus.FAILED, StopReason.ATTEMPTS_SPENT, TaskStatus.RUNNING, words, hold=hold)
