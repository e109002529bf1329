"""A Roundup tracker (https://www.roundup-tracker.org) as the board, over its REST interface.

Options: `endpoint`, the tracker's address in a browser; `api_key`, `user:password` of an account of its own;
`blocked_by`, the property that links to what an issue waits for; `single_threaded`, whether it serves one at a time.

A card is an issue, named `issue7` as Roundup itself names it; its state is its status, its labels are its keywords,
its description is its creator's first message. A write bears the ETag of what was just read, so a person's change in
between wins. The hidden key of a comment is the message's `messageid`, which no text can forge.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from orchestrator import listings, rest
from orchestrator.domain.contract import fold
from orchestrator.domain.item import Blocker, Item
from orchestrator.domain.records import Malformed
from orchestrator.listings import Record
from orchestrator.ports import tracker as door
from orchestrator.ports.tracker import Moved, NotMoved, Page, PostedComment, Stretch, TrackerError, TrackerFault
from orchestrator.rest import Call, Rest

KIND = "roundup"
# So many records are asked for in one request; of a walk, whose ids come in one, four such requests are a stretch.
PAGE_SIZE = 50
STRETCH_SIZE = 200

_FIELDS = "title,status,keyword,priority.order,assignedto,creator,messages,activity,creation"
_TIME = "%Y-%m-%d.%H:%M:%S"
_MESSAGE = "author,content,date,messageid"
_VERBOSE = 3  # what a link leads to is named, and a message comes with its text
_NOTES = (
    "A write is conditional on the ETag. Of writes in one instant more than one may pass: best effort, unless the "
    "server answers one request at a time (`single_threaded`). Its own rules may refuse a move; a person is asked."
)
_OURS = re.compile(r"<(\S+)\.issue[0-9]+@stationkeeper>")
_ID = re.compile(r"issue([1-9][0-9]{0,17})")


def connect(options: Mapping[str, object]) -> door.Tracker:
    """Open the tracker at option `endpoint`; raises TrackerError (CONFIG) and asks the server nothing yet."""
    base = str(options.get("endpoint") or "").rstrip("/")
    origin = rest.origin(base, "https://issues.example.org/tracker/")
    user, password = rest.login(str(options.get("api_key") or ""))
    # Roundup refuses what a foreign page could send: these three say that no browser was tricked.
    headers = {"X-Requested-With": "stationkeeper", "Origin": origin, "Referer": f"{base}/"}
    # 409 is a detector's refusal and passes by no waiting; 412 is an ETag that is not the card's any more.
    server = Rest(f"{base}/rest/data/", headers, (user, password), {409: TrackerFault.PAYLOAD})
    serial = options.get("single_threaded") is True
    return RoundupTracker(server, base, user, blocked_by=str(options.get("blocked_by") or ""), serial=serial)


@dataclass(frozen=True, slots=True)
class RoundupTracker:
    """One Roundup tracker as a board; threads may share it. `user` writes our comments, `serial`: its moves compare."""

    rest: Rest
    base: str
    user: str
    blocked_by: str = ""
    serial: bool = False

    @property
    def fields(self) -> str:
        """What is asked of an issue."""
        return f"{_FIELDS},{self.blocked_by}" if self.blocked_by else _FIELDS

    @property
    def profile(self) -> door.Profile:
        """What a Roundup tracker can do."""
        scope = f"{KIND}:{self.base}"
        return door.Profile(KIND, scope, conditional_moves=self.serial, edits_comments=True, notes=_NOTES)

    def states(self) -> tuple[str, ...]:
        """The names of the statuses, in the tracker's order."""
        return tuple(_statuses(self.rest.begin()))

    def list_items(self, states: Sequence[str]) -> Iterator[Page]:
        """Every issue in one of `states` in the order of ids; one without a status is told as malformed.

        The ids come in one answer and the issues by id, so that one that moves meanwhile shifts no other off a page.
        """
        if not states:
            return
        call, wanted = self.rest.begin(), frozenset(map(fold, states))
        ids = [number for name, number in _statuses(call).items() if fold(name) in wanted]
        query = {"status": ",".join([*ids, "-1"]), "@sort": "id"}
        found = [record["id"] for record in _collection(call, "issue", query)]
        for batch in listings.batches(found, PAGE_SIZE) or [()]:
            readable, malformed = listings.sorted_out(self._records(self.rest.begin(), batch), _wrong)
            here = [record for record in readable if fold(record["status"]["name"]) in wanted]
            yield Page(tuple(self._items(self.rest.begin(), here)), malformed)

    def get_items(self, ids: Sequence[str]) -> Mapping[str, Item]:
        """The issues as they are now; one that was retired is not there."""
        items: dict[str, Item] = {}
        numbers = [str(number) for number in map(_number, dict.fromkeys(ids)) if number]
        for batch in listings.batches(numbers, PAGE_SIZE):
            call = self.rest.begin()
            readable = listings.sound(self._records(call, batch), _wrong)
            items |= {item.id: item for item in self._items(call, readable)}
        return items

    def walk(self, behind: str | None, known: Collection[str]) -> Stretch:
        """The next issues in the order of their ids, whatever their status."""
        page = functools.partial(_page, self.rest.begin())
        return listings.stretch(listings.Numbered(STRETCH_SIZE, page, self._standings, _number), behind, known)

    def comments(self, item_id: str) -> tuple[PostedComment, ...]:
        """The messages of an issue, oldest first."""
        call = self.rest.begin()
        _, record = self._there(call, item_id)
        return tuple(
            PostedComment(_name(said["author"]), _text(said), key=_key(said), created_at=_instant(said.get("date")))
            for said in _by_number(call, "msg", _numbers(record["messages"]), fields=_MESSAGE)
        )

    def move(self, item_id: str, to: str, *, only_from: Sequence[str], revision: str | None) -> Moved | NotMoved:
        """Set the status under the ETag of what this very call has read; CONFLICT when somebody was quicker."""
        call = self.rest.begin()
        statuses = _statuses(call)
        state = listings.spelled(to, statuses)
        there = self._find(call, item_id)
        if there is None:
            return NotMoved(None)
        etag, record = there
        found = str(record["status"]["name"])
        if fold(found) not in set(map(fold, only_from)) or revision not in {None, listings.fingerprint(record)}:
            return NotMoved(found)
        if fold(found) != fold(state):
            answer = call.send("PATCH", f"issue/{record['id']}", body={"status": statuses[state]}, etag=etag)
            if _data(answer.body).get("attribute", {}).get("status") != statuses[state]:  # a detector rewrote it
                raise TrackerError(TrackerFault.PAYLOAD, f"the tracker's own rules did not put {item_id} in {state!r}")
        return Moved()

    def comment(self, item_id: str, key: str, body: str) -> None:
        """Make or edit the message with this key and link it to the issue; each step is found again if it was made.

        A double is taken off the issue; only an administrator may throw it away.
        """
        if not key or any(character.isspace() for character in key) or set("<>@") & set(key):
            raise ValueError(f"a comment's key must be one word without <, > and @, not {key!r}")
        call = self.rest.begin()
        etag, record = self._there(call, item_id)
        name = f"<{key}.{item_id}@stationkeeper>"
        query = {"messageid:": name, "@fields": _MESSAGE, "@verbose": _VERBOSE}
        ours = sorted(_collection(call, "msg", query), key=lambda said: int(said["id"]))
        if ours:
            kept = ours[0]["id"]
            if _text(ours[0]) != _text({"content": body}):
                call.send("PATCH", f"msg/{kept}", body={"content": body}, etag=call.get(f"msg/{kept}").etag)
        else:
            made = {"author": self.user, "date": f"{datetime.now(UTC):{_TIME}}", "content": body, "messageid": name}
            kept = _data(call.send("POST", "msg", body=made).body)["id"]
        doubles, linked = {said["id"] for said in ours[1:]}, _numbers(record["messages"])
        wanted = [number for number in linked if number not in doubles] + ([] if kept in linked else [kept])
        if wanted != linked:
            change = {"messages": wanted, "status": record["status"]["id"]}
            call.send("PATCH", f"issue/{record['id']}", body=change, etag=etag)

    def _records(self, call: Call, numbers: Sequence[str]) -> list[Record]:
        return _by_number(call, "issue", numbers, fields=self.fields)

    def _standings(self, numbers: Sequence[int]) -> tuple[list[door.Standing], tuple[Malformed, ...]]:
        found = _by_number(self.rest.begin(), "issue", map(str, numbers), fields="title,status")
        readable, malformed = listings.sorted_out(found, _wrong)
        return [door.Standing(_id(one), _id(one), str(one["status"]["name"])) for one in readable], malformed

    def _there(self, call: Call, item_id: str) -> tuple[str | None, Record]:
        if (there := self._find(call, item_id)) is None:
            raise TrackerError(TrackerFault.NOT_FOUND, f"{item_id} is not on the tracker {self.base}")
        return there

    def _find(self, call: Call, item_id: str) -> tuple[str | None, Record] | None:
        """An issue with its ETag, None where a listing lacks it: by its address a retired one still shows."""
        number = _number(item_id)
        if number is None or not self._records(call, [str(number)]):
            return None
        answer = call.get(f"issue/{number}", {"@fields": self.fields, "@verbose": _VERBOSE})
        (record,) = listings.sound([{"id": str(number), **_data(answer.body)["attributes"]}], _wrong)
        return answer.etag, record

    def _items(self, call: Call, records: Sequence[Record]) -> Iterator[Item]:
        first = {record["id"]: _numbers(record["messages"])[:1] for record in records}
        said_first = _by_number(call, "msg", itertools.chain(*first.values()), fields=_MESSAGE)
        told = {said["id"]: said for said in said_first}
        waits = {record["id"]: _numbers(record[self.blocked_by]) if self.blocked_by else [] for record in records}
        blockers = dict.fromkeys(itertools.chain(*waits.values()))
        states = {one["id"]: _name(one["status"]) for one in _by_number(call, "issue", blockers, fields="status")}
        for record in records:
            said = next((told[number] for number in first[record["id"]] if number in told), None)
            blocked_by = [Blocker(f"issue{one}", f"issue{one}", states.get(one)) for one in waits[record["id"]]]
            yield self._item(record, said, blocked_by)

    def _item(self, record: Record, said: Record | None, blocked_by: Sequence[Blocker]) -> Item:
        author, name = _name(record["creator"]), _id(record)
        is_description = said is not None and _key(said) is None and _name(said["author"]) == author
        order = record["priority.order"]
        return Item(
            *(name, name, str(record["title"]), str(record["status"]["name"])),
            description=_text(said) if said is not None and is_description else "",
            priority=int(order) if isinstance(order, int | float) else None,
            labels=tuple(dict.fromkeys(filter(None, (fold(_name(one) or "") for one in record["keyword"])))),
            assignee=_name(record["assignedto"]),
            author=author,
            blocked_by=tuple(blocked_by),
            url=f"{self.base}/{name}",
            native_ref=record["id"],
            created_at=_instant(record["creation"]),
            updated_at=_instant(record["activity"]),
            revision=listings.fingerprint(record),
        )


