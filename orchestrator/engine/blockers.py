"""Reads the states of blockers where a listing does not bring them: a few in each tick, and each card in its turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from orchestrator import telemetry
from orchestrator.domain import blockers
from orchestrator.domain.item import Item
from orchestrator.domain.records import Board, Records
from orchestrator.domain.workflow import Workflow
from orchestrator.ports.store import TickGrant
from orchestrator.ports.tracker import PASSING, Tracker, TrackerError


def on_board(
    tracker: Tracker, board: Board, records: Records, *, workflow: Workflow, grant: TickGrant
) -> tuple[Board, str | None]:
    """The board with the blockers that this tick reads; the id up to which it did, for the next one to go on behind.

    None for the id when there was nothing to read, nothing could be read, or only what was due was looked at.
    """
    if tracker.profile.blockers_have_states:
        return board, None
    items = {item_id: blockers.filled(item, board.items) for item_id, item in board.items.items()}
    board = replace(board, items=items)
    needy = blockers.needy(board, records, contract=workflow.contract, limits=workflow.limits)
    window = blockers.window(needy, grant.blockers_read_to if board.whole else None)
    if not window:
        return board, None
    window, found, passing = _read(tracker, window)
    for item in window:
        items[item.id] = replace(item, blockers_readable=False) if found is None else blockers.filled(item, found)
    return board, window[-1].id if board.whole and not passing else None


def of(tracker: Tracker, item: Item) -> Item:
    """The item with the states of all its blockers, read now. Raises TrackerError."""
    ids = blockers.unread(item)
    if not ids or tracker.profile.blockers_have_states:
        return item
    return blockers.filled(item, tracker.get_items(ids))


def _read(tracker: Tracker, window: tuple[Item, ...]) -> tuple[tuple[Item, ...], Mapping[str, Item] | None, bool]:
    """The items whose blockers were asked for, the blockers (None: no answer), and whether the fault may pass.

    One blocker that cannot be read fails the whole call: then half of the items are asked for, so that it keeps back
    the card that names it and no other.
    """
    while True:
        ids = tuple(dict.fromkeys(blocker for item in window for blocker in blockers.unread(item)))
        try:
            return window, tracker.get_items(ids), False
        except TrackerError as error:
            passing = error.fault in PASSING
            if passing or len(window) == 1:
                telemetry.service_failed("tracker", error=error)
                return window, None, passing
            window = window[: len(window) // 2]
