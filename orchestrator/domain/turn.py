"""One turn: how it may end, and what its end means for its item. Pure: the ladder below is the priority rule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from orchestrator.domain import retry
from orchestrator.domain.contract import StateContract
from orchestrator.domain.hold import HoldKind
from orchestrator.domain.item import Item
from orchestrator.domain.task import TaskStatus


class TurnStatus(Enum):
    """Where one leased stretch of work stands."""

    QUEUED = "queued"  # set when the tick opens it; admission or a cancel ends it
    RUNNING = "running"  # set by admission; its conclusion, a cancel or death ends it
    SUCCEEDED = "succeeded"  # the agent's last word was a clean one; final
    FAILED = "failed"  # the agent failed, or showed no evidence; final
    CANCELLED = "cancelled"  # a person or a deploy stopped it; final
    LOST = "lost"  # its worker died or fell silent past the lease; final


TRANSITIONS: dict[TurnStatus, frozenset[TurnStatus]] = {
    TurnStatus.QUEUED: frozenset({TurnStatus.RUNNING, TurnStatus.CANCELLED}),
    TurnStatus.RUNNING: frozenset({TurnStatus.SUCCEEDED, TurnStatus.FAILED, TurnStatus.CANCELLED, TurnStatus.LOST}),
    TurnStatus.SUCCEEDED: frozenset(),
    TurnStatus.FAILED: frozenset(),
    TurnStatus.CANCELLED: frozenset(),
    TurnStatus.LOST: frozenset(),
}

OPEN = frozenset(status for status, following in TRANSITIONS.items() if following)


class StopReason(Enum):
    """Why a turn ended; a task keeps that of its last turn. A closed list: an addition needs a decision record."""

    DONE = "done"  # the agent reported done, or the evidence says so
    NO_CHANGE = "no_change"  # the agent reported that nothing needed changing
    BLOCKED = "blocked"  # the agent reported that it cannot go on
    TERMINAL_SEEN = "terminal_seen"  # a person closed the item
    MOVED_AWAY = "moved_away"  # a person moved the item out of its active states
    NOT_VISIBLE = "not_visible"  # the item was absent from two separate reads
    CANCELLED = "cancelled"  # a person's command
    SERVED_ELSEWHERE = "served_elsewhere"  # another installation works on the card, and was first
    ATTEMPTS_SPENT = "attempts_spent"  # the attempt cap was reached
    SESSIONS_SPENT = "sessions_spent"  # the session cap was reached
    BUDGET_SPENT = "budget_spent"  # a budget was used up
    STALLED = "stalled"  # the agent said nothing for too long
    REPEATED = "repeated"  # the agent made the same few calls over and over
    TIMED_OUT = "timed_out"  # the turn took too long
    AGENT_FAILED = "agent_failed"  # the agent reported failure, or exited non-zero
    NO_EVIDENCE = "no_evidence"  # the agent exited 0, said nothing and changed nothing
    BAD_REPORT = "bad_report"  # the agent's report could not be read
    LOST_WORKER = "lost_worker"  # the worker died or fell silent past its lease
    DEPLOY = "deploy"  # the worker was asked to stop
    CONTRACT_BROKEN = "contract_broken"  # the workflow or its workspace could not be used
    EXPIRED = "expired"  # the task's deadline passed, or nobody answered its question in time
    READ_FAILED = "read_failed"  # the card could not be read before the work began; counts against no cap
    QUOTA = "quota"  # a provider asked to wait; counts against no cap the first time in a row
    WORKSPACE_BUSY = "workspace_busy"  # a process of an earlier turn still holds the workspace; counts against no cap
    PUSH_FAILED = "push_failed"  # the branch could not be pushed, or somebody else's work is there; a person looks
    HOOK_FAILED = "hook_failed"  # after_create or before_run failed or ran too long; it is tried again like any failure
    UNKNOWN_OUTCOME = "unknown_outcome"  # an effect's outcome has to be found out first
    STEP_FAILED = "step_failed"  # a step of a flow failed; its stored reason says how
    PROPOSAL_REFUSED = "proposal_refused"  # what a model proposed did not pass schema, policy, authority or state
    INPUT_ASKED = "input_asked"  # a person is asked; the flow goes on with the answer, in another turn
    YIELDED = "yielded"  # the turn's quantum was over; the flow goes on in the next one
    TAKEN_BACK = "taken_back"  # a person's command: begin nothing more, and undo what was done


class Outcome(Enum):
    """What an agent may say of its turn."""

    DONE = "done"
    CONTINUE = "continue"
    NO_CHANGE = "no_change"
    BLOCKED = "blocked"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Ending:
    """The facts of a turn's end: the outcome that counts, why, and what the agent said about it.

    `stop` tells apart what `outcome` lumps together: a failure can be a stall, a time-out, a bad report. A turn that
    was stopped from outside has outcome FAILED and a stop reason that `conclude` looks at first.
    """

    outcome: Outcome
    stop: StopReason
    summary: str = ""
    reason: str = ""
    session: str | None = None
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Counters:
    """Where the item stands in its caps, this turn included."""

    attempt: int = 1  # turns since the last clean end
    turns_in_row: int = 1  # continuations of one queueing
    sessions: int = 1  # conversations with the agent since a person's last move
    has_waited: bool = False  # the turn before this one ended because a provider asked to wait


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """The caps of a workflow that a turn's end looks at; finite by default (RT-10)."""

    max_attempts: int = 5
    max_turns: int = 20
    max_sessions: int = 3
    max_retry_backoff_ms: int = 300_000


