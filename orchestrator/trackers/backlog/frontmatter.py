"""The block between the two `---` lines: read as YAML, else as leniently as people write it, and edited by line.

Every scalar stays the text that a person wrote: `2026-01-05` is no date here, and `yes` no truth value. A value that
stands there but cannot be read is None, so that nobody takes it for an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import yaml

Value = str | tuple[str, ...] | None
Fields = Mapping[str, Value]

_BLOCK = re.compile(r"\A(\ufeff?---[ \t]*\r?\n)(.*?)(?:\r?\n|(?<=\n))---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_KEY = re.compile(r"""^(["']?)([A-Za-z_][\w-]*)\1[ \t]*:(?:[ \t]+(.*?))?[ \t]*$""")
_ENTRY = re.compile(r"^\s*-(?:[ \t]+(.*?))?[ \t]*$")
_TRAILING_COMMENT = re.compile(r"(?:^|[ \t]+)#.*$")
_QUOTED = re.compile(r"""^(?:'((?:[^']|'')*)'|"((?:[^"\\]|\\.)*)")[ \t]*(?:#.*)?$""")
# Opens a text that spans the indented lines below it.
_FOLDED = frozenset({">", ">-", ">+", "|", "|-", "|+"})
# Text that YAML would take for something else when it stands without quotes.
_NEEDS_QUOTES = re.compile(
    r"""^$|^[\s&*!|>'"%@`{}\[\],#?:~+.\d-]|[\s:]$|:\s|\s\#|^(?:null|true|false|yes|no|on|off)$""", re.IGNORECASE
)

# Builds text, lists and maps only, so no tag can make it do anything; in C where PyYAML was built with it.
_LOADER: type[yaml.BaseLoader] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class Refused(ValueError):
    """The line of a key cannot be edited: the key stands there twice, or its value spans several lines."""


def span(text: str) -> tuple[int, int, int] | None:
    """Where the block begins and ends, and where the body begins; None when there is no closed block."""
    match = _BLOCK.match(text)
    return (match.end(1), match.end(2), match.end()) if match else None


def read(block: str) -> Fields:
    """The fields by name, of strict YAML or of what people and tools write for it (`assignee: @name`)."""
    try:
        loaded = yaml.load(block, Loader=_LOADER)  # noqa: S506 - a BaseLoader makes nothing but text
    except (yaml.YAMLError, RecursionError):
        return _lenient(block)
    return {str(key): _flat(value) for key, value in loaded.items()} if isinstance(loaded, dict) else _lenient(block)


def listed(value: Value) -> tuple[str, ...]:
    """A field as a list without blanks; a single text counts as a list of one."""
    return tuple(filter(None, (value,) if isinstance(value, str) else value or ()))


def with_value(block: str, key: str, value: str) -> str:
    """The block with one value replaced in its own quotes, a comment behind it kept; raises KeyError and Refused."""
    lines = block.split("\n")
    at = [number for number, line in enumerate(lines) if (match := _KEY.match(line.rstrip("\r"))) and match[2] == key]
    if not at:
        raise KeyError(key)
    if len(at) > 1 or _goes_on(lines, at[0]):
        raise Refused(f"`{key}` must stand once and on one line in the front matter")
    lines[at[0]] = _edited(lines[at[0]], value)
    return "\n".join(lines)


def with_line_below(block: str, above: str, line: str) -> str:
    """The block with a new line below that of the key `above`, or at its end; the line ends as its neighbours do."""
    lines = block.split("\n")
    at = next(
        (n for n, text in enumerate(lines) if text.startswith(f"{above}:") and not _goes_on(lines, n)), len(lines) - 1
    )
    carriage = "\r" if "\r" in block else ""
    if at == len(lines) - 1:  # the block's last line has lost its line end to the block's own end
        return f"{block}{carriage}\n{line}"
    return "\n".join([*lines[: at + 1], line + carriage, *lines[at + 1 :]])


def _edited(line: str, value: str) -> str:
    ending = "\r" if line.endswith("\r") else ""
    head, found = _head_and_value(line.removesuffix("\r"))
    quoted = _QUOTED.match(found)
    quote = found[0] if quoted else ""
    rest = found[_closing_quote(found) + 1 :] if quoted else (_TRAILING_COMMENT.search(found) or [""])[0]
    return f"{head}{_written(value, quote)}{rest}{ending}"


def _head_and_value(line: str) -> tuple[str, str]:
    colon = line.index(":")
    value = line[colon + 1 :].lstrip(" \t")
    head = line[: len(line) - len(value)]
    return (head, value) if head[-1] != ":" else (f"{head} ", value)


def _closing_quote(value: str) -> int:
    quoted = _QUOTED.match(value)
    return quoted.end(1) if quoted and quoted[1] is not None else quoted.end(2) if quoted else 0


def _written(value: str, quote: str) -> str:
    if quote == '"':
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if quote == "'" or _NEEDS_QUOTES.search(value):
        return "'" + value.replace("'", "''") + "'"
    return value


def _goes_on(lines: list[str], at: int) -> bool:
    """Whether the value of the key in line `at` reaches into the lines below."""
    below = lines[at + 1].rstrip("\r") if at + 1 < len(lines) else ""
    return below[:1] in {" ", "\t"} and bool(below.strip()) and not below.strip().startswith("#")


def _flat(value: object) -> Value:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return tuple(value)
    return None


def _lenient(block: str) -> Fields:
    fields: dict[str, Value] = {}
    key = None
    for raw in block.split("\n"):
        line = raw.rstrip("\r")
        if match := _KEY.match(line):
            key = match[2]
            fields[key] = _lenient_value(match[3] or "")
        elif key is not None and line.strip() and not line.lstrip().startswith("#"):
            fields[key] = _continued(fields[key], line)
    return fields


def _lenient_value(text: str) -> Value:
    if text in _FOLDED:
        return ""
    inner = _TRAILING_COMMENT.sub("", text) if text.startswith("[") else ""
    if inner.startswith("["):
        return tuple(_plain(part) for part in inner[1:-1].split(",") if part.strip()) if inner.endswith("]") else None
    return None if text.startswith(("{", "&", "*", "!")) else _plain(text)


def _continued(value: Value, line: str) -> Value:
    """One more line of a value: an entry of a list, or the rest of a text; anything else makes it unreadable."""
    entry = _ENTRY.match(line)
    if entry and (isinstance(value, tuple) or value == ""):
        return (*value, _plain(entry[1] or ""))
    if isinstance(value, str) and line[:1] in {" ", "\t"}:
        return f"{value} {line.strip()}".strip()
    return None


def _plain(text: str) -> str:
    """A scalar without its quotes or the comment behind it."""
    text = text.strip()
    quoted = _QUOTED.match(text)
    if quoted is None:
        return _TRAILING_COMMENT.sub("", text)
    return quoted[1].replace("''", "'") if quoted[1] is not None else re.sub(r"\\(.)", r"\1", quoted[2])
