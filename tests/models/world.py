"""The values of the small fleet: cards, rows, workers, a relay and a loop, and what it means that all is quiet.

The version of a row is kept as what it is for: as soon as an item's row moves, what a plan meant to do with the old one
is dropped, exactly as the store would refuse it.
"""

from dataclasses import dataclass
from typing import NamedTuple

from orchestrator.domain.contract import StateContract


@dataclass(frozen=True)
class Rules:
    """What the fleet is given to do, what may happen to it, and in which ways it is built wrongly.

    `person` and `faults` say how often the person and the faults may act, `endings` what agents say. `forgets` are
    deeds that the loop never carries out; the last two are rules of the store that are left out.
    """

    contract: StateContract
    cards: int = 2
    cap: int = 2
    person: int = 1
    faults: int = 1
    endings: tuple[str, ...] = ("done", "failed")
    attempts: int = 2
    forgets: frozenset[str] = frozenset()
    holds_by_the_reread: bool = False  # a hold remembers where the worker read the card, not where it is known to stand
    takes_back_claimed: bool = False  # a hold withdraws moves that a relay may have made already


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
    """A worker with a turn: its item, what its agent said, where the card stood then; `ours`: the fence still holds."""

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
    """Everything there is.

    Two things that only the person could tell: `done`, what they last asked for on a card has been done; `touched`,
    they moved the card since its last start. `relay` is the item whose head row is claimed, and what comes next for it:
    "to" a state, then "is" there or "not sent". `wrong` is the law that was broken on the way here.
    """

    cards: tuple[str, ...]
    rows: tuple[Row, ...]
    done: tuple[bool, ...]
    touched: tuple[bool, ...]
    workers: tuple[Worker, ...] = ()
    relay: tuple[int, str] | None = None
    tick: Tick = Tick()
    person: int = 0
    faults: int = 0
    wrong: str = ""

    def with_row(self, number: int, row: Row) -> "World":
        """The item's row changed beside its version."""
        return self._replace(rows=(*self.rows[:number], row, *self.rows[number + 1 :]))

    def moved(self, number: int, row: Row) -> "World":
        """The item's row changed and its version moved: a plan's deed on it is refused from now on."""
        fresh = tuple(still and place != number for place, still in enumerate(self.tick.fresh))
        deeds = tuple(deed for deed in self.tick.deeds if deed[1] != number or is_mere_note(deed[0]))
        return self.with_row(number, row)._replace(tick=Tick(self.tick.seen, fresh, deeds))

    def with_card(self, number: int, state: str) -> "World":
        """The card stands elsewhere, whoever did it."""
        return self._replace(cards=(*self.cards[:number], state, *self.cards[number + 1 :]))

    def told(self, number: int, *, done: bool | None = None, touched: bool | None = None) -> "World":
        """What the person could tell has changed."""
        world = self
        if done is not None:
            world = world._replace(done=(*self.done[:number], done, *self.done[number + 1 :]))
        if touched is not None:
            world = world._replace(touched=(*self.touched[:number], touched, *self.touched[number + 1 :]))
        return world

    def without(self, worker: Worker) -> "World":
        """The worker has let go of its turn, or is dead."""
        place = self.workers.index(worker)
        return self._replace(workers=self.workers[:place] + self.workers[place + 1 :])

    def with_worker(self, worker: Worker) -> "World":
        """A worker is at work; which of the two it is makes no difference."""
        return self._replace(workers=tuple(sorted((*self.workers, worker))))


def is_mere_note(deed: str) -> bool:
    """Whether a deed moves no version and is not conditional on one: a message sent again, or what a look has shown."""
    return deed in {"requeue", "missing", "back"} or deed.startswith("refresh")


def start(rules: Rules) -> World:
    """Every card in Todo, and nothing known of any."""
    nothing = (False,) * rules.cards
    return World(("Todo",) * rules.cards, (Row(),) * rules.cards, done=nothing, touched=nothing)


def is_quiet(world: World) -> bool:
    """Whether the fleet shows what the board asks for: nothing is under way, what is wanted was done or is held."""
    busy = world.workers or world.relay
    return not busy and all(_is_settled(card, row) for card, row in zip(world.cards, world.rows, strict=True))


def _is_settled(card: str, row: Row) -> bool:
    if row.turn or row.moves:
        return False
    if card in {"Todo", "In Progress"}:
        return row.held and row.stood == card
    return not row.task and not row.held
