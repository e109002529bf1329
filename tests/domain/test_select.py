"""Which candidates start: each rule of the ladder by itself, their order, and the order of those that pass them all."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain import select
from orchestrator.domain.item import Blocker
from orchestrator.domain.reconcile import Dispatch
from orchestrator.domain.records import Malformed
from orchestrator.domain.select import Limits, NotDispatched, Wait
from tests.domain.worlds import (
    CONTRACT,
    FUTURE,
    NOW,
    PAST,
    World,
    board,
    held,
    item,
    queued,
    records,
    row,
    running,
    waiting,
)

STRICT = Limits(required_labels=("fleet",), assignee="Robin", trusted_authors=("ann",))
WANTED = {"labels": ("fleet",), "assignee": "robin ", "author": "ann"}


def blocked_by(state):
    """A card with one blocker in that state."""
    return {"blocked_by": (Blocker("B-1", "B-1", state),)}


# One row a rule: what is wrong with the card, what stands in our records, and the reason that a person reads.
CARD_SAYS_NO = [
    pytest.param({"state": "Backlog"}, "not_active", "Backlog", id="not in an active state"),
    pytest.param({"state": "Done"}, "not_active", "Done", id="closed"),
    pytest.param({"dispatchable": False}, "not_dispatchable", "", id="the tracker's own rules say no"),
    pytest.param({"labels": ("other",)}, "label_missing", "fleet", id="a required label is missing"),
    pytest.param({"assignee": "sam"}, "assignee_mismatch", "sam", id="somebody else's"),
    pytest.param({"assignee": None}, "assignee_mismatch", "nobody", id="nobody's"),
    pytest.param({"author": "mallory"}, "author_untrusted", "mallory", id="by an outsider"),
    pytest.param({"author": None}, "author_untrusted", "unknown", id="by nobody known"),
    pytest.param({"blockers_readable": False}, "blockers_unreadable", "", id="its blockers were not read whole"),
    pytest.param(blocked_by("Todo"), "blocked_by", "B-1", id="blocked"),
    pytest.param(blocked_by(None), "blocked_by", "B-1", id="blocked by something unknown"),
]
RECORDS_SAY_NO = [
    pytest.param(queued(), {}, "running", "queued", id="a turn waits for its worker"),
    pytest.param(running(), {}, "running", "running", id="a turn runs"),
    pytest.param(row(unsent_move=True), {}, "unsent_move", "", id="a move of ours is not settled"),
    pytest.param(
        row(moved_at=NOW),
        {},
        "unsent_move",
        "the board is older than our last move",
        id="settled since the reading began",
    ),
    pytest.param(waiting(due=FUTURE), {}, "not_due", FUTURE.isoformat(timespec="seconds"), id="its retry is not due"),
    pytest.param(None, {"held_fleet": "stop"}, "held_fleet", "stop", id="the fleet is held"),
    pytest.param(None, {"held_workflow": "drained"}, "held_workflow", "drained", id="the workflow is held"),
    pytest.param(held(), {}, "held_item", "5 attempts failed", id="the item is held"),
    pytest.param(None, {"contract_broken": True}, "contract_broken", "", id="the board lacks a configured state"),
]


def wait_for(card, *rows, limits=STRICT, **flags):
    """Why one card alone on the board does not start; None when it starts."""
    return World(board(card), records(*rows, **flags), limits=limits).plan().reasons.get("A-1")


def order_of(*cards):
    """The keys in the order in which they start."""
    plan = World(board(*cards), records()).plan()
    return [action.item.id for action in plan.actions if isinstance(action, Dispatch)]


@pytest.mark.parametrize(
    "ours",
    [
        pytest.param([], id="never seen before"),
        pytest.param([row()], id="worked on before"),
        pytest.param([row(moved_at=PAST)], id="moved by us before the reading"),
        pytest.param([waiting(due=PAST)], id="due again"),
        pytest.param([waiting(due=NOW)], id="due this very moment"),
    ],
)
@pytest.mark.parametrize("blockers", [{}, blocked_by("Done"), blocked_by(" CLOSED ")])
def test_a_card_that_passes_every_rule_starts(ours, blockers):
    """Labels, assignee and states are compared trimmed and folded; a terminal blocker does not block."""
    assert wait_for(item(**WANTED, **blockers), *ours) is None


@pytest.mark.proves("CS-02", "CS-03", "CS-04", "CS-09", "CS-15", "FS-59")
@pytest.mark.parametrize("ours", [[], [waiting(due=PAST)]], ids=["first dispatch", "retry"])
@pytest.mark.parametrize(("wrong", "reason", "detail"), CARD_SAYS_NO)
def test_a_card_can_say_no_by_itself(wrong, reason, detail, ours):
    """Each rule keeps the card back with its own reason, and a retry goes through the same gate as a first start."""
    assert wait_for(item(**{**WANTED, **wrong}), *ours) == Wait(NotDispatched(reason), detail)


@pytest.mark.proves("CS-05", "CS-17", "H14")
@pytest.mark.parametrize(("ours", "flags", "reason", "detail"), RECORDS_SAY_NO)
def test_our_records_can_say_no(ours, flags, reason, detail):
    """What is running, unsent, not due or held is left where it is, and the reason says which."""
    rows = [ours] if ours is not None else []
    assert wait_for(item(**WANTED), *rows, **flags) == Wait(NotDispatched(reason), detail)


@pytest.mark.proves("CS-14")
@pytest.mark.parametrize(("wrong", "reason", "detail"), CARD_SAYS_NO)
def test_the_last_look_asks_the_card_alone(wrong, reason, detail):
    """Right before the start the card's rules are asked again; one that left its column has changed on re-read."""
    last = select.wants(item(**{**WANTED, **wrong}), CONTRACT, STRICT)
    assert last == Wait(NotDispatched("changed_on_reread" if reason == "not_active" else reason), detail)
    assert select.wants(item(**WANTED), CONTRACT, STRICT) is None


