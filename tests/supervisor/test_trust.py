"""The arithmetic of trust: laws over all clocks, no process and no waiting."""

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import Renewal, TurnRef
from orchestrator.ports.supervisor import Duty, EndedBy, ProcessOrder
from orchestrator.supervisor import trust
from orchestrator.supervisor.trust import Config, Hold, Span, Term

CONFIG = Config(installation="i", host="h", lease_seconds=30, grace_seconds=5, freeze_limit_seconds=300)
REF = TurnRef(uuid4(), 1, uuid4())
OURS = Renewal(ours=True)

moments = st.floats(min_value=0, max_value=10_000)
seconds = st.floats(min_value=0, max_value=5_000)
spans = st.builds(
    Span,
    moments,
    moments,
    timeout_seconds=seconds,
    stall_seconds=st.none() | seconds,
    frozen_at=st.none() | moments,
    asked=st.none() | st.sampled_from([EndedBy.CANCELLED, EndedBy.SHUTDOWN]),
)
terms = st.builds(
    Term,
    st.just(REF),
    st.just("key"),
    confirmed_at=moments,
    step_until=moments,
    distrusted_at=moments,
    stop=st.none() | st.sampled_from([StopReason.MOVED_AWAY, StopReason.CANCELLED]),
    lost=st.booleans(),
)


def term(**changes):
    """A turn that was confirmed at 100 and whose step has all the time."""
    return replace(Term(REF, "key", confirmed_at=100, step_until=10_000), **changes)


def span(**changes):
    """A program that began and spoke at 100."""
    return replace(Span(100, 100, timeout_seconds=3_600, stall_seconds=300), **changes)


@pytest.mark.proves("H5")
def test_trust_ends_a_grace_before_the_lease():
    """The local deadline is lease minus grace after the last renewal that succeeded was sent."""
    assert term().trusted_until(CONFIG) == 125


@pytest.mark.proves("H26")
def test_trust_ends_with_the_step():
    """A renewal never reaches beyond the running step's own deadline."""
    assert term(step_until=110).trusted_until(CONFIG) == 110


@given(terms, moments)
def test_only_a_renewal_that_was_sent_later_extends(before, sent_at):
    """An answer extends the trust by nothing but the moment its question was sent, and never shortens it."""
    after = before.learn(OURS, sent_at)
    assert after.confirmed_at == max(before.confirmed_at, sent_at)
    assert after.trusted_until(CONFIG) >= before.trusted_until(CONFIG)


@given(terms, moments, moments)
def test_silence_voids_what_was_sent_before_it(before, silent_at, sent_at):
    """After the worker fell silent, a turn is trusted again only by a renewal that was sent since."""
    after = before.distrust(silent_at).learn(OURS, sent_at)
    assert (after.trusted_until(CONFIG) > float("-inf")) == (max(before.confirmed_at, sent_at) >= silent_at)


@given(terms, moments)
def test_a_lost_fence_stays_lost(before, sent_at):
    """No later answer gives a lost turn back, and its worker learns that it is lost."""
    after = before.learn(Renewal(ours=False), sent_at).learn(OURS, sent_at + 1)
    assert after.lost
    assert after.stop is not None


@given(terms, spans, moments)
def test_a_program_runs_only_on_a_trusted_turn(found, clocks, now):
    """Whatever the clocks say: what may run is ours, wanted, in time and not silent."""
    if trust.judge(found, clocks, now=now, config=CONFIG) is Hold.RUN:
        assert not found.lost
        assert found.stop is None
        assert now < found.trusted_until(CONFIG)
        assert now <= clocks.began_at + clocks.timeout_seconds


@given(terms, spans, moments)
def test_doubt_alone_ends_nothing(found, clocks, now):
    """A turn whose trust ran out, and that nobody cancelled, is frozen: no time-out and no stall ends it."""
    calm = replace(clocks, asked=None, frozen_at=None)
    if not found.lost and found.stop is None and now >= found.trusted_until(CONFIG):
        assert trust.judge(found, calm, now=now, config=CONFIG) is Hold.FREEZE


