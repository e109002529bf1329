"""The durable task: its nine statuses as one table.

A lookup miss is a refusal; the picture in the docs is printed from here.
"""

from __future__ import annotations

from enum import Enum


class TaskStatus(Enum):
    """Where the business of one item stands. `running` means open: also in backoff, or waiting for a slot."""

    ACCEPTED = "accepted"  # set when a task is made; its first admission ends it
    RUNNING = "running"  # set by admission; a conclusion, a cancel or a discard ends it
    WAITING_INPUT = "waiting_input"  # set when the agent asks a person; the answer or a cancel ends it
    WAITING_APPROVAL = "waiting_approval"  # set when an approval is asked for; the decision or its expiry ends it
    COMPENSATING = "compensating"  # set when effects must be undone; ends only in failed
    UNKNOWN = "unknown"  # set when an effect's outcome is not known; its look-up ends it
    SUCCEEDED = "succeeded"  # set by a conclusion; final
    FAILED = "failed"  # set by a conclusion, a discard or the end of compensation; final
    CANCELLED = "cancelled"  # set when a person took the item away; final


# Who may go where. `unknown` and the cancel of `waiting_input` are edges that the founding diagram leaves out.
TRANSITIONS: dict[TaskStatus, frozenset[TaskStatus]] = {
    TaskStatus.ACCEPTED: frozenset({TaskStatus.RUNNING, TaskStatus.CANCELLED}),
    TaskStatus.RUNNING: frozenset(
        {
            TaskStatus.WAITING_INPUT,
            TaskStatus.WAITING_APPROVAL,
            TaskStatus.COMPENSATING,
            TaskStatus.UNKNOWN,
            TaskStatus.SUCCEEDED,
            TaskStatus.FAILED,
            TaskStatus.CANCELLED,
        }
    ),
    TaskStatus.WAITING_INPUT: frozenset({TaskStatus.RUNNING, TaskStatus.CANCELLED}),
    TaskStatus.WAITING_APPROVAL: frozenset({TaskStatus.RUNNING, TaskStatus.CANCELLED}),
    TaskStatus.COMPENSATING: frozenset({TaskStatus.FAILED}),
    TaskStatus.UNKNOWN: frozenset({TaskStatus.RUNNING, TaskStatus.SUCCEEDED, TaskStatus.FAILED}),
    TaskStatus.SUCCEEDED: frozenset(),
    TaskStatus.FAILED: frozenset(),
    TaskStatus.CANCELLED: frozenset(),
}

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
