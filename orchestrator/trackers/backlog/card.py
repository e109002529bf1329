"""One card: the bytes of a task file as values, and the bytes of the same card in another state.

What is not the line of the state, or that of the date of change, comes out of a move as it went in, byte for byte.
"""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from orchestrator.trackers.backlog import discussion, frontmatter

# Far above what people write: a card above it is no card, and YAML is not asked to swallow it.
MAX_BLOCK_CHARACTERS = 65_536

# Each look at a folder compares the ids of all its files; more cards than this only cost time.
CACHED_IDS = 65_536

_FORMATS = (
    "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%d-%m-%y", "%d/%m/%y", "%d.%m.%y",
)  # fmt: skip
_SECTION_MARK = re.compile(r"^<!-- (?:SECTION:[A-Z0-9_]+|AC|DOD):(?:BEGIN|END) -->[ \t]*\r?\n?", re.MULTILINE)
_ID = re.compile(r"[^\W\d][\w-]*?-\d+(?:\.\d+)*")


class Unreadable(ValueError):
    """A file that should be a card cannot be read as one; the text says why."""


@dataclass(frozen=True, slots=True)
class Card:
    """What one file says. `id` is in upper case; `dependencies` is None when the list is there but cannot be read."""

    id: str
    title: str
    state: str
    description: str
    dependencies: tuple[str, ...] | None
    labels: tuple[str, ...] = ()
    priority: str = ""
    assignee: str | None = None
    reporter: str | None = None
    issue_type: str | None = None
    parent: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    revision: str = ""


def revision(data: bytes) -> str:
    """The version of a file: a digest of its bytes."""
    return hashlib.sha256(data).hexdigest()


@functools.lru_cache(maxsize=CACHED_IDS)
def same_id(card_id: str) -> str:
    """An id as ids are compared: `task-07.2`, `TASK-7.02` and `TASK-7.2` are one."""
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", card_id.strip().casefold())


@functools.lru_cache(maxsize=CACHED_IDS)
def id_in_name(file_name: str) -> str | None:
    """The id that a file's name begins with, in upper case; a hint only, as the file itself decides."""
    match = _ID.match(file_name)
    return match[0].upper() if match else None


def parse(data: bytes) -> Card:
    """The card in `data`; raises Unreadable."""
    text = _text(data)
    fields = _fields(text)
    required = {name: _required(fields, name) for name in ("id", "status")}
    if not _ID.fullmatch(required["id"]):
        raise Unreadable(f"`id` is {required['id']!r}, expected a prefix and a number such as TASK-7")
    described = _SECTION_MARK.sub("", discussion.without(_body(text))).strip()
    return Card(
        id=required["id"].upper(),
        title=_optional(fields, "title") or required["id"],
        state=required["status"],
        description=described,
        dependencies=None if fields.get("dependencies", "") is None else _list(fields, "dependencies"),
        labels=tuple(dict.fromkeys(label.casefold() for label in _list(fields, "labels"))),
        priority=" ".join((_optional(fields, "priority") or "").casefold().split()),
        assignee=next(iter(_list(fields, "assignee")), None),
        reporter=_optional(fields, "reporter"),
        issue_type=_optional(fields, "type"),
        parent=_optional(fields, "parent_task_id"),
        created_at=_instant(_optional(fields, "created_date")),
        updated_at=_instant(_optional(fields, "updated_date")),
        revision=revision(data),
    )


def moved(data: bytes, to: str, *, now: datetime) -> bytes:
    """The bytes of the card in state `to`, changed at `now`; raises Unreadable when its front matter cannot be edited.

    The date of change is set as the program sets it: boards sort by it, and a later stamp tells a move from an echo.
    """
    text = _text(data)
    begin, end, _ = frontmatter.span(text) or (0, 0, 0)
    stamp = now.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
    try:
        block = frontmatter.with_value(text[begin:end], "status", to)
        block = _dated(block, stamp)
    except (KeyError, frontmatter.Refused) as error:
        raise Unreadable(f"its front matter cannot be edited: {error}") from error
    result = f"{text[:begin]}{block}{text[end:]}".encode()
    if _but_for_the_move(parse(result)) != _but_for_the_move(parse(data)) or parse(result).state != to:
        raise Unreadable("its front matter cannot be edited without changing more than the state")
    return result


def with_comment(data: bytes, comment: discussion.Comment) -> bytes:
    """The bytes of the same card with this comment made or edited in place; the same bytes where it says so already."""
    text = _text(data)
    body = _body(text)
    return f"{text[: len(text) - len(body)]}{discussion.put(body, comment)}".encode()


def comments(data: bytes) -> tuple[discussion.Comment, ...]:
    """The comments of the card, oldest first."""
    return discussion.read(_body(_text(data)))


def instant(text: str | None) -> datetime | None:
    """A date as the program or a person writes it, in UTC where it says nothing else; None when it is none."""
    return _instant(text)


def _dated(block: str, stamp: str) -> str:
    try:
        return frontmatter.with_value(block, "updated_date", stamp)
    except KeyError:
        return frontmatter.with_line_below(block, "created_date", f"updated_date: '{stamp}'")


def _but_for_the_move(card: Card) -> Card:
    return replace(card, state="", updated_at=None, revision="")


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8: {error.reason} at byte {error.start}") from error


def _fields(text: str) -> frontmatter.Fields:
    span = frontmatter.span(text)
    if span is None:
        raise Unreadable("it has no front matter: expected a block between two `---` lines at the top")
    if span[1] - span[0] > MAX_BLOCK_CHARACTERS:
        raise Unreadable(
            f"its front matter has {span[1] - span[0]} characters, at most {MAX_BLOCK_CHARACTERS} are read"
        )
    return frontmatter.read(text[span[0] : span[1]])


def _body(text: str) -> str:
    span = frontmatter.span(text)
    return text[span[2] :] if span else text


def _required(fields: frontmatter.Fields, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Unreadable(
            f"its front matter has no `{name}`" if name not in fields else f"its `{name}` is not a plain text"
        )
    return value.strip()


def _optional(fields: frontmatter.Fields, name: str) -> str | None:
    value = fields.get(name)
    return (value.strip() or None) if isinstance(value, str) else None


def _list(fields: frontmatter.Fields, name: str) -> tuple[str, ...]:
    return tuple(filter(None, (entry.strip() for entry in frontmatter.listed(fields.get(name)))))


def _instant(text: str | None) -> datetime | None:
    for form in _FORMATS if text else ():
        try:
            return datetime.strptime(text or "", form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        read = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)
