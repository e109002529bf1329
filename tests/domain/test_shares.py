"""Free slots are dealt to those who have least, whoever deals."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain import reconcile
from orchestrator.domain.records import Board, Records
from orchestrator.domain.select import Limits, NotDispatched
from orchestrator.domain.shares import Claim, deal
from tests.domain.worlds import CONTRACT, NOW, item, queued

THEN = datetime(2026, 3, 1, tzinfo=UTC)
CLAIMS = st.lists(
    st.builds(
        Claim,
        st.sampled_from("abcdef"),
        st.integers(0, 9),
        st.integers(0, 9),
        st.one_of(st.none(), st.integers(0, 5).map(lambda minutes: THEN + timedelta(minutes=minutes))),
    ),
    unique_by=lambda claim: claim.workflow,
    max_size=5,
)


@given(free=st.integers(0, 12), claims=CLAIMS)
def test_no_slot_is_left_over_while_somebody_wants_it_and_none_is_dealt_twice(free, claims):
    """As many as there are and are wanted; nobody gets more than they want; the order of asking does not matter."""
    dealt = deal(free, claims)
    assert sum(dealt.values()) == min(free, sum(claim.waiting for claim in claims))
    assert all(dealt[claim.workflow] <= claim.waiting for claim in claims)
    assert deal(free, reversed(claims)) == dealt


@given(free=st.integers(0, 12), claims=CLAIMS)
def test_who_gets_a_slot_has_no_more_than_one_who_goes_without(free, claims):
    """Among those that still want one: max-min fairness, with equal weights."""
    dealt = deal(free, claims)
    having = {claim: claim.open_turns + dealt[claim.workflow] for claim in claims}
    short = [having[claim] for claim in claims if dealt[claim.workflow] < claim.waiting]
    served = [having[claim] for claim in claims if dealt[claim.workflow]]
    assert not short or all(many <= min(short) + 1 for many in served)


def test_a_single_slot_goes_round():
    """Who was served longest ago is next, and who never was comes first."""
    early, late, never = (Claim(name, 0, 5, at) for name, at in (("a", THEN), ("b", NOW), ("c", None)))
    assert deal(1, (early, late)) == {"a": 1}
    assert deal(1, (early, late, never)) == {"c": 1}


def test_a_card_that_leaves_its_slot_to_another_workflow_says_so():
    """The reason is stored like any other, and the plan names whom to wake."""
    board = Board({f"A-{number}": item(f"A-{number}") for number in (1, 2)}, NOW)
    records = Records({"A-1": queued("A-1")}, free_slots=2, rivals=(Claim("other", 0, 3),))
    plan = reconcile.plan(board, records, CONTRACT, limits=Limits(), now=NOW)
    assert plan.yields_to == ("other",)
    assert plan.reasons["A-2"].reason is NotDispatched.NO_WORKER_SLOT
    assert plan.reasons["A-2"].detail == "the free ones are the share of other"
