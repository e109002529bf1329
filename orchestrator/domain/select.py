"""Which candidates may start, and the one reason for each that may not. The ladder's order is the rule's order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum

from orchestrator.domain import home
from orchestrator.domain.contract import StateContract, fold
from orchestrator.domain.item import Item
from orchestrator.domain.records import Board, ItemRecord, Records
from orchestrator.domain.turn import TurnStatus


class NotDispatched(Enum):
    """Why a candidate did not start. A closed list: a tick sets each, and the next one that sees otherwise ends it."""

    MALFORMED = "malformed"  # the tracker's record lacks an id, identifier, title or state
    NOT_ACTIVE = "not_active"  # its state is not an active one
    NOT_DISPATCHABLE = "not_dispatchable"  # the tracker's own rules say no
    LABEL_MISSING = "label_missing"  # a required label is not on it
    ASSIGNEE_MISMATCH = "assignee_mismatch"  # it is somebody else's
    AUTHOR_UNTRUSTED = "author_untrusted"  # its author is not on the list
    RUNNING = "running"  # a turn of it is open
    UNSENT_MOVE = "unsent_move"  # a move of ours is not settled, or the board was read before it was
    NOT_DUE = "not_due"  # its retry or continuation is not due yet
    HELD_ITEM = "held_item"  # a hold stands on it
    HELD_WORKFLOW = "held_workflow"  # a hold stands on its workflow
    HELD_FLEET = "held_fleet"  # a hold stands on the fleet
    BLOCKED_BY = "blocked_by"  # a blocker is not terminal
    BLOCKERS_UNREADABLE = "blockers_unreadable"  # its blockers could not be read whole
    NO_SLOT_TOTAL = "no_slot_total"  # the workflow's cap is reached
    NO_SLOT_STATE = "no_slot_state"  # the cap of its state is reached
    NO_WORKER_SLOT = "no_worker_slot"  # no worker has a free turn slot for it, nor the fleet's cap room
    NO_WORKER_FOR_MANIFEST = "no_worker_for_manifest"  # no worker can run its version
    WORKSPACE_UNREACHABLE = "workspace_unreachable"  # the host of its workspace is silent
    QUOTA = "quota"  # a provider asked to wait, or several cards failed alike; one card is tried after it
    CONTRACT_BROKEN = "contract_broken"  # the board lacks a configured state
    REDIS_LEASE_TAKEN = "redis_lease_taken"  # somebody else is at it
    PUBLISH_FAILED = "publish_failed"  # the broker did not take the message
    CHANGED_SINCE = "changed_since"  # its row changed after the plan's snapshot
    CHANGED_ON_REREAD = "changed_on_reread"  # the card changed after the board was read
    SERVED_ELSEWHERE = "served_elsewhere"  # another installation works on it
    READ_FAILED = "read_failed"  # its re-read failed


@dataclass(frozen=True, slots=True)
class Wait:
    """Why an item waits, with a detail for people: which blocker, until when."""

    reason: NotDispatched
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """The rules of a workflow that select among its candidates. States and labels are folded.

    `only` is the one card, by identifier or id, that a person asked for; turns of others that are open go on.
    """

    max_concurrent: int = 10
    max_concurrent_by_state: Mapping[str, int] = field(default_factory=dict)
    required_labels: tuple[str, ...] = ()
    assignee: str | None = None
    trusted_authors: tuple[str, ...] = ()
    requeue_seconds: float = 10.0
    only: str | None = None


@dataclass(frozen=True, slots=True)
class View:
    """Everything that a plan looks at; the same view gives the same plan. `doubtful`: only a closed card counts."""

    board: Board
    records: Records
    contract: StateContract
    limits: Limits
    now: datetime
    doubtful: bool = False

    def in_doubt(self) -> View:
        """The same view of a board that seems to be wrong: a column renamed, a scope lost, all dragged at once."""
        return replace(self, doubtful=True)


def wait_of(item: Item, record: ItemRecord | None, view: View) -> Wait | None:
    """The first rule, strongest first, that keeps this item from starting; None when only a slot is missing."""
    if not view.contract.is_active(item.state):
        return Wait(NotDispatched.NOT_ACTIVE, item.state)
    if record is not None and record.turn is not None:
        return Wait(NotDispatched.RUNNING, record.turn.status.value)
    return (
        not_routable(item, view.limits)
        or _not_asked_for(item, view.limits)
        or _blocked(item, view.contract)
        or _busy(record, view)
        or _held(record, view.records)
        or _unreachable(record)
        or _doubted(view)
        or _resting(view)
    )


def wants(item: Item, contract: StateContract, limits: Limits) -> Wait | None:
    """Why the card itself, whatever our records say, is not to be worked on; asked again at the last moment (CS-14)."""
    if not contract.is_active(item.state):
        return Wait(NotDispatched.CHANGED_ON_REREAD, item.state)
    return not_routable(item, limits) or _blocked(item, contract)


def not_routable(item: Item, limits: Limits) -> Wait | None:
    """Why an active item is not ours to work on; it also stops a turn that is under way (RC-04)."""
    if not item.dispatchable:
        return Wait(NotDispatched.NOT_DISPATCHABLE)
    for label in limits.required_labels:
        if label not in item.labels:
            return Wait(NotDispatched.LABEL_MISSING, label)
    if limits.assignee is not None and (item.assignee is None or fold(item.assignee) != fold(limits.assignee)):
        return Wait(NotDispatched.ASSIGNEE_MISMATCH, item.assignee or "nobody")
    if limits.trusted_authors and fold(item.author or "") not in map(fold, limits.trusted_authors):
        return Wait(NotDispatched.AUTHOR_UNTRUSTED, item.author or "unknown")
    return None


def is_called(item: Item, key: str) -> bool:
    """Whether a person who types `key` means this card."""
    return key == item.id or fold(key) == fold(item.identifier)


def may_hide_our_move(record: ItemRecord, board: Board) -> bool:
    """Whether what the board shows of the item may be older than a move of ours, or may become so at any moment."""
    return record.unsent_move or (record.moved_at is not None and board.began_at <= record.moved_at)


def rank(item: Item) -> tuple[int, float, str, str]:
    """The order of dispatch (CS-11 to 13): priority 1 to 4, then the rest as one bucket; age; identifier; id."""
    urgent = item.priority if item.priority is not None and 1 <= item.priority <= _LOWEST_PRIORITY else _UNRANKED
    age = item.created_at.timestamp() if item.created_at is not None else _NO_AGE
    return urgent, age, item.identifier, item.id


def room(view: View) -> int:
    """How many more turns the workflow may have open: a single one while it is found out whether a rest is over."""
    cap = view.limits.max_concurrent if view.records.rest is None else 1
    return max(cap - view.records.open_turns(), 0)


def fill_slots(candidates: Iterable[Item], view: View, *, worker_slots: int, reasons: dict[str, Wait]) -> list[Item]:
    """Give the free slots to the candidates in order of rank; every one that gets none gets its reason in `reasons`.

    A card whose work lies on one host needs a slot there.
    """
    free = room(view)
    full_is = _NO_SLOT_TOTAL if view.records.rest is None else _TRIED_FIRST
    taken = view.records.open_turns_by_state(view.board)
    free_on = Counter(view.records.free_on)
    free_on.subtract(host for record in view.records.items.values() if (host := queued_for(record)) is not None)
    chosen: list[Item] = []
    for item in sorted(candidates, key=rank):
        full = len(chosen) >= free
        host = host_for(item, view)
        wait = full_is if full else _no_slot(item, taken, view.limits, workers=worker_slots - len(chosen))
        if wait is None and host is not None and free_on[host] <= 0:
            wait = Wait(NotDispatched.NO_WORKER_SLOT, f"{ON_HOST}{host}")
        if wait is None:
            chosen.append(item)
            free_on[host or ""] -= 1
            taken[fold(item.state)] += 1
        else:
            reasons[item.id] = wait
    return chosen


_LOWEST_PRIORITY = 4
_UNRANKED = _LOWEST_PRIORITY + 1
# An item without a date comes after every dated one.
_NO_AGE = float("inf")

_NO_SLOT_TOTAL = Wait(NotDispatched.NO_SLOT_TOTAL)
_TRIED_FIRST = Wait(NotDispatched.QUOTA, "one card is tried first")
NO_WORKER_SLOT = Wait(NotDispatched.NO_WORKER_SLOT)


# How the wait for a slot of one host begins, by which a worker's beat tells whether a slot of its own is meant.
ON_HOST = "on host "


def host_for(item: Item, view: View) -> str | None:
    """The only host whose workers may take the item's next turn."""
    record = view.records.items.get(item.id)
    return home.host_of(record.home) if record is not None else None


