"""Two ticks that overlap, one worker, one relay and one person, around one card: a model of what a dispatch rests on.

Everything that decides is the real thing: `reconcile.plan`, `select.wants`, `turn.conclude`, `writeback.permit`. The
model only keeps what they are given, in as many steps as there are moments at which somebody else can act. `Rules`
names the ways in which the real system could have been built wrongly.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple
from uuid import UUID

from orchestrator.domain import reconcile, select, turn, writeback
from orchestrator.domain.contract import StateContract
from orchestrator.domain.item import Item
from orchestrator.domain.reconcile import Cancel, Dispatch
from orchestrator.domain.records import Board, ItemRecord, Records, TaskRecord, TurnRecord
from orchestrator.domain.select import Limits
from orchestrator.domain.turn import Counters, Ending, Handoff, Outcome, StopReason, TurnLimits, TurnStatus
from orchestrator.domain.writeback import Move, Post, Role, Write, WriteKind

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CONTRACT = StateContract(active=("Todo",), terminal=("Done",), handoff="In Review")
HAND_OFF = Write(WriteKind.TURN_ENDED, Move(Role.HANDOFF, ("Todo",)))
_ID = UUID(int=0)


@dataclass(frozen=True)
class Rules:
    """How the system is built. `order` is that of a tick's looks; "facts" and "version": the records in two reads."""

    order: tuple[str, ...] = ("records", "board", "reread")
    opens_by_version: bool = True
    cancels_by_version: bool = True
    heeds_settled_moves: bool = True
    ticks: int = 2


class Row(NamedTuple):
    """The item's row with its task, turn and unsent move. `moves` counts our settled moves: the clock of the model."""

    version: int = 0
    fence: int = 0
    task: bool = False
    turn: str | None = None  # None, "queued", "running" or "flagged"
    unsent: bool = False
    moves: int = 0


class Tick(NamedTuple):
    """One firing of the loop: how far it is, and what it has seen so far."""

    step: int = -1  # which of the looks, then of the deeds, comes next; -1: none begun
    facts: Row | None = None
    version: int | None = None
    card: str | None = None
    began: int = 0
    deed: str | None = None  # "dispatch" or "cancel", once it is planned


class World(NamedTuple):
    """Everything there is. `finished`: the work that the person last asked for is done; only a new wish ends that."""

    card: str = "Todo"
    row: Row = Row()
    ticks: tuple[Tick, Tick] = (Tick(), Tick())
    begun: int = 0
    lease: int | None = None  # the fence of its holder
    messages: frozenset[int] = frozenset()  # the fences of the turns in the queue
    worker: tuple[str, int, str] | None = None  # its step, the fence of its turn, what it has read of the card
    relay: str | None = None  # its step
    finished: bool = False
    wrong: str = ""


_LOOKS = {
    "records": "reads the records",
    "facts": "reads tasks, turns and moves",
    "version": "reads the version",
    "board": "reads the board",
    "reread": "re-reads the card",
}


def moves(rules: Rules) -> Callable[["World"], Iterator[tuple[str, "World"]]]:
    """What can happen next in a world of these rules, as `explore` asks for it."""

    def following(world: World) -> Iterator[tuple[str, World]]:
        yield from _person(world)
        yield from _worker(world)
        yield from _relay(world)
        if world.lease is not None:
            yield "the Redis lease vanishes", world._replace(lease=None)
        for number in (0, 1):
            yield from _tick(world, number, rules)

    return following


def is_wrong(world: World) -> bool:
    """Whether a law was broken on the way here."""
    return bool(world.wrong)


# --- the person -------------------------------------------------------------------------------------------------------


def _person(world: World) -> Iterator[tuple[str, World]]:
    if world.card != "Done":
        yield "the person closes the card", world._replace(card="Done")
    if world.card != "Todo":
        yield f"the person drags the card from {world.card} back to Todo", world._replace(card="Todo", finished=False)


# --- the ticks --------------------------------------------------------------------------------------------------------


def _tick(world: World, number: int, rules: Rules) -> Iterator[tuple[str, World]]:
    tick, name = world.ticks[number], f"tick {number + 1}"
    if tick.step < 0:
        if world.begun < rules.ticks:
            yield _look(world, number, Tick(0, began=world.row.moves), rules)
    elif tick.deed is None or tick.step < len(rules.order):
        yield _look(world, number, tick, rules)
    else:
        yield from (_DEEDS[tick.deed](world, number, tick, rules, name),)


