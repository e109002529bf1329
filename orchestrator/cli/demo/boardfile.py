"""A card's file on a Backlog.md board, as any other program reads and writes it: line by line, not through our adapter.

A witness must not share the code of what it testifies about. Only the four lines of the front matter that the demo
needs are understood; every other byte stays as it is. Writes are made under the real program's lock, in place, as it
makes them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Where our tracker adapter hides the key of a comment. Stated here again on purpose: a person would search for it.
COMMENT_MARK = "<!-- stationkeeper"

# The adapter holds a lock for milliseconds; the real program gives up on one that is older than ten seconds.
_LOCK_SECONDS = 10.0

_FRONT_MATTER = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?P<body>.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CardFile:
    """A card as its file shows it; `comments` counts those that bear our mark."""

    path: Path
    id: str
    title: str
    status: str
    labels: tuple[str, ...]
    comments: int


class Unreadable(Exception):
    """A file does not look like a card; the message says what is missing."""


def read(path: Path) -> CardFile:
    """One card; raises Unreadable. A file met in the middle of somebody's write is unreadable for a moment."""
    data = path.read_bytes()
    front = _front(data)
    values = {name: _value(front, name) for name in ("id", "title", "status")}
    lacking = [name for name, value in values.items() if not value]
    if lacking:
        raise Unreadable(f"{path.name}: the front matter has no {', '.join(lacking)}")
    return CardFile(path, values["id"], values["title"], values["status"], _labels(front), _comments(data))


def tasks(board: Path) -> Iterator[CardFile]:
    """Every readable card in the board's `tasks` folder."""
    for path in sorted((board / "tasks").glob("*.md")):
        try:
            yield read(path)
        except (Unreadable, OSError):
            continue


def set_status(card: CardFile, status: str) -> None:
    """Drag the card to another column."""
    _rewrite(card, lambda front: re.sub(rb"(?m)^status:[^\r\n]*", b"status: " + status.encode(), front, count=1))


def add_label(card: CardFile, label: str) -> None:
    """Put one more label on the card."""
    _rewrite(card, lambda front: _labelled(front, label.encode()))


def _rewrite(card: CardFile, change: Callable[[bytes], bytes]) -> None:
    with _locked(card):
        data = card.path.read_bytes()
        front = _front(data)
        start = data.index(front)
        card.path.write_bytes(data[:start] + change(front) + data[start + len(front) :])


@contextmanager
def _locked(card: CardFile) -> Iterator[None]:
    """The real program's lock of one card: a folder."""
    locks = card.path.parent.parent / ".locks"
    locks.mkdir(exist_ok=True)
    lock = locks / f"task-{card.id.lower()}"
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            lock.mkdir()
            break
        except FileExistsError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
    try:
        yield
    finally:
        lock.rmdir()


def _front(data: bytes) -> bytes:
    found = _FRONT_MATTER.match(data)
    if found is None:
        raise Unreadable("no front matter between two lines of ---")
    return found["body"]


def _value(front: bytes, name: str) -> str:
    """A plain scalar; a folded one (`>-`) is joined as YAML would."""
    found = re.search(
        rf"^{name}:[ \t]*(?P<plain>[^\r\n]*)(?P<more>(?:\r?\n[ \t]+[^\r\n]+)*)".encode(), front, re.MULTILINE
    )
    if found is None:
        return ""
    plain = found["plain"].decode("utf-8", "replace").strip()
    more = " ".join(found["more"].decode("utf-8", "replace").split())
    text = more if plain in {">", ">-", "|", "|-"} else f"{plain} {more}".strip()
    return _unquoted(text)


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return text


def _labels(front: bytes) -> tuple[str, ...]:
    found = re.search(
        rb"^labels:[ \t]*(?P<inline>\[[^\]]*\])?(?P<list>(?:\r?\n[ \t]*-[ \t][^\r\n]*)*)", front, re.MULTILINE
    )
    if found is None:
        return ()
    inline = (found["inline"] or b"[]")[1:-1].decode().split(",")
    listed = re.findall(r"-[ \t]+(.*)", found["list"].decode())
    return tuple(_unquoted(word.strip()) for word in [*inline, *listed] if word.strip())


def _labelled(front: bytes, label: bytes) -> bytes:
    inline = re.compile(rb"(?m)^labels:[ \t]*\[(?P<words>[^\]]*)\]")
    if found := inline.search(front):
        words = b", ".join(part for part in (found["words"].strip(), label) if part)
        return inline.sub(lambda _: b"labels: [" + words + b"]", front, count=1)
    listed = re.compile(rb"(?m)^(?P<head>labels:[ \t]*\r?\n)(?P<indent>[ \t]*)- ")
    if listed.search(front):
        return listed.sub(
            lambda found: found["head"] + found["indent"] + b"- " + label + b"\n" + found["indent"] + b"- ",
            front,
            count=1,
        )
    front = re.sub(rb"(?m)^labels:[ \t]*\r?\n", b"", front, count=1)
    return front + b"labels: [" + label + b"]\n"


def _comments(data: bytes) -> int:
    return data.count(COMMENT_MARK.encode())