def queued_for(record: ItemRecord) -> str | None:
    """The host a slot of which the item's queued turn waits for."""
    turn = record.turn
    return turn.for_host if turn is not None and turn.status is TurnStatus.QUEUED else None


def _unreachable(record: ItemRecord | None) -> Wait | None:
    why = home.why_unreachable(record.home) if record is not None else None
    return Wait(NotDispatched.WORKSPACE_UNREACHABLE, why) if why is not None else None


def _blocked(item: Item, contract: StateContract) -> Wait | None:
    if not item.blockers_readable:
        return Wait(NotDispatched.BLOCKERS_UNREADABLE)
    for blocker in item.blocked_by:
        if blocker.state is None or not contract.is_terminal(blocker.state):
            return Wait(NotDispatched.BLOCKED_BY, blocker.identifier)
    return None


def _not_asked_for(item: Item, limits: Limits) -> Wait | None:
    if limits.only is None or is_called(item, limits.only):
        return None
    return Wait(NotDispatched.NOT_DISPATCHABLE, f"only {limits.only} is run now")


def _busy(record: ItemRecord | None, view: View) -> Wait | None:
    if record is None:
        return None
    if may_hide_our_move(record, view.board):
        return Wait(NotDispatched.UNSENT_MOVE, "" if record.unsent_move else "the board is older than our last move")
    if record.task is not None and record.task.due_at is not None and record.task.due_at > view.now:
        return Wait(NotDispatched.NOT_DUE, record.task.due_at.isoformat(timespec="seconds"))
    return None


