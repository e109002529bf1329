"""What another contract would change, item by item: the same board and records planned under both, and compared.

Pure, and so without a consequence: a person may ask as often as they like before they save the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from orchestrator.domain import reconcile
from orchestrator.domain.contract import Problem, StateContract, fold
from orchestrator.domain.reconcile import Dispatch, Plan
from orchestrator.domain.records import Board, ItemRecord, Records
from orchestrator.domain.select import Limits, NotDispatched, View
from orchestrator.domain.turn import StopReason


class Change(Enum):
    """What would become of an item; the plan under the proposed contract says so, the one in force does not."""

    START = "start"  # it would get a turn, or wait only for a slot
    STOP = "stop"  # its turn or task would be ended
    LEAVE = "leave"  # it would not start any more
    CLEAN = "clean"  # its state would be terminal: its work is over, and its workspace may go
    SLOT = "slot"  # it would wait for a slot, or get one, or count under another cap


@dataclass(frozen=True, slots=True)
class Difference:
    """One item that another contract changes, where it stands, and why, in words."""

    change: Change
    item: str
    identifier: str
    state: str
    why: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What a plan is made under: a contract, its limits, and what the board lacks for it now."""

    contract: StateContract
    limits: Limits
    lacking: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every item that the proposed terms would change; `braked`: so many turns that the tick would hold itself."""

    differences: tuple[Difference, ...]
    lacking: tuple[Problem, ...]
    braked: bool


def compare(board: Board, records: Records, running: Terms, *, proposed: Terms) -> Comparison:
    """What `proposed` would change, in the order of the list of changes, and in the board's order within one."""
    before, after = (_Side(board, records, terms) for terms in (running, proposed))
    found = [each for item_id in _items(board, records) for each in _differences(item_id, before, after)]
    order = list(Change)
    found.sort(key=lambda difference: order.index(difference.change))
    return Comparison(tuple(found), proposed.lacking, braked=after.plan.mass_cancel and not records.braked)


_SLOTS = frozenset({NotDispatched.NO_SLOT_TOTAL, NotDispatched.NO_SLOT_STATE, NotDispatched.NO_WORKER_SLOT})


class _Side:
    """The plan under some terms, asked about one item at a time."""

    def __init__(self, board: Board, records: Records, terms: Terms) -> None:
        self.board, self.terms = board, terms
        self.records = replace(records, contract_broken=bool(terms.lacking))
        self.plan: Plan = reconcile.plan(board, self.records, terms.contract, limits=terms.limits, now=board.began_at)
        self.starts = {step.item.id for step in self.plan.actions if isinstance(step, Dispatch)}
        self.stops = dict(self._stops())

    def _stops(self) -> Iterator[tuple[str, StopReason]]:
        """What the board does not want, also where the brake would keep the tick from stopping it at once."""
        view = View(self.board, self.records, self.terms.contract, self.terms.limits, self.board.began_at)
        for record in self.records.live():
            stop = reconcile.unwanted(record, view) if record.turn or record.task else None
            if stop is not None and (stop is StopReason.TERMINAL_SEEN or not self.terms.lacking):
                yield record.id, stop

    def is_eligible(self, item_id: str) -> bool:
        """Whether the item starts, or would if there were a slot."""
        return item_id in self.starts or self.waits_for(item_id) is not None

    def waits_for(self, item_id: str) -> NotDispatched | None:
        """The kind of slot that the item lacks, None when it lacks none."""
        wait = self.plan.reasons.get(item_id)
        return wait.reason if wait is not None and wait.reason in _SLOTS else None

    def why_not(self, item_id: str) -> str:
        """What keeps the item from starting, in words."""
        wait = self.plan.reasons.get(item_id)
        if wait is None:
            return ""
        return f"{wait.reason.value}: {wait.detail}" if wait.detail else wait.reason.value

    def cap(self, state: str) -> int | None:
        """The cap of a state of its own, None where the whole workflow's counts."""
        return self.terms.limits.max_concurrent_by_state.get(fold(state))


def _items(board: Board, records: Records) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*board.items, *(record.id for record in records.live()))))


def _differences(item_id: str, before: _Side, after: _Side) -> Iterator[Difference]:
    """At most one change of an item's work, and beside it that it would be cleaned up."""
    record, item = before.records.items.get(item_id), before.board.items.get(item_id)
    state = item.state if item is not None else ""
    identifier = item.identifier if item is not None else record.identifier if record is not None else item_id

    def told(change: Change, why: str) -> Difference:
        return Difference(change, item_id, identifier, state, why)

    changed = _change(item_id, before, after)
    if changed is not None:
        yield told(*changed)
    elif (slot := _slot(item_id, before, after, record=record, state=state)) is not None:
        yield told(Change.SLOT, slot)
    if item is not None and after.terms.contract.is_terminal(state) and not before.terms.contract.is_terminal(state):
        yield told(Change.CLEAN, f"{state!r} would be terminal")


def _change(item_id: str, before: _Side, after: _Side) -> tuple[Change, str] | None:
    if item_id in after.stops and item_id not in before.stops:
        return Change.STOP, after.stops[item_id].value
    if after.is_eligible(item_id) and not before.is_eligible(item_id):
        waits = after.waits_for(item_id)
        return Change.START, f"as soon as there is a slot ({waits.value})" if waits else "at once"
    if before.is_eligible(item_id) and not after.is_eligible(item_id):
        return Change.LEAVE, after.why_not(item_id)
    return None


def _slot(item_id: str, before: _Side, after: _Side, *, record: ItemRecord | None, state: str) -> str | None:
    """How its place among the slots changes: of an item that starts under both, or that has an open turn."""
    was, would = before.waits_for(item_id), after.waits_for(item_id)
    if was is not would:
        return f"{was.value if was else 'starts'} → {would.value if would else 'starts'}"
    if record is not None and record.turn is not None and before.cap(state) != after.cap(state):
        return f"cap of {state!r}: {_shown(before.cap(state))} → {_shown(after.cap(state))}"
    return None


def _shown(cap: int | None) -> str:
    return "the workflow's" if cap is None else str(cap)
