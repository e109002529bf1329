"""Looks at a card before and after the work: one that may be older than what was seen already is taken once more.

Everything that a turn decides hangs on them: from where it may move the card, and whether a person took it away. A
look at the past would let finished work end without a hand-off, and then run again.
"""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.domain.contract import StateContract, fold
from orchestrator.domain.item import Item
from orchestrator.domain.sighting import Age, Sighting
from orchestrator.ports.tracker import Tracker, TrackerError, TrackerFault

Look = Callable[[], Item | None]


def by_id(tracker: Tracker, item_id: str) -> Item | None:
    """The card, None when it is not on the board. Raises TrackerError."""
    return tracker.get_items([item_id]).get(item_id)


def at_start(look: Look, seen: Sighting) -> Item | None:
    """The card before a turn is opened, or begins; `seen` is how it was planned, or opened. None: not on the board.

    Raises TrackerError where the tracker fails, or shows the past: nothing begins, and the next tick looks anew.
    """
    item = look()
    return item if item is None or seen.age(item) is Age.LATER else _once_more(look, item, seen)


def at_end(look: Look, begun: Sighting, contract: StateContract) -> Item | None:
    """The card after the work, `begun` being what it began from; None: not on the board. Raises TrackerError.

    That the card stands where its run began, or in progress, decides nothing, and is believed at once.
    """
    item = look()
    if item is None or _is_expected(item, begun, contract) or begun.age(item) is Age.LATER:
        return item
    return _once_more(look, item, begun)


def last(begun: Sighting, end: Item | None, contract: StateContract) -> Sighting:
    """What is known of the card once the work is done; `end` is what `at_end` showed, None where that failed."""
    if end is None or _is_expected(end, begun, contract):
        return begun.then(end)
    return Sighting.of(end)


def _is_expected(item: Item, begun: Sighting, contract: StateContract) -> bool:
    return fold(item.state) in {fold(begun.state), fold(contract.in_progress or begun.state)}


def _once_more(look: Look, first: Item, seen: Sighting) -> Item | None:
    """A second look; what two looks say that no stamp speaks against is believed."""
    second = look()
    if second is None:
        return None
    age = seen.age(second)
    if age is Age.LATER or (age is Age.UNSURE and fold(first.state) == fold(second.state)):
        return second
    message = f"the tracker shows the card in {second.state}, and it stood in {seen.state} at a later time"
    raise TrackerError(TrackerFault.API, message)
