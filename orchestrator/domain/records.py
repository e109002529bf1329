"""The two snapshots that a plan compares: the board as just read, and what our records say is going on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from orchestrator.domain.contract import fold
from orchestrator.domain.home import Home
from orchestrator.domain.item import Item
from orchestrator.domain.rest import Rest
from orchestrator.domain.shares import Claim
from orchestrator.domain.turn import TurnStatus


@dataclass(frozen=True, slots=True)
class Malformed:
    """A record of the tracker that could not be read: its id or place, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Board:
    """The items that a tick read. `gone` were asked for by id and a successful answer did not have them.

    `whole` is False where only what was due was read by id: such a look shows what it shows, and contradicts nothing.
    """

    items: Mapping[str, Item]
    began_at: datetime
    gone: frozenset[str] = frozenset()
    malformed: tuple[Malformed, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """An open turn. `state` is the active state in which its item stood last, as far as we know.

    It stood there at dispatch, a later tick saw it there, or a move of ours put it there. The caps count it there, and
    a hold remembers it: the state that a worker re-read may be older than a move of ours. `dead` is its supervisor's
    word, which needs no clock: it counts even when no lease may be judged. `vouched`: a person who released the
    mass-cancel brake lately saw it run, and let it be stopped. `for_host` is the only host that may run it, None: any.
    """

    id: UUID
    fence: int
    status: TurnStatus
    state: str
    enqueued_at: datetime | None = None
    lease_until: datetime | None = None
    cancelled: bool = False
    dead: bool = False
    vouched: bool = False
    for_host: str | None = None


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A live task; `due_at` is when it wants its next turn, None while a turn is open."""

    id: UUID
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """One item row, with the version that every action on it is conditional on.

    `key` is the row's number, `id` the tracker's. `moved_at` is when our last move of it was settled: a board whose
    reading began before may not show it. `held` is why it is held, in words; `held_state` the state in which its card
    stood then, as far as we knew, or where our own write put it since; `held_firmly` says that one of its holds is not
    for a hand on the board to lift. `home` is where its work lies, where that is one host; `is_left_behind` says that
    one of its holds names a host that was gone.
    """

    key: int
    id: str
    identifier: str
    version: int
    fence: int
    task: TaskRecord | None = None
    turn: TurnRecord | None = None
    held: str | None = None
    held_state: str | None = None
    held_firmly: bool = False
    unsent_move: bool = False
    moved_at: datetime | None = None
    absences: int = 0
    home: Home | None = None
    is_left_behind: bool = False


@dataclass(frozen=True, slots=True)
class Records:
    """Our side, read in one snapshot before the board. `trusted` is False after a blind spell: no lease is judged then.

    `free_slots` counts the turn slots of live workers that no running turn takes, at most as many as the fleet's cap
    leaves, and `free_on` those of each host; what is queued here is subtracted by the plan. `rivals` are the other
    workflows whose cards wait for a worker's slot, `served_at` is when a turn of this one was opened last. `braked`
    says that one of the workflow's holds is the mass-cancel brake; `rest` stands while a provider is waited for, and
    until a turn after it ended well. `retired`: a person let the workflow go; what runs finishes, and nothing begins.
    """

    items: Mapping[str, ItemRecord]
    free_slots: int = 0
    free_on: Mapping[str, int] = field(default_factory=dict)
    held_workflow: str | None = None
    held_fleet: str | None = None
    contract_broken: bool = False
    braked: bool = False
    trusted: bool = True
    rivals: tuple[Claim, ...] = ()
    served_at: datetime | None = None
    retired: bool = False
    rest: Rest | None = None
    waits: Mapping[str, str] = field(default_factory=dict)

    def live(self) -> Iterator[ItemRecord]:
        """The items that something of ours is going on with: a turn, a task or a hold."""
        return (record for record in self.items.values() if record.turn or record.task or record.held)

    def open_turns(self) -> int:
        """How many cap slots are taken in all."""
        return sum(1 for record in self.items.values() if record.turn is not None)

    def open_turns_by_state(self, board: Board) -> Counter[str]:
        """How many cap slots are taken in each state: where the board shows the item now, else where it did last."""
        taken: Counter[str] = Counter()
        for record in self.items.values():
            if record.turn is not None:
                item = board.items.get(record.id)
                taken[fold(item.state if item else record.turn.state)] += 1
        return taken