@pytest.mark.proves("CS-17")
def test_the_strongest_reason_is_the_one_that_is_told():
    """A blocked card that is also held tells of its blocker; a closed one that runs, that it is not active."""
    assert wait_for(item(**WANTED, **blocked_by("Todo")), held()).reason is NotDispatched.BLOCKED_BY
    assert wait_for(item(state="Done"), running(state="Done")).reason is NotDispatched.NOT_ACTIVE
    assert wait_for(item(**WANTED), row(unsent_move=True), held_fleet="stop").reason is NotDispatched.UNSENT_MOVE


@pytest.mark.proves("CS-04")
def test_a_blank_required_label_matches_nothing():
    """A label that is only blanks is a mistake, and a mistake starts nothing."""
    limits = Limits(required_labels=("",))
    assert wait_for(item(labels=("fleet",)), limits=limits).reason is NotDispatched.LABEL_MISSING
    assert wait_for(item(), limits=limits).reason is NotDispatched.LABEL_MISSING


@pytest.mark.proves("CS-01")
def test_a_record_that_cannot_be_read_is_named():
    """A malformed record of the tracker is left out with what is wrong with it."""
    plan = World(board(malformed=(Malformed("task-9.md", "it has no title"),)), records()).plan()
    assert plan.reasons == {"task-9.md": Wait(NotDispatched.MALFORMED, "it has no title")}


@pytest.mark.proves("CS-06", "CS-07", "CS-08")
@pytest.mark.parametrize(
    ("limits", "free_slots", "reason"),
    [
        pytest.param(Limits(max_concurrent=2), 9, "no_slot_total", id="the cap of the workflow"),
        pytest.param(Limits(max_concurrent_by_state={"todo": 2}), 9, "no_slot_state", id="the cap of the state"),
        pytest.param(Limits(), 1, "no_worker_slot", id="the workers"),
        pytest.param(Limits(max_concurrent=0), 9, "no_slot_total", id="a cap below what runs"),
    ],
)
def test_a_full_pool_waits_with_its_reason(limits, free_slots, reason):
    """One card runs, one starts where there is a slot, the next one waits: for whichever pool is full."""
    world = World(
        board(item("A-1"), item("A-2"), item("A-3")), records(running("A-1"), free_slots=free_slots), limits=limits
    )
    assert world.plan().reasons["A-3"].reason is NotDispatched(reason)


@pytest.mark.proves("CS-07")
def test_a_state_cap_counts_items_where_they_stand_now():
    """A turn that was dispatched from Todo and stands In Progress now leaves its Todo slot to the next card."""
    limits = Limits(max_concurrent_by_state={"todo": 1})
    moved = World(board(item("A-1", "In Progress"), item("A-2")), records(running("A-1")), limits=limits).plan()
    assert "A-2" not in moved.reasons
    unread = World(board(item("A-2")), records(running("A-1")), limits=limits).plan()
    assert unread.reasons["A-2"].reason is NotDispatched.NO_SLOT_STATE


@pytest.mark.proves("CS-07")
def test_a_full_state_leaves_the_slots_to_other_states():
    """A card whose state is full is passed over; the next one in order gets the slot."""
    world = World(
        board(item("A-1"), item("A-2"), item("A-3", "Rework")),
        records(),
        limits=Limits(max_concurrent=2, max_concurrent_by_state={"todo": 1}),
    )
    assert {key: wait.reason.value for key, wait in world.plan().reasons.items()} == {"A-2": "no_slot_state"}


@pytest.mark.proves("CS-11")
def test_priorities_one_to_four_come_first_and_the_rest_is_one_bucket():
    """0, negative, 5 and more, and none at all are equal: their age decides."""
    odd = [item(f"A-{place}", priority=rank) for place, rank in enumerate((None, 0, -1, 5, 4, 3, 2, 1), start=1)]
    assert order_of(*odd) == ["A-8", "A-7", "A-6", "A-5", "A-1", "A-2", "A-3", "A-4"]


@pytest.mark.proves("CS-12", "CS-13")
def test_age_then_identifier_decide_between_equals():
    """The oldest first, a card without a date last, and the identifier where that is equal too."""
    cards = [item("A-4"), item("A-3", created_at=NOW), item("A-2", created_at=NOW), item("A-1", created_at=FUTURE)]
    assert order_of(*cards) == ["A-2", "A-3", "A-1", "A-4"]


@given(st.permutations(range(6)))
def test_the_order_is_total(places):
    """Whatever order the tracker lists in, even for cards that differ in nothing but their id."""
    cards = [replace(item(f"A-{place}"), identifier="A") for place in places]
    assert order_of(*cards) == sorted(card.id for card in cards)


LOOKALIKES = [
    "ann[bot]",
    "[bot]",
    "annie",
    "joann",
    "@ann",
    "ann ann",
    "ann@example.org",
    "a.nn",
    "\u0430nn",
    "ann\u200b",
    "*",
    "",
]


@pytest.mark.proves("FS-47")
@pytest.mark.parametrize("author", LOOKALIKES)
def test_trust_goes_by_the_whole_account_and_never_by_a_part_of_its_name(author):
    """Neither a suffix that a platform gives to every bot, nor a name that looks like one on the list."""
    assert wait_for(item(**{**WANTED, "author": author})).reason.value == "author_untrusted"
    assert wait_for(item(**WANTED)) is None
