"""The pure plan over boards of growing size: linear, and under 10 microseconds an item. Beside it: sorting the same board."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bench import measure
from orchestrator.domain import reconcile, select
from orchestrator.domain.contract import StateContract
from orchestrator.domain.item import Item
from orchestrator.domain.records import Board, ItemRecord, Records, TaskRecord
from orchestrator.domain.select import Limits

CONTRACT = StateContract(("Todo", "In Progress"), ("Done",), "In Progress", "In Review")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SIZES = (1_000, 10_000, 100_000)


def run() -> None:
    """Measure and print."""
    lines = []
    for size in SIZES:
        board, records = _world(size)
        ours, sort = measure.interleaved(
            lambda board=board, records=records: measure.seconds(  # type: ignore[misc]
                lambda: reconcile.plan(board, records, CONTRACT, limits=Limits(), now=NOW)
            ),
            lambda board=board: measure.seconds(lambda: sorted(board.items.values(), key=select.rank)),  # type: ignore[misc]
        )
        each = f"{ours / size * 1e6:.2f} us an item, {ours * 1e3:.1f} ms"
        lines.append(measure.Line(f"plan, {size:,} items", each, f"sorting them: {sort / size * 1e6:.2f} us", "10 us"))
    measure.report("plan: what one tick should do", lines)


def _world(size: int) -> tuple[Board, Records]:
    """A board of active items, one in ten with an open task in backoff, one in ten blocked by another."""
    items = {f"i{number}": _item(number) for number in range(size)}
    records = {
        f"i{number}": ItemRecord(
            number, f"i{number}", f"B-{number}", 1, 1, task=TaskRecord(None, NOW + timedelta(seconds=9))  # type: ignore[arg-type]
        )
        for number in range(0, size, 10)
    }
    return Board(items, NOW), Records(records, free_slots=10)


def _item(number: int) -> Item:
    created = NOW - timedelta(minutes=number)
    return Item(f"i{number}", f"B-{number}", f"Item {number}", "Todo", priority=number % 6, created_at=created)
