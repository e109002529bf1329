"""When a turn is tried again. Due times are columns, never timers; this file only does the arithmetic."""

from __future__ import annotations

from datetime import datetime, timedelta

# Both peers wait 10 s, then double (RT-01): long enough for a flaky service to come back, short enough for a person to
# watch.
FIRST_FAILURE_DELAY_MS = 10_000
# A clean turn that wants to go on is asked again after a second (RT-02): the board is re-read in between.
CONTINUATION_DELAY_SECONDS = 1.0
# A step is one request, not an agent's hour: it is tried again sooner.
_FIRST_STEP_DELAY_SECONDS, _LONGEST_STEP_DELAY_SECONDS = 1.0, 300.0
# Beyond this exponent every sane cap has been reached; it keeps a huge attempt from making a huge integer.
_LARGEST_EXPONENT = 32


def failure_delay_seconds(attempt: int, *, max_backoff_ms: int) -> float:
    """The pause after failed attempt number `attempt` (1 is the first): min(10 s x 2^(attempt-1), cap)."""
    exponent = min(max(attempt, 1) - 1, _LARGEST_EXPONENT)
    return min(FIRST_FAILURE_DELAY_MS * (1 << exponent), max_backoff_ms) / 1000


def step_due_at(now: datetime, attempt: int) -> datetime:
    """When a flow's step is tried again: after 1 s, doubled each time, at most 5 minutes."""
    seconds = _FIRST_STEP_DELAY_SECONDS * (1 << min(max(attempt, 1) - 1, _LARGEST_EXPONENT))
    return now + timedelta(seconds=min(seconds, _LONGEST_STEP_DELAY_SECONDS))


def failure_due_at(now: datetime, attempt: int, *, max_backoff_ms: int, retry_after_seconds: float | None) -> datetime:
    """When a failed turn is due again; a provider's own Retry-After wins when it is later (RT-09)."""
    delay = failure_delay_seconds(attempt, max_backoff_ms=max_backoff_ms)
    return now + timedelta(seconds=max(delay, retry_after_seconds or 0.0))


def continuation_due_at(now: datetime) -> datetime:
    """When a turn that ended cleanly and asked to go on is due again."""
    return now + timedelta(seconds=CONTINUATION_DELAY_SECONDS)


def lost_due_at(now: datetime, attempt: int, *, max_backoff_ms: int) -> datetime:
    """When a turn whose worker died is due again: at once the first time, backed off from the second.

    A dead worker is not the agent's failure; but a turn that kills each worker it meets must not take the fleet in a
    loop.
    """
    if attempt <= 1:
        return now
    return failure_due_at(now, attempt - 1, max_backoff_ms=max_backoff_ms, retry_after_seconds=None)
