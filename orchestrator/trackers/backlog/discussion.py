"""The comments of a card, as the program keeps them: ours found by a hidden key, edited in place, never doubled.

A `---` line ends a comment for the program's reader, and an end mark ends the section: neither may stand in a body of
ours. A section that a description merely quotes is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

AUTHOR = "stationkeeper"

_BEGIN, _END = "<!-- COMMENTS:BEGIN -->", "<!-- COMMENTS:END -->"
_SECTION = re.compile(
    rf"(?:^|(?<=\n))## Comments\s*\n{_BEGIN}[^\S\n]*\n(?P<entries>.*?){_END}", re.DOTALL | re.IGNORECASE
)
_FENCE = re.compile(r"^[^\S\n]*---[^\S\n]*(?:\n|\Z)", re.MULTILINE)
# How the program wrote comments before it had fences; it still reads them, and then nothing else in the section.
_OLDER = re.compile(
    r"<!-- COMMENT:BEGIN -->\s*\n(?P<head>(?:[a-z]+:[^\n]*\n)*)\s*(?P<body>.*?)<!-- COMMENT:END -->\n?", re.DOTALL
)
_HEAD = re.compile(r"^(author|created):[^\S\n]*(.*?)\s*$", re.MULTILINE)
_MARK = re.compile(r"<!-- stationkeeper (\S+) -->\s*")

_SECTION_MARK = re.compile(r"^<!-- SECTION:([A-Z0-9_]+):(BEGIN|END) -->[^\S\n]*(?:\n|\Z)", re.MULTILINE)
# Where the program puts the section, first match first; before the third, behind the others.
_PLACES = ("SECTION:NOTES:END", "SECTION:PLAN:END", "## Final Summary", "DOD:END", "AC:END", "SECTION:DESCRIPTION:END")

# Would be taken for nothing, or for the end of a line, by one reader and not by another.
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufeff]")


class Unwritable(ValueError):
    """A comment cannot be put on the card without losing somebody else's: its comments section is broken."""


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment; `key` is the hidden key of one of ours. `created` is text, as the program writes dates."""

    body: str
    author: str | None = None
    created: str = ""
    key: str | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    """A comment and where it stands: all of it, and its body alone."""

    comment: Comment
    start: int
    end: int
    body_start: int
    body_end: int


def read(text: str) -> tuple[Comment, ...]:
    """The comments in a card's body, oldest first."""
    section = _section(text)
    return tuple(entry.comment for entry in _entries(text, section)) if section else ()


def without(text: str) -> str:
    """A card's body without its comments."""
    section = _section(text)
    return f"{text[: section.start()]}{text[section.end() :]}" if section else text


def put(text: str, comment: Comment) -> str:
    """The body with `comment` made or edited in place, later doubles of its key removed; raises Unwritable.

    The text is returned as it is when it says the same already.
    """
    section = _section(text)
    ours = [entry for entry in _entries(text, section) if entry.comment.key == comment.key] if section else []
    if ours:
        result = _edited(text, ours, comment)
    elif section:
        result = _appended(text, section, comment)
    else:
        result = _with_section(text, comment)
    _check(text, result, comment)
    return result


def escaped(body: str) -> str:
    """A body that no reader of the card takes for structure: no fence, no hidden comment, no heading of a section."""
    body = _INVISIBLE.sub("", body.encode("utf-8", "replace").decode())
    lines = body.replace("<!--", "&lt;!--").strip().splitlines()
    return "\n".join(_as_text(line.rstrip()) for line in lines)


def _as_text(line: str) -> str:
    """A line that is no fence; nor is `## Description` in it taken for a heading, wherever in the line it stands."""
    return f"\\{line.strip()}" if line.strip() == "---" else re.sub(r"##(?=\s)", r"#\\#", line)


def _section(text: str) -> re.Match[str] | None:
    quoted = _quoted(text)
    section = _SECTION.search(text)
    while section:
        ends = [end for start, end in quoted if start <= section.start() < end]
        if not ends:
            return section
        section = _SECTION.search(text, ends[0])
    return None


def _quoted(text: str) -> list[tuple[int, int]]:
    """Where a section holds its own text, whatever that quotes; a section's marks may stand inside each other."""
    marks, spans, at = list(_SECTION_MARK.finditer(text)), list[tuple[int, int]](), 0
    while at < len(marks):
        closing = _closing(marks, at)
        if closing is not None:
            spans.append((marks[at].start(), marks[closing].end()))
            at = closing
        at += 1
    return spans