def _statuses(call: Call) -> dict[str, str]:
    """The number of each status by its name, in the tracker's order."""
    found = _collection(call, "status", {"@fields": "name,order", "@sort": "order"})
    return {str(one["name"]): str(one["id"]) for one in found}


def _by_number(call: Call, name: str, numbers: Iterable[str], *, fields: str) -> list[Record]:
    """The records with these numbers, in the order of the numbers; one that was retired is left out."""
    found = [
        record
        for batch in listings.batches(list(numbers), PAGE_SIZE)
        for record in _collection(call, name, {"id": list(batch), "@fields": fields, "@verbose": _VERBOSE})
    ]
    return sorted(found, key=lambda record: int(record["id"]))


def _page(call: Call, page: int) -> list[int]:
    """The numbers of the issues on one page of all of them."""
    query = {"@sort": "id", "@page_size": STRETCH_SIZE, "@page_index": page}
    told = _data(call.get("issue", query).body)
    ahead = listings.left(told.get("@total_size"), page=page, size=STRETCH_SIZE)
    return [int(one["id"]) for one in listings.whole("issue", told.get("collection"), ahead)]


def _collection(call: Call, name: str, query: Mapping[str, object]) -> list[Record]:
    told = _data(call.get(name, query).body)
    return listings.whole(name, told.get("collection"), told.get("@total_size"))


