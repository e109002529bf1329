"""What may be done about an effect whose outcome is not known: every case, against the law in words."""

from datetime import UTC, datetime, timedelta
from itertools import product
from uuid import UUID

import pytest

from orchestrator.domain import effect, flow
from orchestrator.domain.effect import MARGIN_SECONDS, EffectRecord, EffectStatus, Move
from orchestrator.domain.step import NodeKind, SideEffect, StepContract
from orchestrator.domain.task import TaskStatus

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
LONG_AGO, JUST_NOW, SOON = NOW - timedelta(hours=1), NOW - timedelta(seconds=1), NOW + timedelta(hours=1)


def step(*, looks_up, deduplicates):
    """An effect's contract."""
    return StepContract(
        ordinal=1,
        name="pay",
        kind=NodeKind.EFFECT,
        side_effect=SideEffect.WRITE,
        owner="payments",
        takes={},
        gives="Receipt",
        authority=None,
        timeout_seconds=5,
        max_attempts=3,
        retryable=(),
        looks_up=looks_up,
        deduplicates=deduplicates,
    )


def record(status, *, act_until=LONG_AGO, safe_until=SOON, dead=True, looks=0):
    """A row of the ledger."""
    return EffectRecord("k", "pay", status, {}, 1, looks, act_until, safe_until, UUID(int=0), dead)


CASES = list(
    product(EffectStatus, (True, False), (True, False), (LONG_AGO, JUST_NOW, SOON), (LONG_AGO, SOON), (True, False))
)


@pytest.mark.proves("DE-08", "H10")
def test_something_is_sent_again_only_when_that_cannot_do_it_twice():
    """All 240 cases: absent and nobody left to send it late, or a target that takes a key once."""
    for status, looks_up, deduplicates, act_until, safe_until, dead in CASES:
        found = effect.after(
            record(status, act_until=act_until, safe_until=safe_until, dead=dead),
            step(looks_up=looks_up, deduplicates=deduplicates),
            NOW,
        )
        over = act_until + timedelta(seconds=MARGIN_SECONDS) <= NOW
        absent = status is EffectStatus.ABSENT and (deduplicates or dead)
        blind = status in {EffectStatus.INTENDED, EffectStatus.UNKNOWN} and deduplicates and not looks_up and over
        may = safe_until > NOW and (absent or blind)
        assert (found.move is Move.INTEND) == may, (status, looks_up, deduplicates, act_until, safe_until, dead)


@pytest.mark.proves("DE-08", "H10")
@pytest.mark.parametrize("status", [EffectStatus.INTENDED, EffectStatus.UNKNOWN])
def test_absent_is_not_asked_for_before_the_acts_deadline_and_a_margin(status):
    """A look-up that is made too early could say absent of what is on its way."""
    early = effect.after(record(status, act_until=JUST_NOW), step(looks_up=True, deduplicates=False), NOW)
    assert (early.move, early.at) == (Move.WAIT, JUST_NOW + timedelta(seconds=MARGIN_SECONDS))
    later = NOW + timedelta(seconds=MARGIN_SECONDS)
    found = effect.after(record(status, act_until=JUST_NOW), step(looks_up=True, deduplicates=False), later)
    assert found.move is Move.LOOK_UP


@pytest.mark.proves("DE-08", "DE-11")
def test_who_cannot_be_asked_is_left_to_a_person():
    """No look-up and no de-duplication; or a target that stays unreadable."""
    assert effect.after(record(EffectStatus.UNKNOWN), step(looks_up=False, deduplicates=False), NOW).move is Move.ASK
    tired = record(EffectStatus.UNKNOWN, looks=effect.MOST_LOOKS)
    assert effect.after(tired, step(looks_up=True, deduplicates=True), NOW).move is Move.ASK
    asks = flow.asks(step(looks_up=False, deduplicates=False), "nobody knows")
    assert (asks.task, asks.hold.owner, asks.due_at) == (TaskStatus.UNKNOWN, "payments", None)


def test_what_is_settled_stays_so():
    """Committed is done, refused is given up, with its reason."""
    assert effect.after(record(EffectStatus.COMMITTED), step(looks_up=True, deduplicates=True), NOW).move is Move.DONE
    assert effect.after(record(EffectStatus.REFUSED), step(looks_up=True, deduplicates=True), NOW).move is Move.GIVE_UP


def test_a_target_that_cannot_be_read_is_asked_with_growing_pauses():
    """Five seconds, doubled, five minutes at most."""
    pauses = [(effect.look_again_at(NOW, looks) - NOW).total_seconds() for looks in range(9)]
    assert pauses == [5, 10, 20, 40, 80, 160, 300, 300, 300]


@pytest.mark.proves("DE-05", "DE-11")
def test_attempts_end_in_a_dead_letter_with_an_owner():
    """One attempt less than all is tried again after a pause."""
    contract = step(looks_up=True, deduplicates=False)
    again = flow.attempted(contract, 2, NOW, reason="reset")
    assert (again.due_at, again.hold) == (NOW + timedelta(seconds=2), None)
    spent = flow.attempted(contract, 3, NOW, reason="reset")
    assert (spent.due_at, spent.hold.owner, spent.task) == (None, "payments", TaskStatus.RUNNING)
    assert "3 attempts failed; the last: reset" in spent.hold.reason