@dataclass(frozen=True, slots=True)
class End:
    """The task is over and nothing is written on the board but the status comment."""

    status: TaskStatus
    turn: TurnStatus
    stop: StopReason


@dataclass(frozen=True, slots=True)
class Handoff:
    """The task succeeded and its item goes to the handoff state."""

    stop: StopReason


@dataclass(frozen=True, slots=True)
class Recheck:
    """The task stays open and is looked at again at `at`; `counters` are what the item carries until then."""

    at: datetime
    turn: TurnStatus
    stop: StopReason
    counters: Counters
    keep_session: bool = True


@dataclass(frozen=True, slots=True)
class Parked:
    """The item is held. `task` is the final status when the business is over (a finished item), else None."""

    kind: HoldKind
    turn: TurnStatus
    stop: StopReason
    reason: str
    task: TaskStatus | None = None


Conclusion = End | Handoff | Recheck | Parked

# Stops that come from outside the agent and say for themselves what becomes of the task.
_TAKEN_AWAY = frozenset(
    {
        StopReason.TERMINAL_SEEN,
        StopReason.MOVED_AWAY,
        StopReason.NOT_VISIBLE,
        StopReason.CANCELLED,
        StopReason.SERVED_ELSEWHERE,
    }
)


# Stops that are nobody's failure: the turn is opened again as it was.
_HANDED_BACK = frozenset({StopReason.DEPLOY, StopReason.READ_FAILED, StopReason.WORKSPACE_BUSY})
# A shorter wait is no quota: the backoff of a failure covers it.
QUOTA_FROM_SECONDS = 30.0
# A tracker that did not answer, or a workspace that was not free, is tried again after about a tick.
_TRY_AGAIN_SECONDS = 5.0


def conclude(  # noqa: PLR0913 -- what happened, what the card shows, two sets of rules, and the clock
    ending: Ending, item: Item | None, contract: StateContract, *, counters: Counters, limits: TurnLimits, now: datetime
) -> Conclusion:
    """What a turn's end means. `item` is the fresh re-read, None when it could not be read.

    An unreadable item decides nothing here: the relay re-reads it before it writes, and fails closed.
    """
    if ending.stop in _HANDED_BACK:
        return _handed_back(ending, counters, now)
    if ending.stop in _TAKEN_AWAY:
        return End(TaskStatus.CANCELLED, TurnStatus.CANCELLED, ending.stop)
    if item is not None and contract.is_terminal(item.state):
        return End(_status_of(ending), _turn_of(ending), StopReason.TERMINAL_SEEN)
    if item is not None and not contract.is_active(item.state):
        return _left_the_active_states(ending, item, contract)
    if ending.outcome is Outcome.BLOCKED:
        return _blocked(ending)
    if ending.outcome is Outcome.FAILED and (ending.retry_after_seconds or 0.0) >= QUOTA_FROM_SECONDS:
        return _asked_to_wait(ending, counters, limits=limits, now=now)
    if ending.outcome is Outcome.FAILED:
        return _failed(ending, counters, limits=limits, now=now)
    if ending.outcome is Outcome.CONTINUE:
        return _continued(counters, limits, now)
    return _finished(ending, contract)


def lost(counters: Counters, *, limits: TurnLimits, now: datetime) -> Conclusion:
    """What the death of a turn's worker means: tried again, until the attempt cap is reached."""
    if counters.attempt >= limits.max_attempts:
        return Parked(HoldKind.DEAD_LETTER, TurnStatus.LOST, StopReason.ATTEMPTS_SPENT, _spent(counters, "lost worker"))
    due_at = retry.lost_due_at(now, counters.attempt, max_backoff_ms=limits.max_retry_backoff_ms)
    return Recheck(due_at, TurnStatus.LOST, StopReason.LOST_WORKER, counters)


