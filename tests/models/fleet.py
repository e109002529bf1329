"""A whole small fleet: two cards, two workers, one relay, one loop, one person, and faults, one step at a time.

As in `overlap`, everything that decides is the real thing; the model keeps rows, cards and messages, and lets anybody act
between any two steps. The version of a row is kept as what it is for: a plan's deed on an item is dropped as soon as the
item's row moves, exactly as the store would refuse it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from orchestrator.domain import reconcile, select, turn, writeback
from orchestrator.domain.contract import StateContract
from orchestrator.domain.item import Item
from orchestrator.domain.reconcile import Action, Cancel, Dispatch, EndTask, Expire, LiftHold, NoteAbsence, Refresh, Requeue
from orchestrator.domain.records import Board, ItemRecord, Records, TaskRecord, TurnRecord
from orchestrator.domain.select import Limits
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import (
    Conclusion,
    Counters,
    End,
    Ending,
    Handoff,
    Outcome,
    Parked,
    Recheck,
    StopReason,
    TurnLimits,
    TurnStatus,
)
from orchestrator.domain.writeback import Move, Post, Role, Write, WriteKind

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAST, FUTURE = NOW - timedelta(minutes=1), NOW + timedelta(minutes=1)
_ID = UUID(int=0)
_MISSING, _UNREAD = "(missing)", "(unread)"

ENDINGS = {
    "done": Ending(Outcome.DONE, StopReason.DONE),
    "failed": Ending(Outcome.FAILED, StopReason.AGENT_FAILED),
    "stopped": Ending(Outcome.FAILED, StopReason.MOVED_AWAY),
}
ROLES = {"start": Role.IN_PROGRESS, "hand": Role.HANDOFF}
ONLY_FROM = ("Todo", "In Progress")


@dataclass(frozen=True)
class Rules:
    """What the fleet is given to do, and what may go wrong: `faults` of the named kinds, `person` moves of the hand."""

    contract: StateContract
    cards: int = 2
    cap: int = 2
    person: int = 1
    faults: int = 1
    kinds: frozenset[str] = frozenset({"worker dies", "worker freezes", "message", "relay", "tick", "read", "page"})
    outcomes: tuple[str, ...] = ("done", "failed")
    goes_to: tuple[str, ...] = ("Todo", "Done", "Backlog")
    attempts: int = 2


class Row(NamedTuple):
    """An item's row with what hangs on it."""

    task: str = ""  # "", "open" beside a turn, "due", "later", "parked" behind a hold
    turn: str = ""  # "", "queued", "running", "flagged"
    message: bool = False  # the queued turn's message is on its way
    lease: bool = True  # of the running turn, by the database's clock
    moves: tuple[str, ...] = ()  # the outbox, head first; a head that was ever claimed bears a question mark
    stood: str = ""  # where the card of the turn or of the hold stood last, as far as we know
    held: bool = False
    attempts: int = 0
    missing: int = 0


class Worker(NamedTuple):
    """A worker with a turn: its item, what its agent said, where it then saw the card; `ours`: the fence still holds."""

    item: int
    said: str = ""
    card: str = ""
    ours: bool = True


class Tick(NamedTuple):
    """The loop: the rows that it read and whether each still has that version, then what it plans to do."""

    seen: tuple[Row, ...] = ()
    fresh: tuple[bool, ...] = ()
    deeds: tuple[tuple[str, int], ...] = ()


class World(NamedTuple):
    """Everything there is. `done`: what the person last asked for on a card was done; `touched`: they moved it since its last start."""

    cards: tuple[str, ...]
    rows: tuple[Row, ...]
    done: tuple[bool, ...]
    touched: tuple[bool, ...]
    workers: tuple[Worker, ...] = ()
    relay: tuple[int, str] | None = None  # the item whose head row is claimed, and what comes next for it
    tick: Tick = Tick()
    person: int = 0
    faults: int = 0
    wrong: str = ""


def start(rules: Rules) -> World:
    """Every card in Todo, and nothing known of any."""
    return World(("Todo",) * rules.cards, (Row(),) * rules.cards, (False,) * rules.cards, (False,) * rules.cards)


def is_quiet(world: World) -> bool:
    """Whether the fleet shows what the board asks for: nothing runs, nothing waits, and what is wanted was done or is held."""
    busy = world.workers or world.relay
    return not busy and all(_is_settled(card, row) for card, row in zip(world.cards, world.rows, strict=True))


def _is_settled(card: str, row: Row) -> bool:
    if row.turn or row.moves:
        return False
    if card in {"Todo", "In Progress"}:
        return row.held and row.stood == card
    return not row.task and not row.held