@given(terms, spans, st.floats(min_value=0, max_value=0.99))
def test_nothing_changes_before_it_was_foretold(found, clocks, part):
    """Until `wakes_at` no verdict changes by the clock alone, so the loop may sleep; what is frozen is so for doubt."""
    found = replace(found, distrusted_at=float("-inf"), lost=False, stop=None)
    clocks = replace(clocks, asked=None)
    wakes_at = trust.wakes_at(found, clocks, CONFIG)
    begins = found.trusted_until(CONFIG) if clocks.frozen_at is not None else -1
    if begins < wakes_at:
        looks = [begins + share * (wakes_at - begins) for share in (part, 0.999)]
        verdicts = [trust.judge(found, clocks, now=now, config=CONFIG) for now in looks]
        assert verdicts[0] is verdicts[1]


CANCELLED = {"stop": StopReason.CANCELLED}

LADDER = {
    "a lost fence is stronger than a cancel": (CANCELLED | {"lost": True}, {}, 101, EndedBy.FENCE_LOST),
    "the freeze limit is stronger than a cancel": (CANCELLED, {"frozen_at": 100}, 401, EndedBy.FREEZE_LIMIT),
    "a cancel is stronger than doubt": (CANCELLED, {}, 130, EndedBy.CANCELLED),
    "a stop is stronger than doubt": ({}, {"asked": EndedBy.SHUTDOWN}, 130, EndedBy.SHUTDOWN),
    "doubt is stronger than a stall": ({}, {"stall_seconds": 1}, 130, Hold.FREEZE),
    "a time-out comes before a stall": ({}, {"timeout_seconds": 5, "stall_seconds": 1}, 110, EndedBy.TIMED_OUT),
    "silence is a stall": ({}, {"stall_seconds": 1}, 110, EndedBy.STALLED),
    "without a stall clock silence is fine": ({}, {"stall_seconds": None}, 110, Hold.RUN),
}


@pytest.mark.parametrize(("terms", "spans", "now", "verdict"), LADDER.values(), ids=LADDER.keys())
def test_the_strongest_reason_wins(terms, spans, now, verdict):
    """Each rung of the ladder stands above the next."""
    assert trust.judge(term(**terms), span(**spans), now=now, config=CONFIG) is verdict


@pytest.mark.proves("HK-09")
def test_a_farewell_outlives_a_cancel_and_not_the_fence():
    """What tidies up behind a turn may begin when it is cancelled; once the turn is somebody else's it dies too."""
    farewell = span(duty=Duty.FAREWELL)
    cancelled = term(stop=StopReason.CANCELLED)
    assert trust.judge(cancelled, farewell, now=110, config=CONFIG) is Hold.RUN
    assert trust.judge(cancelled, span(), now=110, config=CONFIG) is EndedBy.CANCELLED
    assert trust.judge(term(lost=True), farewell, now=110, config=CONFIG) is EndedBy.FENCE_LOST
    assert trust.judge(term(), farewell, now=130, config=CONFIG) is Hold.FREEZE
    assert trust.judge(term(confirmed_at=5_000), farewell, now=4_000, config=CONFIG) is EndedBy.TIMED_OUT


@given(moments, spans)
def test_an_errand_is_never_frozen(now, given_span):
    """Nobody can take over what belongs to no turn; only its own clocks and whoever asks end it."""
    order = ProcessOrder(
        REF.turn_id, 1, ("true",), Path("/"), {}, b"", Path("/x"), timeout_seconds=60, stall_seconds=None
    )
    verdict = trust.judge(trust.errand(order), replace(given_span, frozen_at=None), now=now, config=CONFIG)
    assert verdict not in {Hold.FREEZE, EndedBy.FENCE_LOST}