def _held(record: ItemRecord | None, records: Records) -> Wait | None:
    if records.held_fleet is not None:
        return Wait(NotDispatched.HELD_FLEET, records.held_fleet)
    if records.held_workflow is not None:
        return Wait(NotDispatched.HELD_WORKFLOW, records.held_workflow)
    if record is not None and record.held is not None:
        return Wait(NotDispatched.HELD_ITEM, record.held)
    if records.contract_broken:
        return Wait(NotDispatched.CONTRACT_BROKEN)
    return None


def _doubted(view: View) -> Wait | None:
    """Nothing starts from a board that this very look does not believe; the hold that says so is set with the plan."""
    return Wait(NotDispatched.HELD_WORKFLOW, "the mass-cancel brake") if view.doubtful else None


def _resting(view: View) -> Wait | None:
    rest = view.records.rest
    if rest is None or rest.is_over(view.now):
        return None
    return Wait(NotDispatched.QUOTA, f"{rest.why}; until {rest.until.isoformat(timespec='seconds')}")


def _no_slot(item: Item, taken: Mapping[str, int], limits: Limits, *, workers: int) -> Wait | None:
    """Why an item gets none of the slots that the workflow still has; `taken` counts by state, `workers` are left."""
    cap = limits.max_concurrent_by_state.get(fold(item.state))
    if cap is not None and taken.get(fold(item.state), 0) >= cap:
        return Wait(NotDispatched.NO_SLOT_STATE, item.state)
    if workers <= 0:
        return NO_WORKER_SLOT
    return None