@dataclass(frozen=True)
class Fleet:
    """Who can do what next, under these rules."""

    rules: Rules

    def moves(self, world: World) -> Iterator[tuple[str, World]]:
        """Everything that can happen: the fleet's own steps, the person's and the faults."""
        yield from self.calm(world)
        if world.person < self.rules.person:
            yield from self._person(world)
        if world.faults < self.rules.faults:
            for kind, sentence, after in self._faults(world):
                if kind in self.rules.kinds:
                    yield sentence, after._replace(faults=world.faults + 1)

    def calm(self, world: World) -> Iterator[tuple[str, World]]:
        """What goes on when the person keeps still and nothing breaks."""
        yield from self._tick(world)
        yield from self._work(world)
        yield from self._relay(world)
        for number, row in enumerate(world.rows):
            if row.task == "later":
                yield f"the retry of {number} falls due", _moved(world, number, row._replace(task="due"), bump=False)
            alone = all(worker.item != number or not worker.ours for worker in world.workers)
            if row.turn in {"running", "flagged"} and row.lease and alone:
                yield f"the lease of {number} runs out", _moved(world, number, row._replace(lease=False), bump=False)

    def _person(self, world: World) -> Iterator[tuple[str, World]]:
        for number, card in enumerate(world.cards):
            for state in self.rules.goes_to:
                if state != card:
                    done = world.done if state != "Todo" else _put(world.done, number, False)
                    cards, touched = _put(world.cards, number, state), _put(world.touched, number, True)
                    after = world._replace(cards=cards, done=done, touched=touched, person=world.person + 1)
                    yield f"the person moves {number} from {card} to {state}", after

    def _faults(self, world: World) -> Iterator[tuple[str, str, World]]:
        for worker in world.workers:
            rest = _without(world.workers, worker)
            yield "worker dies", f"the worker of {worker.item} is killed", world._replace(workers=rest)
            row = world.rows[worker.item]
            if worker.ours and row.lease:
                after = _moved(world, worker.item, row._replace(lease=False), bump=False)
                yield "worker freezes", f"the worker of {worker.item} freezes past its lease", after
        for number, row in enumerate(world.rows):
            if row.message:
                after = _moved(world, number, row._replace(message=False), bump=False)
                yield "message", f"the message of {number} is lost", after
        if world.relay is not None:
            yield "relay", "the relay is killed", world._replace(relay=None)
        if world.tick != Tick():
            yield "tick", "the tick is killed", world._replace(tick=Tick())
        if world.tick.seen:
            unread = self._planned(world, tuple(_UNREAD for _ in world.cards))
            yield "read", "the board cannot be read", unread
            for number in range(self.rules.cards):
                torn = self._planned(world, _put(world.cards, number, _MISSING))
                yield "page", f"the board is read without {number}", torn

    # --- the loop ------------------------------------------------------------------------------------------------------

    def _tick(self, world: World) -> Iterator[tuple[str, World]]:
        tick = world.tick
        if tick.deeds:
            deed, number = tick.deeds[0]
            rest = world._replace(tick=Tick(deeds=tick.deeds[1:]))
            yield f"the tick: {deed} {number}", self._done(rest, deed, number)
        elif tick.seen:
            yield "the tick reads the board", self._planned(world, world.cards)
        else:
            yield "the tick reads the records", world._replace(tick=Tick(world.rows, (True,) * self.rules.cards))

    def _planned(self, world: World, cards: tuple[str, ...]) -> World:
        deeds = planned(self.rules, world.tick.seen, cards)
        still = tuple((deed, number) for deed, number in deeds if world.tick.fresh[number] or deed in _UNCONDITIONAL)
        return world._replace(tick=Tick(deeds=still))

    def _done(self, world: World, deed: str, number: int) -> World:
        """Carry out one deed; its item's row has the version that the plan saw, or the deed would be gone."""
        row, card = world.rows[number], world.cards[number]
        wanted = select.wants(_item(number, card), self.rules.contract, Limits()) is None
        match deed:
            case "dispatch":
                room = sum(bool(other.turn) for other in world.rows) < self.rules.cap
                opened = row._replace(task="open", turn="queued", message=True, stood=card)
                untouched = world._replace(touched=_put(world.touched, number, False))
                return _moved(untouched, number, opened) if wanted and room else world
            case "cancel" if not wanted:
                after = Row(missing=row.missing) if row.turn == "queued" else row._replace(turn="flagged")
                return _moved(world, number, after._replace(moves=_withdrawn(world, number)))
            case "expire":
                workers = tuple(sorted(w._replace(ours=w.ours and w.item != number) for w in world.workers))
                return self._ended(world._replace(workers=workers), number, self._lost(row))
            case "requeue":
                return _moved(world, number, row._replace(message=True), bump=False) if row.turn == "queued" else world
            case "endtask":
                return _moved(world, number, row._replace(task="", attempts=0, moves=_withdrawn(world, number)))
            case "lifthold":
                wrong = world.wrong if world.touched[number] else f"{number} is lifted although nobody touched its card"
                lifted = world._replace(wrong=wrong, touched=_put(world.touched, number, False))
                return _moved(lifted, number, row._replace(held=False, task="due" if row.task else "", attempts=0))
            case "missing" | "back":
                return _moved(world, number, row._replace(missing=int(deed == "missing")), bump=False)
            case "refresh" if row.turn:
                return _moved(world, number, row._replace(stood=card), bump=False)
        return world

    def _lost(self, row: Row) -> Conclusion:
        if row.turn == "flagged":
            return End(TaskStatus.CANCELLED, TurnStatus.LOST, StopReason.MOVED_AWAY)
        return turn.lost(Counters(attempt=row.attempts), limits=TurnLimits(self.rules.attempts), now=NOW)

    # --- workers and relay -----------------------------------------------------------------------------------------------

    def _work(self, world: World) -> Iterator[tuple[str, World]]:
        if len(world.workers) < 2:
            for number, row in enumerate(world.rows):
                if row.turn == "queued" and row.message and not row.held:
                    yield f"a worker admits {number}", self._admitted(world, number, row)
        for worker in world.workers:
            rest, card = _without(world.workers, worker), world.cards[worker.item]
            row = world.rows[worker.item]
            if worker.said:
                after = world._replace(workers=rest)
                if worker.ours:
                    after = self._concluded(after, worker)
                yield f"the worker concludes {worker.item}, {worker.said}", after
            elif not worker.ours:
                yield f"the worker of {worker.item} is refused", world._replace(workers=rest)
            else:
                for said in ("stopped",) if row.turn == "flagged" else self.rules.outcomes:
                    spoken = worker._replace(said=said, card=card)
                    after = world._replace(workers=tuple(sorted((*rest, spoken))))
                    yield f"the agent of {worker.item} is {said}, the card is read: {card}", after

    def _admitted(self, world: World, number: int, row: Row) -> World:
        target = self.rules.contract.in_progress
        moves = (*row.moves, "start") if target is not None and world.cards[number] != target else row.moves
        running = row._replace(turn="running", message=False, lease=True, attempts=row.attempts + 1, moves=moves)
        workers = tuple(sorted((*world.workers, Worker(number))))
        wrong = f"finished work of {number} starts again" if world.done[number] else world.wrong
        return _moved(world._replace(workers=workers, wrong=wrong), number, running)

    def _concluded(self, world: World, worker: Worker) -> World:
        row = world.rows[worker.item]
        meaning = turn.conclude(
            ENDINGS["stopped" if row.turn == "flagged" else worker.said],
            _item(worker.item, worker.card),
            self.rules.contract,
            counters=Counters(attempt=row.attempts),
            limits=TurnLimits(self.rules.attempts),
            now=NOW,
        )
        return self._ended(world, worker.item, meaning)

    def _ended(self, world: World, number: int, meaning: Conclusion) -> World:
        """The concluding transaction: turn, task, hold and outbox at once."""
        row = world.rows[number]
        quiet = Row(moves=row.moves, missing=row.missing)
        match meaning:
            case Handoff():
                done = world._replace(done=_put(world.done, number, True))
                return _moved(done, number, quiet._replace(moves=(*_withdrawn(world, number), "hand")))
            case Recheck(at=at, counters=counters):
                due = "due" if at <= NOW else "later"
                return _moved(world, number, quiet._replace(task=due, attempts=counters.attempt))
            case Parked(task=task):
                after = quiet._replace(task="" if task else "parked", held=True, stood=row.stood, moves=_withdrawn(world, number))
                done = world if task is None else world._replace(done=_put(world.done, number, True))
                return _moved(done, number, after)
            case End():
                return _moved(world, number, quiet._replace(moves=_withdrawn(world, number)))

    def _relay(self, world: World) -> Iterator[tuple[str, World]]:
        if world.relay is None:
            for number, row in enumerate(world.rows):
                if row.moves:
                    move = row.moves[0].removesuffix("?")
                    claimed = _moved(world, number, row._replace(moves=(f"{move}?", *row.moves[1:])), bump=False)
                    following = self._claimed(move, world.cards[number])
                    yield f"the relay claims {move} of {number}", claimed._replace(relay=(number, following))
            return
        number, following = world.relay
        row, card = world.rows[number], world.cards[number]
        if following not in {"sent", "not sent"}:
            moved = following if card in ONLY_FROM else card
            told = (number, "sent" if card in ONLY_FROM else "not sent")
            yield f"the relay moves {number}, {card} to {moved}", world._replace(cards=_put(world.cards, number, moved), relay=told)
        else:
            stood = card if following == "sent" and (row.turn or row.held) else row.stood
            settled = row._replace(moves=row.moves[1:], stood=stood)
            yield f"the relay settles {number}", _moved(world._replace(relay=None), number, settled)

    def _claimed(self, move: str, card: str) -> str:
        """What comes next for a claimed move: where it goes, or whether it was sent when it does not go any more."""
        write = Write(WriteKind.STARTED, Move(ROLES[move], ONLY_FROM))
        match writeback.permit(write, _item(0, card), self.rules.contract):
            case Post(state=str(target)):
                return target
            case _:  # an earlier claim may have ended between the move and the word of it
                return "sent" if card == writeback.target(ROLES[move], self.rules.contract) else "not sent"


