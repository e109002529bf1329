"""Blockers whose states a listing did not bring: which cards hang on them, and whose turn it is to have them read.

Reads are bounded for each tick (CS-10): what is left out is next in the ticks after it, so that every card is reached.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from orchestrator.domain.contract import StateContract
from orchestrator.domain.item import Item
from orchestrator.domain.records import Board, Records
from orchestrator.domain.select import Limits, not_routable

# How many blockers one tick reads: a call or two of a hosted tracker. A card with more of them is read alone.
MOST_READS = 50


def unread(item: Item) -> tuple[str, ...]:
    """The ids of the item's blockers whose state is not known."""
    return tuple(blocker.id for blocker in item.blocked_by if blocker.state is None)


def filled(item: Item, known: Mapping[str, Item]) -> Item:
    """The item with the states of those of its blockers that are known; a known one that is missing stays unknown."""
    if not unread(item):
        return item
    blockers = tuple(
        replace(blocker, state=known[blocker.id].state) if blocker.state is None and blocker.id in known else blocker
        for blocker in item.blocked_by
    )
    return replace(item, blocked_by=blockers)


def needy(board: Board, records: Records, *, contract: StateContract, limits: Limits) -> tuple[Item, ...]:
    """The items that only unread blockers keep from being looked at further, in the order of their ids."""
    hanging = (item for item in board.items.values() if unread(item) and _is_open(item, contract))
    hanging = (item for item in hanging if not_routable(item, limits) is None and not _is_running(item, records))
    return tuple(sorted(hanging, key=lambda item: item.id))


def window(items: Sequence[Item], after: str | None, *, most: int = MOST_READS) -> tuple[Item, ...]:
    """As many of `items` (by id) as `most` reads are enough for, one at least: those behind `after`, then round."""
    start = bisect.bisect_right([item.id for item in items], after) if after is not None else 0
    return tuple(_within((*items[start:], *items[:start]), most))


def _within(items: Sequence[Item], most: int) -> Iterator[Item]:
    ids: set[str] = set()
    for item in items:
        ids.update(unread(item))
        if ids and len(ids) > most and item is not items[0]:
            return
        yield item


def _is_running(item: Item, records: Records) -> bool:
    record = records.items.get(item.id)
    return record is not None and record.turn is not None


def _is_open(item: Item, contract: StateContract) -> bool:
    """Whether the item is active, and nothing that is known already keeps it back."""
    states = (blocker.state for blocker in item.blocked_by)
    known = all(state is None or contract.is_terminal(state) for state in states)
    return known and item.blockers_readable and contract.is_active(item.state)
