"""When a turn is tried again: the peers' sequence, its cap, and whose word counts more."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain import retry

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ATTEMPTS = st.integers(min_value=1, max_value=10**9)
CAPS = st.integers(min_value=1, max_value=10**8)


@pytest.mark.proves("RT-01")
def test_failures_wait_for_the_sequence_of_both_peers():
    """10 s, doubled each time, and never above five minutes."""
    waits = [retry.failure_delay_seconds(attempt, max_backoff_ms=300_000) for attempt in range(1, 8)]
    assert waits == [10, 20, 40, 80, 160, 300, 300]


@pytest.mark.proves("RT-01")
@given(ATTEMPTS, CAPS)
def test_a_failure_never_waits_longer_than_the_cap(attempt, cap):
    """However often it failed, and never less than the attempt before."""
    wait = retry.failure_delay_seconds(attempt, max_backoff_ms=cap)
    assert 0 < wait <= cap / 1000
    assert wait <= retry.failure_delay_seconds(attempt + 1, max_backoff_ms=cap)


@pytest.mark.proves("RT-09")
@given(ATTEMPTS, CAPS, st.none() | st.floats(min_value=0, max_value=10**6))
def test_a_provider_that_asks_for_longer_is_obeyed(attempt, cap, retry_after):
    """Retry-After wins when it is later, and never shortens the wait."""
    due = retry.failure_due_at(NOW, attempt, max_backoff_ms=cap, retry_after_seconds=retry_after)
    ours = timedelta(seconds=retry.failure_delay_seconds(attempt, max_backoff_ms=cap))
    assert due - NOW == max(ours, timedelta(seconds=retry_after or 0))


@pytest.mark.proves("RT-02")
def test_a_continuation_waits_for_one_second():
    """An agent that wants to go on is asked again after the board was read."""
    assert retry.continuation_due_at(NOW) == NOW + timedelta(seconds=1)


@given(st.integers(min_value=2, max_value=100))
def test_a_lost_worker_costs_no_wait_the_first_time_only(attempt):
    """A dead worker is not the agent's failure; a turn that kills every worker it meets is slowed down."""
    assert retry.lost_due_at(NOW, 1, max_backoff_ms=300_000) == NOW
    waited = retry.lost_due_at(NOW, attempt, max_backoff_ms=300_000) - NOW
    assert waited.total_seconds() == retry.failure_delay_seconds(attempt - 1, max_backoff_ms=300_000)


@pytest.mark.proves("RT-03")
@given(st.integers(min_value=-5, max_value=10_000), st.integers(min_value=1, max_value=10**9))
def test_a_pause_is_never_below_half_of_the_formula_nor_above_the_cap(attempt, cap):
    """There is no jitter: a herd of due cards meets the free slots first, and its provider a few at a time."""
    formula = min(10_000 * 2 ** (max(attempt, 1) - 1 if attempt < 60 else 60), cap) / 1000
    pause = retry.failure_delay_seconds(attempt, max_backoff_ms=cap)
    assert formula / 2 <= pause <= cap / 1000