def _closing(marks: list[re.Match[str]], at: int) -> int | None:
    depth = 0
    for number in range(at, len(marks)):
        if marks[number][1] == marks[at][1]:
            depth += 1 if marks[number][2] == "BEGIN" else -1
        if depth <= 0:
            return number if marks[at][2] == "BEGIN" else None
    return None


def _entries(text: str, section: re.Match[str]) -> Iterator[_Entry]:
    start, end = section.span("entries")
    if _OLDER.search(text, start, end):
        yield from (_entry(text, match.span(), match.span("body")) for match in _OLDER.finditer(text, start, end))
        return
    fences = list(_FENCE.finditer(text, start, end))
    for opening, closing in zip(fences[::2], fences[1::2], strict=False):
        if text[opening.end() : closing.start()].strip():  # the program shows no empty comment
            yield _entry(text, (start, closing.end()), (opening.end(), closing.start()))
        start = closing.end()


def _entry(text: str, whole: tuple[int, int], body: tuple[int, int]) -> _Entry:
    head = dict(_HEAD.findall(text[whole[0] : body[0]]))
    said = text[body[0] : body[1]].replace("\r\n", "\n").strip()
    mark = _MARK.match(said)
    comment = Comment(
        body=said[mark.end() :] if mark else said,
        author=head.get("author") or None,
        created=head.get("created", ""),
        key=mark[1] if mark else None,
    )
    return _Entry(comment, *whole, *body)


def _edited(text: str, ours: list[_Entry], comment: Comment) -> str:
    for double in reversed(ours[1:]):
        text = f"{text[: double.start]}{text[double.end :]}"
    oldest = ours[0]
    if oldest.comment.body == escaped(comment.body):
        return text
    return f"{text[: oldest.body_start]}{_ended(_marked(comment), text)}{text[oldest.body_end :]}"


def _appended(text: str, section: re.Match[str], comment: Comment) -> str:
    start, end = section.span("entries")
    before = text[:end] if text[:end].endswith("\n") else f"{text[:end]}\n"
    if _OLDER.search(text, start, end):
        new = f"<!-- COMMENT:BEGIN -->\n{_head(comment)}\n{_marked(comment)}<!-- COMMENT:END -->\n"
    else:
        # A fence without its partner would take ours for the rest of somebody's text: it gets the partner first.
        partner = "---\n" if len(_FENCE.findall(text, start, end)) % 2 else ""
        gap = "\n" if text[start:end].strip() else ""
        new = f"{partner}{gap}{_rendered(comment)}"
    return f"{before}{_ended(new, text)}{text[end:]}"


def _with_section(text: str, comment: Comment) -> str:
    at = _place(text)
    before, after = text[:at], text[at:]
    section = f"## Comments\n\n{_BEGIN}\n{_rendered(comment)}{_END}\n"
    if before.strip():
        section = ("" if before.endswith(("\n\n", "\n\r\n")) else "\n" if before.endswith("\n") else "\n\n") + section
    if after.strip() and not after.startswith(("\n", "\r\n")):
        section += "\n"
    return f"{before}{_ended(section, text)}{after}"


def _place(text: str) -> int:
    quoted = _quoted(text)
    for name in _PLACES:
        heading = name.startswith("##")
        line = re.escape(name) if heading else f"<!-- {re.escape(name)} -->"
        for match in re.finditer(rf"^{line}[^\S\n]*(?:\n|\Z)", text, re.MULTILINE):
            own_end = any(match.end() == end for _, end in quoted)
            if own_end or not any(start <= match.start() < end for start, end in quoted):
                return match.start() if heading else match.end()
    return len(text)


def _head(comment: Comment) -> str:
    return f"author: {comment.author or AUTHOR}\ncreated: {comment.created}\n"


def _marked(comment: Comment) -> str:
    return f"<!-- stationkeeper {comment.key} -->\n{escaped(comment.body)}".rstrip("\n") + "\n"


def _rendered(comment: Comment) -> str:
    return f"{_head(comment)}---\n{_marked(comment)}---\n"


def _ended(new: str, text: str) -> str:
    """New text with the line ends of the text that it joins."""
    return new.replace("\n", "\r\n") if "\r\n" in text else new


def _check(before: str, after: str, comment: Comment) -> None:
    others = [other for other in read(before) if other.key != comment.key]
    kept = [other for other in read(after) if other.key != comment.key]
    ours = [one.body for one in read(after) if one.key == comment.key]
    if kept[: len(others)] != others or ours != [escaped(comment.body)]:
        raise Unwritable(
            "its comments section is broken: mend the marks `COMMENTS:BEGIN`, `COMMENTS:END` and the `---` lines"
        )
