"""Goes over every issue of a Roundup tracker in the order of ids, a stretch at a time, whatever their status.

Roundup has pages and no cursor, and an issue that is retired moves all behind it forward. So a stretch begins on the
page where the last one ended, or on an earlier one while that begins too late: ids only grow, and none is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from orchestrator.ports.tracker import Standing, Stretch, TrackerError, TrackerFault
from orchestrator.rest import Rest
from orchestrator.trackers.roundup import wire
from orchestrator.trackers.roundup.wire import Record

# Ids come in one request, their records fifty in each: six requests a stretch.
STRETCH_SIZE = 200

_ISSUE = re.compile(r"issue([1-9][0-9]{0,17})")
_BEHIND = re.compile(r"([1-9][0-9]{0,17}):([0-9]{1,18})")


def stretch(rest: Rest, behind: str | None, known: Collection[str]) -> Stretch:
    """The issues behind `behind` ("page:id" of the last one seen). Raises TrackerError."""
    found = _BEHIND.fullmatch(behind or "1:0")
    if found is None:
        raise TrackerError(TrackerFault.CONFIG, f"{behind!r} is no place in the order of issues")
    page, last = int(found[1]), int(found[2])
    page, numbers = _page(rest, page, last)
    ended = len(numbers) < STRETCH_SIZE
    ahead = [number for number in numbers if int(number) > last]
    read = [one for batch in wire.batches(ahead) for one in _records(rest, batch)]
    readable, malformed = wire.sorted_out(read)
    there = {record["id"] for record in read}
    return Stretch(
        tuple(Standing(f"issue{one['id']}", f"issue{one['id']}", str(one["status"]["name"])) for one in readable),
        malformed,
        frozenset(one for one in known if _is_gone(one, there, last=last, upto=None if ended else int(ahead[-1]))),
        None if ended else f"{page}:{ahead[-1]}",
    )


def _page(rest: Rest, page: int, last: int) -> tuple[int, list[str]]:
    """The page that shows what comes right behind `last`, and its number."""
    call = rest.begin()
    numbers = wire.page(call, "issue", page, size=STRETCH_SIZE)
    while page > 1 and (not numbers or int(numbers[0]) > last):
        page -= 1
        numbers = wire.page(call, "issue", page, size=STRETCH_SIZE)
    if len(numbers) == STRETCH_SIZE and int(numbers[-1]) <= last:
        page += 1
        numbers = wire.page(call, "issue", page, size=STRETCH_SIZE)
    return page, numbers


def _records(rest: Rest, batch: Collection[str]) -> list[Record]:
    query = {"id": list(batch), "@fields": "title,status", "@verbose": 2, "@sort": "id"}
    return wire.collection(rest.begin(), "issue", query)


def _is_gone(item_id: str, there: Collection[str], *, last: int, upto: int | None) -> bool:
    """Whether an id belongs into this stretch and is not there; what is no issue's is gone with the last stretch."""
    named = _ISSUE.fullmatch(item_id)
    if named is None:
        return upto is None
    return last < int(named[1]) and (upto is None or int(named[1]) <= upto) and named[1] not in there
