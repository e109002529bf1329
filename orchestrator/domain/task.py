"""The durable task: its nine statuses, and every move between them as one row of one table.

The pictures in the docs, the `where` of each statement and the trigger in the database are printed from that table. A
look-up miss is a refusal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class TaskStatus(Enum):
    """Where the business of one item stands. `running` means open: also in backoff, or waiting for a slot."""

    ACCEPTED = "accepted"  # set when a task is made; its first admission ends it
    RUNNING = "running"  # set by admission; a conclusion, a cancel or a discard ends it
    WAITING_INPUT = "waiting_input"  # set when a flow asks a person; the answer, its expiry or a cancel ends it
    WAITING_APPROVAL = "waiting_approval"  # set when an approval is asked for; the decision or its expiry ends it
    COMPENSATING = "compensating"  # set when effects must be undone; ends only in failed
    UNKNOWN = "unknown"  # set when an effect's outcome is not known; its look-up ends it
    SUCCEEDED = "succeeded"  # set by a conclusion; final
    FAILED = "failed"  # set by a conclusion, a discard or the end of compensation; final
    CANCELLED = "cancelled"  # set when a person took the item away; final


@dataclass(frozen=True, slots=True)
class Edge:
    """One permitted move: who makes it, when, what is written with it, and what becomes of it if nobody comes.

    `event` is the history row's kind. `timeout` says what ends a wait for the move, `recovery` who makes it after a
    crash. Every move is one conditional commit on the task's row, under the lock of its item's.
    """

    source: TaskStatus
    target: TaskStatus
    actor: str
    precondition: str
    writes: str
    event: str
    timeout: str
    recovery: str


_S = TaskStatus
_NEXT_TICK = "the next tick"
_TURN_ENDS = "task, turn, item version, cap slot, history"
_CONCLUDED = "the turn is ours by id, fence and token, and runs"

# Edges that the founding diagram leaves out: all of `unknown`, the cancel of `waiting_input`, and every expiry.
EDGES: tuple[Edge, ...] = (
    Edge(
        _S.ACCEPTED, _S.RUNNING, "a worker", "its turn is queued with this fence, not cancelled, not held, not late",
        "turn with lease, item's attempt, task", "turn_opened", "none: it waits for a slot", _NEXT_TICK,
    ),
    Edge(
        _S.ACCEPTED, _S.CANCELLED, "a person, or the tick for the board", "no turn of it runs",
        _TURN_ENDS, "task_ended", "none", "asked for again",
    ),
    Edge(
        _S.ACCEPTED, _S.FAILED, "the tick", "its deadline passed before it began",
        "task, history", "task_ended", "the deadline", _NEXT_TICK,
    ),
    Edge(
        _S.RUNNING, _S.WAITING_INPUT, "the worker", f"{_CONCLUDED}; a question stands that nobody has answered",
        f"question, then {_TURN_ENDS}", "turn_ended", "its expiry, or the deadline",
        "the turn is lost and finds the question",
    ),
    Edge(
        _S.RUNNING, _S.WAITING_APPROVAL, "the worker", f"{_CONCLUDED}; an approval is asked for",
        _TURN_ENDS, "turn_ended", "the approval's expiry", "the turn is lost and runs again",
    ),
    Edge(
        _S.RUNNING, _S.COMPENSATING, "the worker, or the tick for a lost turn",
        "it would end as failed, or a person takes it back, and a committed effect has a compensation",
        _TURN_ENDS, "turn_ended", "the deadline never refuses it", "the turn is lost and runs again",
    ),
    Edge(
        _S.RUNNING, _S.UNKNOWN, "the worker, or the tick for a lost turn", "an effect is intended and not settled",
        f"{_TURN_ENDS}, ledger", "turn_ended", "the act's deadline and a margin", "the look-up is due by its time",
    ),
    Edge(
        _S.RUNNING, _S.SUCCEEDED, "the worker", f"{_CONCLUDED}; every step is recorded, or one ended the flow",
        _TURN_ENDS, "turn_ended", "none", "the turn is lost and finds its steps recorded",
    ),
    Edge(
        _S.RUNNING, _S.FAILED, "the worker, a discard, or the tick", "a step failed for good, or the deadline passed",
        _TURN_ENDS, "turn_ended", "the deadline", "the turn is lost and runs again",
    ),
    Edge(
        _S.RUNNING, _S.CANCELLED, "the worker that saw the flag, or the tick", "flagged, and no effect is open",
        _TURN_ENDS, "turn_ended", "the lease", _NEXT_TICK,
    ),
    Edge(
        _S.WAITING_INPUT, _S.RUNNING, "a worker", "answered or expired, and its turn was opened",
        "question and step with the answer, then task", "turn_opened", "its expiry, or the deadline", _NEXT_TICK,
    ),
    Edge(
        _S.WAITING_INPUT, _S.CANCELLED, "a person", "no effect is open",
        "task, history", "task_ended", "none", "asked for again",
    ),
    Edge(
        _S.WAITING_INPUT, _S.FAILED, "the tick, or a discard", "the deadline passed, and no effect is open",
        "task, history", "task_ended", "the deadline", _NEXT_TICK,
    ),
    Edge(
        _S.WAITING_APPROVAL, _S.RUNNING, "a worker", "decided or expired, and its turn was opened",
        "task", "turn_opened", "the approval's expiry", _NEXT_TICK,
    ),
    Edge(
        _S.WAITING_APPROVAL, _S.CANCELLED, "a person", "no effect is open",
        "task, history", "task_ended", "none", "asked for again",
    ),
    Edge(
        _S.WAITING_APPROVAL, _S.FAILED, "the tick, or a discard", "the deadline passed, and no effect is open",
        "task, history", "task_ended", "the deadline", _NEXT_TICK,
    ),
    Edge(
        _S.COMPENSATING, _S.FAILED, "the worker, or a discard", f"{_CONCLUDED}; each compensation is settled",
        _TURN_ENDS, "turn_ended", "none", "the turn is lost and goes on undoing",
    ),
    Edge(
        _S.UNKNOWN, _S.RUNNING, "a worker", "its turn was opened to look the effect up, or a person said what it found",
        "task", "turn_opened", "none: nothing is sent blindly", _NEXT_TICK,
    ),
    Edge(
        _S.UNKNOWN, _S.SUCCEEDED, "a person", "said that the last effect is committed",
        "task, ledger, history", "task_ended", "none", "asked for again",
    ),
    Edge(
        _S.UNKNOWN, _S.FAILED, "a person", "said that the effect is given up",
        "task, ledger, history", "task_ended", "none", "asked for again",
    ),
)  # fmt: skip


def table(edges: Iterable[Edge]) -> dict[TaskStatus, frozenset[TaskStatus]]:
    """Who may go where, by these edges."""
    found = tuple(edges)
    return {status: frozenset(edge.target for edge in found if edge.source is status) for status in TaskStatus}


TRANSITIONS: dict[TaskStatus, frozenset[TaskStatus]] = table(EDGES)

FINAL = frozenset(status for status, following in TRANSITIONS.items() if not following)


class IllegalTransition(ValueError):
    """That change of a task's status is not in the table."""


def transition(current: TaskStatus, following: TaskStatus) -> TaskStatus:
    """Return `following` when the table allows it; raises IllegalTransition otherwise."""
    if following not in TRANSITIONS[current]:
        raise IllegalTransition(f"{current.value} -> {following.value}")
    return following


def sources(following: TaskStatus) -> frozenset[TaskStatus]:
    """The statuses from which `following` can be reached: what an update's `where` may name."""
    return frozenset(current for current, reachable in TRANSITIONS.items() if following in reachable)
