"""A database clock that was set back: what was to be due, to end or to be looked at by it is set back as far.

Without this nothing would be listed, retried or posted until the clock has made up for the step. A clock that was set
forward needs no such thing: what is early is looked at, and leases are not judged for the length of one.
"""

from __future__ import annotations

from datetime import timedelta

from orchestrator import telemetry
from orchestrator.store.database import Session

# Columns that something waits for, or that are compared with the clock; in the order of locks. What only tells of the
# past stays as it was written.
_WAITED_FOR = {
    "workflow": ("rest_until", "served_at", "failing_at"),
    "item": ("moved_at",),
    "task": ("due_at",),
    "turn": ("lease_until", "enqueued_at", "opened_at", "deadline_at", "step_deadline_at"),
    "outbox": ("due_at", "claim_until"),
    "hold": ("until",),
    "mark_elsewhere": ("first_seen_at",),
    "workspace": ("asked_at",),
    "effect": ("act_until", "safe_until"),
    "worker": ("seen_at",),
    "reconciler": ("list_requested_at", "due_requested_at", "list_began_at", "due_began_at", "running_until"),
}
# Only rows that something may still wait for.
_OPEN = {
    "item": "moved_at > clock_timestamp()",
    "task": "status not in ('succeeded', 'failed', 'cancelled')",
    "turn": "status in ('queued', 'running')",
    "outbox": "status in ('pending', 'claimed', 'unknown')",
    "hold": "lifted_at is null and until is not null",
    "workspace": "removed_at is null and asked_at > clock_timestamp() and asked_at < 'infinity'",
    "effect": "status in ('intended', 'unknown', 'absent')",
}


def follow(session: Session, *, by: timedelta) -> None:
    """Set every moment back that something waits for, in the transaction of the ring that noticed it."""
    for table, columns in _WAITED_FOR.items():
        moved = ", ".join(f"{column} = {column} - :by" for column in columns)
        session.change(f"update {table} set {moved} where {_OPEN.get(table, 'true')}", by=by)
    telemetry.clock_set_back(seconds=by.total_seconds())