def _handed_back(ending: Ending, counters: Counters, now: datetime) -> Conclusion:
    """A turn that was nobody's failure counts against no cap (RT-11): the next one goes on where this one stopped."""
    unspent = Counters(max(counters.attempt - 1, 0), max(counters.turns_in_row - 1, 0), counters.sessions)
    due_at = now if ending.stop is StopReason.DEPLOY else now + timedelta(seconds=_TRY_AGAIN_SECONDS)
    return Recheck(due_at, TurnStatus.CANCELLED, ending.stop, unspent)


def _left_the_active_states(ending: Ending, item: Item, contract: StateContract) -> Conclusion:
    finished = ending.outcome in {Outcome.DONE, Outcome.NO_CHANGE}
    if finished and contract.is_handoff(item.state):
        return End(TaskStatus.SUCCEEDED, TurnStatus.SUCCEEDED, ending.stop)
    return End(_status_of(ending), _turn_of(ending), StopReason.MOVED_AWAY)


def _blocked(ending: Ending) -> Conclusion:
    """Only a person can help: the agent said so, or the workflow cannot be used at all."""
    reason = ending.reason or ending.summary or "the agent did not say why"
    status = TurnStatus.SUCCEEDED if ending.stop is StopReason.BLOCKED else TurnStatus.FAILED
    return Parked(HoldKind.BLOCKED, status, ending.stop, reason)


def _asked_to_wait(ending: Ending, counters: Counters, *, limits: TurnLimits, now: datetime) -> Conclusion:
    """Tried again when the provider said. Once that is nobody's failure; an agent that always says so has attempts."""
    if counters.has_waited and counters.attempt >= limits.max_attempts:
        return _failed(ending, counters, limits=limits, now=now)
    spent = counters.attempt if counters.has_waited else max(counters.attempt - 1, 0)
    kept = Counters(spent, max(counters.turns_in_row - 1, 0), counters.sessions)
    due_at = now + timedelta(seconds=ending.retry_after_seconds or 0.0)
    return Recheck(due_at, TurnStatus.FAILED, StopReason.QUOTA, kept)


def _failed(ending: Ending, counters: Counters, *, limits: TurnLimits, now: datetime) -> Conclusion:
    if counters.attempt >= limits.max_attempts:
        reason = _spent(counters, ending.reason or ending.stop.value)
        return Parked(HoldKind.DEAD_LETTER, TurnStatus.FAILED, StopReason.ATTEMPTS_SPENT, reason)
    due_at = retry.failure_due_at(
        now,
        counters.attempt,
        max_backoff_ms=limits.max_retry_backoff_ms,
        retry_after_seconds=ending.retry_after_seconds,
    )
    # A conversation that goes round in circles is not gone on with.
    keeps = ending.stop is not StopReason.REPEATED
    return Recheck(due_at, TurnStatus.FAILED, ending.stop, counters, keep_session=keeps)


def _continued(counters: Counters, limits: TurnLimits, now: datetime) -> Conclusion:
    """A clean end sets the attempt back; after `max_turns` in a row the item queues again with a new session."""
    due_at = retry.continuation_due_at(now)
    if counters.turns_in_row < limits.max_turns:
        on = Counters(attempt=0, turns_in_row=counters.turns_in_row, sessions=counters.sessions)
        return Recheck(due_at, TurnStatus.SUCCEEDED, StopReason.DONE, on)
    if counters.sessions < limits.max_sessions:
        again = Counters(attempt=0, turns_in_row=0, sessions=counters.sessions)
        return Recheck(due_at, TurnStatus.SUCCEEDED, StopReason.DONE, again, keep_session=False)
    reason = f"{counters.sessions} sessions of {limits.max_turns} turns did not finish it"
    return Parked(HoldKind.DEAD_LETTER, TurnStatus.SUCCEEDED, StopReason.SESSIONS_SPENT, reason)


def _finished(ending: Ending, contract: StateContract) -> Conclusion:
    if contract.handoff is not None:
        return Handoff(ending.stop)
    reason = ending.summary or "the work is done; this board has no review column"
    return Parked(HoldKind.FINISHED, TurnStatus.SUCCEEDED, ending.stop, reason, TaskStatus.SUCCEEDED)


def _status_of(ending: Ending) -> TaskStatus:
    done = ending.outcome in {Outcome.DONE, Outcome.NO_CHANGE}
    return TaskStatus.SUCCEEDED if done else TaskStatus.CANCELLED


def _turn_of(ending: Ending) -> TurnStatus:
    return TurnStatus.FAILED if ending.outcome is Outcome.FAILED else TurnStatus.SUCCEEDED


def _spent(counters: Counters, last: str) -> str:
    return f"{counters.attempt} attempts in a row failed; the last: {last}"
