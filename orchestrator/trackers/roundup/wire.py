"""The records of a Roundup tracker as its REST interface gives them: collections, links, and what makes no sense."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orchestrator.domain.records import Malformed
from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.rest import Call

PAGE_SIZE = 50

Record = Mapping[str, Any]


def collection(call: Call, name: str, query: Mapping[str, object]) -> list[Record]:
    """A whole collection; one that was cut off is an error and not a short one."""
    found, total = _found(call, name, query)
    if total != len(found):
        raise _cut_off(name, total)
    return found


def page(call: Call, name: str, number: int, *, size: int) -> list[str]:
    """The ids on one page of everything, pages counted from 1, in the order of ids. Raises TrackerError."""
    query = {"@sort": "id", "@page_size": size, "@page_index": number}
    found, total = _found(call, name, query)
    if not isinstance(total, int) or total < (number - 1) * size + len(found):
        raise _cut_off(name, total)
    return [str(one["id"]) for one in found]


def data(body: object) -> Record:
    """What an answer is about. Raises TrackerError (PAYLOAD)."""
    found = body.get("data") if isinstance(body, Mapping) else None
    if not isinstance(found, Mapping):
        raise TrackerError(TrackerFault.PAYLOAD, "the answer has no 'data'; is this the address of a Roundup tracker?")
    return found


def sorted_out(records: Iterable[Record], *, strictly: bool = False) -> tuple[list[Record], tuple[Malformed, ...]]:
    """The records that make sense, and what is wrong with the others; strictly: raises PAYLOAD for one of those."""
    readable, malformed = list[Record](), list[Malformed]()
    for record in records:
        lacking = [key for key in ("title", "status") if not record.get(key)]
        if not lacking:
            readable.append(record)
            continue
        bad = Malformed(f"issue{record['id']}", f"the issue has no {' and no '.join(lacking)}")
        if strictly:
            raise TrackerError(TrackerFault.PAYLOAD, f"{bad.id}: {bad.reason}")
        malformed.append(bad)
    return readable, tuple(malformed)


def name(link: object) -> str | None:
    """What a link leads to is called."""
    if not isinstance(link, Mapping):
        return None
    return next((str(link[key]) for key in ("username", "name") if link.get(key)), None)


def numbers(links: Iterable[Mapping[str, str] | str]) -> list[str]:
    """The numbers of what links lead to, in their order."""
    return sorted((link if isinstance(link, str) else link["id"] for link in links), key=int)


def batches(ids: Sequence[str]) -> list[Sequence[str]]:
    """The same in parts that a request has room for."""
    return [ids[start : start + PAGE_SIZE] for start in range(0, len(ids), PAGE_SIZE)]


def _found(call: Call, name: str, query: Mapping[str, object]) -> tuple[list[Record], object]:
    told = data(call.get(name, query).body)
    found, total = told.get("collection"), told.get("@total_size")
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise _cut_off(name, total)
    return found, total


def _cut_off(name: str, total: object) -> TrackerError:
    message = f"{name}: the answer is not a whole collection (it says {total!r}); nothing of it is used"
    return TrackerError(TrackerFault.PAYLOAD, message)