def _look(world: World, number: int, tick: Tick, rules: Rules) -> tuple[str, World]:
    """The next look of a tick, and the plan as soon as records and board are known."""
    begun = world.begun + (tick.step == 0)
    look = rules.order[tick.step]
    if look in {"records", "facts"}:
        tick = tick._replace(facts=world.row)
    if look in {"records", "version"}:
        tick = tick._replace(version=world.row.version)
    if look in {"board", "reread"}:
        tick = tick._replace(card=world.card if look == "board" or _is_still(tick, world.card) else "changed")
    tick = tick._replace(step=tick.step + 1)
    if tick.deed is None and tick.facts is not None and tick.version is not None and tick.card is not None:
        tick = tick._replace(deed=_planned(tick.facts._replace(version=tick.version), tick.card, tick.began, rules))
        tick = tick if tick.deed is not None else Tick()
    if tick.card == "changed":
        tick = Tick()
    seen = world.card if look in {"board", "reread"} else _told(world.row)
    return f"tick {number + 1} {_LOOKS[look]}: {seen}", _with(world, number, tick)._replace(begun=begun)


def _is_still(tick: Tick, card: str) -> bool:
    """Whether the re-read bears out what was planned: the card is wanted for a dispatch, closed for a cancel."""
    if tick.deed is None:
        return True
    wanted = select.wants(_item(card), CONTRACT, Limits()) is None
    return wanted == (tick.deed == "dispatch")


@cache
def _planned(row: Row, card: str, began: int, rules: Rules) -> str | None:
    board = Board({"A-1": _item(card)}, NOW + timedelta(seconds=began + 0.5))
    records = Records({"A-1": _record(row, rules)} if row.version else {}, free_slots=1)
    plan = reconcile.plan(board, records, CONTRACT, limits=Limits(), now=NOW)
    deeds = [type(action).__name__.lower() for action in plan.actions if isinstance(action, Dispatch | Cancel)]
    return deeds[0] if deeds else None


def _record(row: Row, rules: Rules) -> ItemRecord:
    status = TurnStatus.QUEUED if row.turn == "queued" else TurnStatus.RUNNING
    lease = NOW + timedelta(hours=1) if status is TurnStatus.RUNNING else None
    opened = TurnRecord(_ID, row.fence, status, "Todo", NOW, lease, cancelled=row.turn == "flagged")
    settled = NOW + timedelta(seconds=row.moves) if row.moves and rules.heeds_settled_moves else None
    return ItemRecord(
        key=1,
        id="A-1",
        identifier="A-1",
        version=row.version,
        fence=row.fence,
        task=TaskRecord(_ID) if row.task else None,
        turn=opened if row.turn is not None else None,
        unsent_move=row.unsent,
        moved_at=settled,
    )


def _dispatch(world: World, number: int, tick: Tick, rules: Rules, name: str) -> tuple[str, World]:
    """Take the lease, open the turn, publish it: three moments, at each of which somebody else can come first."""
    assert tick.facts is not None
    row, fence, moment = world.row, tick.facts.fence + 1, tick.step - len(rules.order)
    if moment == 0:
        if world.lease is not None:
            return f"{name} finds the lease taken and gives up", _with(world, number, Tick())
        return f"{name} takes the lease", _with(world, number, tick._replace(step=tick.step + 1))._replace(lease=fence)
    if moment == 1:
        free = row.version == tick.version if rules.opens_by_version else not row.task
        if not free:
            mine = world.lease == fence
            given_back = world._replace(lease=None) if mine else world
            return f"{name} is refused, gives the lease back", _with(given_back, number, Tick())
        opened = Row(row.version + 1, row.fence + 1, task=True, turn="queued", unsent=row.unsent, moves=row.moves)
        return f"{name} opens turn {opened.fence}", _with(world, number, tick._replace(step=tick.step + 1))._replace(
            row=opened
        )
    published = world._replace(messages=world.messages | {world.row.fence})
    return f"{name} publishes the turn", _with(published, number, Tick())