# --- what the real plan is given ---------------------------------------------------------------------------------------

_DEEDS: dict[type, str] = {
    Dispatch: "dispatch", Cancel: "cancel", Expire: "expire", Requeue: "requeue", EndTask: "endtask",
    LiftHold: "lifthold", Refresh: "refresh",
}  # fmt: skip
# These move no version and are not conditional on one.
_UNCONDITIONAL = {"requeue", "missing", "back"}


@lru_cache(maxsize=None)
def planned(rules: Rules, rows: tuple[Row, ...], cards: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """What `reconcile.plan` does with these rows and these cards: each deed with the number of its item."""
    shown = {str(number): _item(number, card) for number, card in enumerate(cards) if card not in {_MISSING, _UNREAD}}
    gone = frozenset(str(number) for number, card in enumerate(cards) if card == _MISSING)
    running = sum(row.turn in {"running", "flagged"} for row in rows)
    records = Records({str(number): _record(number, row) for number, row in enumerate(rows)}, free_slots=2 - running)
    limits = Limits(max_concurrent=rules.cap)
    plan = reconcile.plan(Board(shown, NOW, gone), records, rules.contract, limits=limits, now=NOW)
    named = ((_name_of(action), action) for action in plan.actions)
    return tuple((name, _number_of(action)) for name, action in named if name)


def _name_of(action: Action) -> str:
    if isinstance(action, NoteAbsence):
        return "missing" if action.times else "back"
    return _DEEDS.get(type(action), "")


def _number_of(action: Action) -> int:
    return int(action.item.id if isinstance(action, Dispatch) else action.record.id)


@lru_cache(maxsize=None)
def _record(number: int, row: Row) -> ItemRecord:
    status = TurnStatus.QUEUED if row.turn == "queued" else TurnStatus.RUNNING
    lease = None if row.turn == "queued" else FUTURE if row.lease else PAST
    sent = NOW if row.message or row.turn != "queued" else None
    opened = TurnRecord(_ID, 1, status, row.stood, sent, lease, cancelled=row.turn == "flagged")
    due = {"due": PAST, "later": FUTURE}.get(row.task)
    return ItemRecord(
        key=number,
        id=str(number),
        identifier=str(number),
        version=1,
        fence=1,
        task=TaskRecord(_ID, due) if row.task else None,
        turn=opened if row.turn else None,
        held="attempts spent" if row.held else None,
        held_state=row.stood if row.held else None,
        unsent_move=bool(row.moves),
        absences=row.missing,
    )


@lru_cache(maxsize=None)
def _item(number: int, card: str) -> Item:
    return Item(str(number), str(number), "Mend it", card)


# --- small changes -----------------------------------------------------------------------------------------------------


def _moved(world: World, number: int, row: Row, *, bump: bool = True) -> World:
    """The item's row as it is now; with `bump` its version moves, and what a plan meant to do with the old one is refused."""
    rows = _put(world.rows, number, row)
    if not bump:
        return world._replace(rows=rows)
    tick = world.tick
    fresh = _put(tick.fresh, number, False) if tick.seen else ()
    deeds = tuple((deed, item) for deed, item in tick.deeds if item != number or deed in _UNCONDITIONAL)
    return world._replace(rows=rows, tick=Tick(tick.seen, fresh, deeds))


def _withdrawn(world: World, number: int) -> tuple[str, ...]:
    """The outbox without what was never claimed: a write that may have been made cannot be taken back."""
    return tuple(move for move in world.rows[number].moves if move.endswith("?"))


def _put(values: tuple, number: int, value: object) -> tuple:
    return (*values[:number], value, *values[number + 1 :])


def _without(workers: tuple[Worker, ...], worker: Worker) -> tuple[Worker, ...]:
    place = workers.index(worker)
    return workers[:place] + workers[place + 1 :]