def _data(body: object) -> Record:
    """What an answer is about. Raises TrackerError (PAYLOAD)."""
    found = body.get("data") if isinstance(body, Mapping) else None
    if not isinstance(found, Mapping):
        raise TrackerError(TrackerFault.PAYLOAD, "the answer has no 'data'; is this the address of a Roundup tracker?")
    return found


def _wrong(record: Record) -> Malformed | None:
    lacking = [key for key in ("title", "status") if not record.get(key)]
    return Malformed(_id(record), f"the issue has no {' and no '.join(lacking)}") if lacking else None


def _id(record: Record) -> str:
    return f"issue{record['id']}"


def _number(item_id: str) -> int | None:
    return int(named[1]) if (named := _ID.fullmatch(item_id)) else None


def _name(link: object) -> str | None:
    """What a link leads to is called."""
    if not isinstance(link, Mapping):
        return None
    return next((str(link[key]) for key in ("username", "name") if link.get(key)), None)


def _numbers(links: Iterable[Mapping[str, str] | str]) -> list[str]:
    """The numbers of what links lead to, in their order."""
    return sorted((link if isinstance(link, str) else link["id"] for link in links), key=int)


def _key(said: Record) -> str | None:
    return found[1] if (found := _OURS.fullmatch(str(said.get("messageid") or ""))) else None


def _text(said: Record) -> str:
    """As Roundup keeps a text: without the white space around it."""
    return str(said.get("content") or "").replace("\r\n", "\n").strip()


def _instant(text: object) -> datetime | None:
    try:
        return datetime.strptime(str(text), _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None
