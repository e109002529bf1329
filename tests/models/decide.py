"""The small fleet's rows and cards as the real domain is given them, and its answers in the words of the model."""

from datetime import UTC, datetime, timedelta
from functools import cache
from uuid import UUID

from orchestrator.domain import reconcile, select, turn, writeback
from orchestrator.domain.item import Item
from orchestrator.domain.reconcile import Action, Dispatch, NoteAbsence, Refresh
from orchestrator.domain.records import Board, ItemRecord, Records, TaskRecord, TurnRecord
from orchestrator.domain.select import Limits
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import Conclusion, Counters, End, Ending, Outcome, StopReason, TurnLimits, TurnStatus
from orchestrator.domain.writeback import Move, Post, Role, Write, WriteKind
from tests.models.world import Row, Rules

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAST, FUTURE = NOW - timedelta(minutes=1), NOW + timedelta(minutes=1)
MISSING, UNREAD = "(missing)", "(unread)"

ENDINGS = {
    "done": Ending(Outcome.DONE, StopReason.DONE),
    "failed": Ending(Outcome.FAILED, StopReason.AGENT_FAILED),
    "stopped": Ending(Outcome.FAILED, StopReason.MOVED_AWAY),
}
ROLES = {"start": Role.IN_PROGRESS, "hand": Role.HANDOFF}
# Both active states: every turn is dispatched from one of them, and the other is in progress.
ONLY_FROM = ("Todo", "In Progress")
_ID = UUID(int=0)


@cache
def planned(rules: Rules, rows: tuple[Row, ...], cards: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """What `reconcile.plan` does with these rows and cards: each deed with the number of its item."""
    shown = {str(number): _item(number, card) for number, card in enumerate(cards) if card not in {MISSING, UNREAD}}
    gone = frozenset(str(number) for number, card in enumerate(cards) if card == MISSING)
    running = sum(row.turn in {"running", "flagged"} for row in rows)
    records = Records({str(number): _record(number, row) for number, row in enumerate(rows)}, free_slots=2 - running)
    limits = Limits(max_concurrent=rules.cap)
    plan = reconcile.plan(Board(shown, NOW, gone), records, rules.contract, limits=limits, now=NOW)
    named = ((_name_of(action), _number_of(action)) for action in plan.actions)
    return tuple((deed, number) for deed, number in named if deed not in rules.forgets)


@cache
def is_wanted(rules: Rules, card: str) -> bool:
    """What the re-read right before a deed says of the card."""
    return select.wants(_item(0, card), rules.contract, Limits()) is None


@cache
def concluded(rules: Rules, row: Row, said: str, card: str) -> Conclusion:
    """What the end of the row's turn means, with the card read as `card`."""
    ending = ENDINGS["stopped" if row.turn == "flagged" else said]
    counters, limits = Counters(attempt=row.attempts), TurnLimits(rules.attempts)
    return turn.conclude(ending, _item(0, card), rules.contract, counters=counters, limits=limits, now=NOW)


@cache
def lost(rules: Rules, row: Row) -> Conclusion:
    """What the death of the row's worker means."""
    if row.turn == "flagged":
        return End(TaskStatus.CANCELLED, TurnStatus.LOST, StopReason.MOVED_AWAY)
    return turn.lost(Counters(attempt=row.attempts), limits=TurnLimits(rules.attempts), now=NOW)


@cache
def permitted(rules: Rules, move: str, card: str) -> str:
    """Where a claimed move goes ("to" a state); else that an earlier claim made it ("is" there), or "not sent"."""
    write = Write(WriteKind.TURN_ENDED, Move(ROLES[move], ONLY_FROM))
    verdict = writeback.permit(write, _item(0, card), rules.contract)
    if isinstance(verdict, Post):
        return f"to {verdict.state}"
    return f"is {card}" if card == writeback.target(ROLES[move], rules.contract) else "not sent"


def _name_of(action: Action) -> str:
    match action:
        case NoteAbsence(times=times):
            return "missing" if times else "back"
        case Refresh(state=state):
            return f"refresh to {state}"
        case _:
            return type(action).__name__.lower()


def _number_of(action: Action) -> int:
    return int(action.item.id if isinstance(action, Dispatch) else action.record.id)


@cache
def _record(number: int, row: Row) -> ItemRecord:
    status = TurnStatus.QUEUED if row.turn == "queued" else TurnStatus.RUNNING
    lease = None if row.turn == "queued" else FUTURE if row.lease else PAST
    sent = NOW if row.message or row.turn != "queued" else None
    opened = TurnRecord(_ID, 1, status, row.stood, sent, lease, cancelled=row.turn == "flagged")
    return ItemRecord(
        key=number,
        id=str(number),
        identifier=str(number),
        version=1,
        fence=1,
        task=TaskRecord(_ID, {"due": PAST, "later": FUTURE}.get(row.task)) if row.task else None,
        turn=opened if row.turn else None,
        held="attempts spent" if row.held else None,
        held_state=row.stood if row.held else None,
        unsent_move=bool(row.moves),
        absences=row.missing,
    )


@cache
def _item(number: int, card: str) -> Item:
    return Item(str(number), str(number), "Mend it", card)
