"""The pure plan over boards of growing size: linear, and under ten microseconds an item.

Beside it stands sorting the same board by rank: the least that anybody does who wants to start the most urgent first.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from bench import measure
from bench.ground import Ground
from bench.measure import Line
from orchestrator.domain import reconcile, select
from orchestrator.domain.contract import StateContract
from orchestrator.domain.item import Blocker, Item
from orchestrator.domain.records import Board, ItemRecord, Records, TaskRecord
from orchestrator.domain.select import Limits

TITLE = "plan: what one tick should do; beside it: sorting the same board by rank"
BOUND_SECONDS = 10e-6

CONTRACT = StateContract(("To Do", "In Progress"), ("Done",), "In Progress", "In Review")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Size:
    """How many items on each board, and how many pairs."""

    boards: tuple[int, ...]
    pairs: int = measure.PAIRS


FULL = Size((1_000, 10_000, 100_000))
QUICK = Size((100,), pairs=1)


def run(size: Size, _: Ground) -> list[Line]:
    """Measure each board; needs no servers."""
    return [_measured(items, size.pairs) for items in size.boards]


def _measured(items: int, pairs: int) -> Line:
    board, records = _board(items), _records(items)

    def ours() -> float:
        return measure.seconds(lambda: reconcile.plan(board, records, CONTRACT, limits=Limits(), now=NOW))

    def theirs() -> float:
        return measure.seconds(lambda: sorted(board.items.values(), key=select.rank))

    found = measure.interleaved(ours, theirs, pairs=pairs)
    return Line(
        f"plan, {items:,} items",
        f"{found.ours / items * 1e6:.2f} us an item",
        beside=f"{found.theirs / items * 1e6:.2f} us an item",
        ratio=f"{found.ours / found.theirs:.2f}",
        bound=f"< {BOUND_SECONDS * 1e6:.0f} us an item",
        is_held=found.ours / items < BOUND_SECONDS,
    )


def _board(items: int) -> Board:
    """Active items; one in ten is blocked by another."""
    return Board({f"i{number}": _item(number) for number in range(items)}, NOW)


def _item(number: int) -> Item:
    blockers = (Blocker("i1", "B-1", "To Do"),) if number % 10 == 1 else ()
    return Item(
        f"i{number}",
        f"B-{number}",
        f"Item {number}",
        "To Do",
        priority=number % 6,
        blocked_by=blockers,
        created_at=NOW - timedelta(minutes=number),
    )


def _records(items: int) -> Records:
    """One item in ten has an open task in backoff."""
    task = TaskRecord(UUID(int=0), NOW + timedelta(seconds=9))
    rows = (ItemRecord(number, f"i{number}", f"B-{number}", 1, 1, task=task) for number in range(0, items, 10))
    return Records({row.id: row for row in rows}, free_slots=10)
