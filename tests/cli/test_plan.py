"""What the next tick would do, told to a person and to a program in the same words."""

from orchestrator.cli import plan
from orchestrator.domain.item import Item
from orchestrator.domain.reconcile import Cancel, Dispatch, LiftHold, Plan
from orchestrator.domain.records import Board, ItemRecord
from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.domain.turn import StopReason
from tests.cli import views

ITEM = Item("1", "BACK-1", "Light the lamp", "To Do")
WAITING = Item("2", "BACK-2", "Trim the wick", "To Do")
RECORD = ItemRecord(key=3, id="3", identifier="BACK-3", version=1, fence=1)
BOARD = Board({"1": ITEM, "2": WAITING}, views.NOW)
PLAN = Plan(
    actions=(
        Dispatch(ITEM, None),
        Cancel(RECORD, StopReason.TERMINAL_SEEN),
        LiftHold(RECORD, "Todo", "a person moved it"),
    ),
    reasons={"2": Wait(NotDispatched.BLOCKED_BY, "BACK-1"), "9": Wait(NotDispatched.MALFORMED, "no title")},
)


def test_each_action_names_its_item_and_why():
    """The kind of action, the card, the reason."""
    assert plan.document(PLAN, BOARD)["actions"] == [
        {"action": "dispatch", "item": "BACK-1", "why": "To Do: Light the lamp"},
        {"action": "cancel", "item": "BACK-3", "why": "terminal_seen"},
        {"action": "lifthold", "item": "BACK-3", "why": "a person moved it"},
    ]


def test_each_item_left_out_has_its_reason():
    """Also the one that could not be read, by the id that it has."""
    waiting = plan.document(PLAN, BOARD)["waiting"]
    assert [(each["item"], each["title"], each["reason"].value, each["detail"]) for each in waiting] == [
        ("BACK-2", "Trim the wick", "blocked_by", "BACK-1"),
        ("9", None, "malformed", "no title"),
    ]
