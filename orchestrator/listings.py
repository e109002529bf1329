"""What an adapter makes of a server's listings: whole ones, records that make sense, a walk over numbered pages.

The walk is for a collection that has pages and no cursor, and whose records are numbered as they are made. A record
that is deleted moves all behind it forward, onto earlier pages; numbers only grow. So nothing is passed over if the
page before the one that was read still ends with what was seen already, when it is looked at *afterwards*.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.domain.contract import fold
from orchestrator.domain.records import Malformed
from orchestrator.ports.tracker import Standing, Stretch, TrackerError, TrackerFault

Record = Mapping[str, Any]

# What is wrong with a record; None where it makes sense.
Wrong = Callable[[Record], Malformed | None]

_PLACE = re.compile(r"([0-9]{1,18}):([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Numbered:
    """A collection of cards in the order of their numbers, `size` to a page.

    `page` gives the numbers on a page, counted from 1; `cards` the cards with these numbers that are still there, and
    the ones that make no sense; `number` that of an id, None for an id that no card of this collection can have.
    """

    size: int
    page: Callable[[int], Sequence[int]]
    cards: Callable[[Sequence[int]], tuple[Sequence[Standing], Sequence[Malformed]]]
    number: Callable[[str], int | None]


def stretch(numbered: Numbered, behind: str | None, known: Collection[str]) -> Stretch:
    """The cards behind `behind`, which is "page:number" of the last one seen. Raises TrackerError."""
    found = _PLACE.fullmatch(behind or "0:0")
    if found is None:
        raise TrackerError(TrackerFault.CONFIG, f"{behind!r} is no place in the order of the tracker's cards")
    seen_page, last = int(found[1]), int(found[2])
    page, numbers = _next_page(numbered, seen_page, last)
    ahead = [number for number in numbers if number > last]
    upto = max(ahead, default=last) if len(numbers) == numbered.size else None
    cards, malformed = numbered.cards(ahead)
    there = {card.id for card in cards} | {bad.id for bad in malformed}
    missing = {item_id: numbered.number(item_id) for item_id in known if item_id not in there}
    return Stretch(
        tuple(cards),
        tuple(malformed),
        frozenset(item_id for item_id, number in missing.items() if _is_due(number, last=last, upto=upto)),
        None if upto is None else f"{page}:{upto}",
    )


def whole(name: str, found: object, expected: object) -> list[Record]:
    """The records of an answer that are as many as it says itself; else it was cut off. Raises TrackerError."""
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found) or len(found) != expected:
        message = f"{name}: the answer is not a whole collection (it says {expected!r}); nothing of it is used"
        raise TrackerError(TrackerFault.PAYLOAD, message)
    return found


def left(total: object, *, page: int, size: int) -> int | None:
    """How many of `total` records a page shows, counted from 1; None where that is no number."""
    return min(max(total - (page - 1) * size, 0), size) if isinstance(total, int) else None


def spelled(state: str, known: Iterable[str]) -> str:
    """A state as the tracker spells it; raises TrackerError (CONFIG) where it has none of that name."""
    names = list(known)
    for name in names:
        if fold(name) == fold(state):
            return name
    message = (
        f"the tracker has no state {state!r}, it has {', '.join(map(repr, names))}; add it or correct the workflow"
    )
    raise TrackerError(TrackerFault.CONFIG, message)


def fingerprint(record: Record) -> str:
    """By what a later look tells whether anything in a record changed, whatever address it was read at."""
    shown = {key: value for key, value in record.items() if key not in {"id", "link"}}
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:24]


def batches(ids: Sequence[str], size: int) -> list[Sequence[str]]:
    """The same in parts that one request has room for."""
    return [ids[start : start + size] for start in range(0, len(ids), size)]


def sorted_out(records: Iterable[Record], wrong: Wrong) -> tuple[list[Record], tuple[Malformed, ...]]:
    """The records that make sense, and what is wrong with the others: in a listing one spoils nothing but itself."""
    found = [(record, wrong(record)) for record in records]
    return [record for record, bad in found if bad is None], tuple(bad for _, bad in found if bad is not None)


def sound(records: Iterable[Record], wrong: Wrong) -> list[Record]:
    """Records that were asked for by id; one that makes no sense is neither gone nor fine. Raises TrackerError."""
    readable, malformed = sorted_out(records, wrong)
    if malformed:
        raise TrackerError(TrackerFault.PAYLOAD, f"{malformed[0].id}: {malformed[0].reason}")
    return readable


def _next_page(numbered: Numbered, seen_page: int, last: int) -> tuple[int, Sequence[int]]:
    """The page that shows what comes right behind `last`, once seen on `seen_page`, and its number."""
    page = seen_page + 1
    numbers = numbered.page(page)
    while page > 1:
        before = numbered.page(page - 1)
        if len(before) == numbered.size and before[-1] <= last:
            break
        page, numbers = page - 1, before
    return page, numbers


def _is_due(number: int | None, *, last: int, upto: int | None) -> bool:
    """Whether a card of that number belongs into this stretch; what can be no card there is due in the last one."""
    if number is None:
        return upto is None
    return last < number and (upto is None or number <= upto)
