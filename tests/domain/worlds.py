"""Valid worlds for the domain's tests: a board, our records, and the strategies that draw both.

Builders take a card's key and say the rest in words. What cannot happen (a running turn without a lease, a backoff
beside an open turn) cannot be built: `checked` refuses it, so that no test proves something about an impossible world.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid5

from hypothesis import strategies as st

from orchestrator.domain import reconcile
from orchestrator.domain.contract import StateContract, fold
from orchestrator.domain.home import Home, Reach
from orchestrator.domain.item import Blocker, Item
from orchestrator.domain.reconcile import Plan
from orchestrator.domain.records import Board, ItemRecord, Records, TaskRecord, TurnRecord
from orchestrator.domain.select import Limits
from orchestrator.domain.turn import TurnStatus

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAST, FUTURE = NOW - timedelta(minutes=5), NOW + timedelta(minutes=5)

CONTRACT = StateContract(
    active=("Todo", "In Progress", "Rework"),
    terminal=("Done", "Closed"),
    in_progress="In Progress",
    handoff="In Review",
)
NO_REVIEW = replace(CONTRACT, handoff=None)

FENCE = 3
_NAMES = UUID("8a6d8b1e-3f0f-4a53-9e6b-1f4f0c3c2c11")


def item(key: str = "A-1", state: str = "Todo", **more: Any) -> Item:
    """A card."""
    return Item(id=key, identifier=key, title=f"Mend {key}", state=state, **more)


def row(key: str = "A-1", *, version: int = 7, **more: Any) -> ItemRecord:
    """An item row on which nothing is going on, unless `more` says so."""
    number = int("".join(filter(str.isdigit, key)) or "0")
    return checked(ItemRecord(number, key, key, version, FENCE, **more))


def queued(
    key: str = "A-1", *, since: datetime | None = NOW, state: str = "Todo", host: str | None = None, **more: Any
) -> ItemRecord:
    """A turn that was given to the broker at `since`, for one host or any; None: it never was."""
    turn = _turn(key, TurnStatus.QUEUED, state, enqueued_at=since, for_host=host)
    return row(key, task=_task(key), turn=turn, **more)


def running(
    key: str = "A-1", *, lease: datetime = FUTURE, flagged: bool = False, state: str = "Todo", **more: Any
) -> ItemRecord:
    """A turn under way; `flagged`: its cancel flag is set and its agent not yet known to be dead."""
    turn = _turn(key, TurnStatus.RUNNING, state, enqueued_at=PAST, lease_until=lease, cancelled=flagged)
    return row(key, task=_task(key), turn=turn, **more)


def waiting(key: str = "A-1", *, due: datetime = PAST, **more: Any) -> ItemRecord:
    """A task between two turns, due again at `due`."""
    return row(key, task=_task(key, due), **more)


def held(key: str = "A-1", *, at: str | None = "Todo", task: bool = False, **more: Any) -> ItemRecord:
    """A held item whose card stood at `at`; with or without an open task behind the hold."""
    return row(key, held="5 attempts failed", held_state=at, task=_task(key) if task else None, **more)


def board(*items: Item, gone: Iterable[str] = (), **more: Any) -> Board:
    """A board whose reading began now, after everything that our records say."""
    return Board({card.id: card for card in items}, NOW, frozenset(gone), **more)


def records(*rows: ItemRecord, free_slots: int = 100, **more: Any) -> Records:
    """Our side, with plenty of workers."""
    return Records({record.id: record for record in rows}, free_slots, **more)


@dataclass(frozen=True)
class World:
    """Everything that a plan looks at."""

    board: Board
    records: Records
    contract: StateContract = CONTRACT
    limits: Limits = field(default_factory=Limits)

    def plan(self) -> Plan:
        """What a tick at NOW would do."""
        return reconcile.plan(self.board, self.records, self.contract, limits=self.limits, now=NOW)


def checked(record: ItemRecord) -> ItemRecord:
    """The same record; an AssertionError when no history of ours leads to it."""
    turn = record.turn
    assert record.held is not None or record.held_state is None, "a state was kept for a hold that is not there"
    if turn is None:
        return record
    assert record.task is not None, "a turn belongs to a task"
    assert record.task.due_at is None, "a task with an open turn waits for nothing else"
    assert turn.fence == record.fence, "the open turn has the item's last fence"
    assert (turn.lease_until is not None) == (turn.status is TurnStatus.RUNNING), "a lease begins with admission"
    assert turn.status is TurnStatus.RUNNING or not turn.cancelled, "a cancel ends a queued turn at once"
    return record


def _turn(key: str, status: TurnStatus, state: str, **more: Any) -> TurnRecord:
    return TurnRecord(uuid5(_NAMES, f"turn {key}"), FENCE, status, state, **more)


def _task(key: str, due: datetime | None = None) -> TaskRecord:
    return TaskRecord(uuid5(_NAMES, f"task {key}"), due)


# --- strategies ------------------------------------------------------------------------------------------------------
#
# Every card and every row is one draw from a list of all that it can be: field by field takes ten times as long.

KEYS = tuple(f"A-{number}" for number in range(1, 7))
STATES = ("Todo", " todo", "In Progress", "Rework", "In Review", "Done", "CLOSED", "Backlog")

_TRAITS: tuple[dict[str, Any], ...] = (
    {},
    {"priority": 1, "created_at": NOW},
    {"priority": 7, "created_at": PAST},
    {"labels": ()},
    {"dispatchable": False},
    {"blockers_readable": False},
    {"blocked_by": (Blocker("B-1", "B-1", "Done"),)},
    {"blocked_by": (Blocker("B-1", "B-1", "Todo"),)},
    {"blocked_by": (Blocker("B-1", "B-1", None),)},
)
_CARDS = tuple({"state": state, "labels": ("fleet",), **trait} for state in STATES for trait in _TRAITS)

_BUSY: tuple[partial[ItemRecord], ...] = (
    partial(row),
    *(partial(queued, since=since, state=state) for since in (NOW, PAST, None) for state in ("Todo", "Rework")),
    *(partial(running, lease=lease, flagged=flagged) for lease in (FUTURE, NOW, PAST) for flagged in (False, True)),
    *(partial(waiting, due=due) for due in (PAST, NOW, FUTURE)),
    *(
        partial(held, at=at, task=task, held_firmly=firmly)
        for at in ("Todo", "Backlog", "Renamed", None)
        for task in (False, True)
        for firmly in (False, True)
    ),
)
_HOMES = tuple(Home("h", "/w", "b", reach, pushed) for reach in Reach for pushed in (False, True))
# Rows whose work lies on a host: idle, queued for it, queued for anybody, in backoff, and held because it was gone.
_BUSY_AT_HOME: tuple[partial[ItemRecord], ...] = (
    *(partial(row, home=home) for home in _HOMES),
    *(
        partial(queued, since=since, home=home, host=host)
        for since in (NOW, PAST)
        for home in _HOMES
        for host in ("h", None)
    ),
    *(partial(waiting, due=PAST, home=home) for home in _HOMES),
    *(partial(held, at="Todo", held_firmly=True, home=home, is_left_behind=True) for home in _HOMES),
)
_ROWS = (*_BUSY, *_BUSY_AT_HOME)
_SEEN: tuple[dict[str, Any], ...] = tuple(
    {"unsent_move": unsent, "moved_at": moved_at, "absences": absences}
    for moved_at in (None, PAST, FUTURE)
    for unsent in (False, True)
    for absences in (0, 1)
)
_FLAGS: tuple[dict[str, Any], ...] = (
    {},
    {"trusted": False},
    {"contract_broken": True},
    {"held_fleet": "stop"},
    {"held_workflow": "drained"},
    {"held_workflow": "mass cancel", "braked": True},
    {"contract_broken": True, "braked": True},
)
_LIMITS = tuple(
    Limits(max_concurrent=total, max_concurrent_by_state=by_state, required_labels=labels)
    for total in (6, 2, 1)
    for by_state in ({}, {"todo": 1}, {"todo": 2, "rework": 1})
    for labels in ((), ("fleet",))
)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Any board beside any records: cards without a row, rows without a card, all missing, all held, all running."""
    keyed = st.sampled_from(KEYS)
    cards = draw(st.lists(st.tuples(keyed, st.sampled_from(_CARDS)), unique_by=lambda drawn: drawn[0]))
    rows = draw(
        st.lists(st.tuples(keyed, st.sampled_from(_ROWS), st.sampled_from(_SEEN)), unique_by=lambda drawn: drawn[0])
    )
    unread = {key for key, *_ in rows} - {key for key, _ in cards}
    return World(
        board(
            *(item(key, **more) for key, more in cards),
            gone=unread & draw(st.frozensets(keyed)),
            whole=draw(st.booleans()),
        ),
        records(
            *(build(key, **more) for key, build, more in rows),
            free_slots=draw(st.integers(0, 8)),
            free_on={"h": draw(st.integers(0, 2))},
            **draw(st.sampled_from(_FLAGS)),
        ),
        limits=draw(st.sampled_from(_LIMITS)),
    )


def is_active(card: Item, contract: StateContract = CONTRACT) -> bool:
    """Said without the contract's own words: the state is listed as active and not as terminal."""
    active, terminal = ({fold(state) for state in states} for states in (contract.active, contract.terminal))
    return fold(card.state) in active - terminal