def _cancel(world: World, number: int, tick: Tick, rules: Rules, name: str) -> tuple[str, World]:
    """End a queued turn, flag a running one."""
    assert tick.facts is not None
    row = world.row
    after = _with(world, number, Tick())
    if rules.cancels_by_version and row.version != tick.version:
        return f"{name} is refused its cancel", after
    if row.turn is None:
        return f"{name} finds nothing to cancel", after
    wrong = "" if row.fence == tick.facts.fence else f"the cancel of turn {tick.facts.fence} stops turn {row.fence}"
    if row.turn == "queued":
        ended = Row(row.version + 1, row.fence, moves=row.moves)
        return f"{name} ends turn {row.fence} in the queue", after._replace(row=ended, wrong=wrong)
    flagged = row._replace(version=row.version + 1, turn="flagged", unsent=False)
    return f"{name} flags turn {row.fence}", after._replace(row=flagged, wrong=wrong)


_DEEDS = {"dispatch": _dispatch, "cancel": _cancel}


# --- the worker and the relay -----------------------------------------------------------------------------------------


def _worker(world: World) -> Iterator[tuple[str, World]]:
    row = world.row
    if world.worker is None:
        for fence in world.messages:
            taken = world._replace(messages=world.messages - {fence})
            if row.turn == "queued" and row.fence == fence:
                wrong = f"finished work starts again, as turn {fence}" if world.finished else ""
                running = row._replace(version=row.version + 1, turn="running")
                yield f"turn {fence} is admitted", taken._replace(row=running, worker=("work", fence, ""), wrong=wrong)
            else:
                yield f"turn {fence} is not admitted", taken
        return
    step, fence, seen = world.worker
    ours = row.fence == fence and row.turn in {"running", "flagged"}
    if step == "work":
        yield "the agent is done, the worker reads the card", world._replace(worker=("conclude", fence, world.card))
    elif step == "conclude":
        concluded = world._replace(row=_concluded(row, seen)) if ours else world
        handed = ours and concluded.row.unsent and not row.unsent
        yield (
            f"turn {fence} is concluded: {_told(concluded.row)}",
            concluded._replace(worker=("release", fence, ""), finished=world.finished or handed),
        )
    else:
        mine = world.lease == fence
        yield "the worker gives the lease back", world._replace(worker=None, lease=None if mine else world.lease)


@cache
def _concluded(row: Row, card: str) -> Row:
    flagged = row.turn == "flagged"
    ending = Ending(Outcome.FAILED, StopReason.TERMINAL_SEEN) if flagged else Ending(Outcome.DONE, StopReason.DONE)
    meaning = turn.conclude(ending, _item(card), CONTRACT, counters=Counters(), limits=TurnLimits(), now=NOW)
    unsent = row.unsent or isinstance(meaning, Handoff)
    return Row(row.version + 1, row.fence, unsent=unsent, moves=row.moves)


def _relay(world: World) -> Iterator[tuple[str, World]]:
    row = world.row
    if world.relay is None:
        if row.unsent:
            verdict = writeback.permit(HAND_OFF, _item(world.card), CONTRACT)
            step = "move" if isinstance(verdict, Post) else "settle"
            yield f"the relay reads {world.card}: {type(verdict).__name__.lower()}", world._replace(relay=step)
    elif world.relay == "move":
        moved = world.card == "Todo"
        sentence = "the relay moves the card to In Review" if moved else "the tracker refuses the relay's move"
        yield sentence, world._replace(card="In Review" if moved else world.card, relay="settle")
    else:
        settled = row._replace(version=row.version + 1, unsent=False, moves=row.moves + 1) if row.unsent else row
        yield "the relay settles the move", world._replace(row=settled, relay=None)


# --- words ------------------------------------------------------------------------------------------------------------


@cache
def _item(card: str) -> Item:
    return Item("A-1", "A-1", "Mend it", card)


def _with(world: World, number: int, tick: Tick) -> World:
    return world._replace(ticks=(tick, world.ticks[1]) if number == 0 else (world.ticks[0], tick))


def _told(row: Row) -> str:
    going_on = f"turn {row.fence} {row.turn}" if row.turn else "no task"
    return f"version {row.version}, {going_on}{', an unsent move' if row.unsent else ''}"
