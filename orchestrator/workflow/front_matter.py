"""From the text of a file to plain values and a body, each value with the line it stands on.

YAML is read by the safe loader, into a tree of nodes first: the tree has the lines, shows a key that is there twice,
and shows how large aliases would make the values before anything is made of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml

from orchestrator.workflow.findings import Code, Finding, Rejected

Key = tuple[str | int, ...]

_FENCE = "---"
# The longest workflow of a real team has some hundred values; an alias bomb has millions, as an alias counts for all
# that it names.
MAX_VALUES = 10_000
# No setting is deeper than four; an alias that names what it stands in has no end.
MAX_DEPTH = 32
# A hundred times what a team writes. The safe loader is Python: this much takes it a second.
MAX_CHARACTERS = 64 * 1024


@dataclass(frozen=True, slots=True)
class Document:
    """A file, taken apart.

    `lines` gives the line of each value by its path of keys; `()` is the front matter itself. `body` is trimmed, and
    has one empty line for each line above it, so that a line number in it is one of the file. `origins` names the
    variable of each value that the environment set in the file's place.
    """

    values: Mapping[str, object]
    lines: Mapping[Key, int]
    body: str
    origins: Mapping[Key, str] = field(default_factory=dict)

    def line(self, key: Key) -> int:
        """Where a key stands, or the closest thing around it."""
        while key and key not in self.lines:
            key = key[:-1]
        return self.lines.get(key, 1)


def read(text: str) -> Document:
    """Take a file apart; without front matter all of it is body. Raises Rejected."""
    # Not `splitlines`: it breaks at characters that no editor counts as a line.
    lines = text.replace("\r\n", "\n").split("\n")
    if not lines or lines[0].rstrip() != _FENCE:
        return Document({}, {}, _placed(lines, start=0))
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == _FENCE:
            values, places = _values(lines[1:number])
            return Document(values, places, _placed(lines, start=number + 1))
    raise Rejected(
        Code.PARSE_ERROR,
        [Finding(1, "the front matter begins here with '---' and never ends; put a line '---' behind its last key")],
    )


def _placed(lines: list[str], *, start: int) -> str:
    while start < len(lines) and not lines[start].strip():
        start += 1
    body = "\n".join(lines[start:]).rstrip()
    return "\n" * start + body if body else ""


def _values(lines: list[str]) -> tuple[Mapping[str, object], dict[Key, int]]:
    text = "\n".join(lines)
    if len(text) > MAX_CHARACTERS:
        message = f"the front matter is longer than {MAX_CHARACTERS // 1024} Ki characters; settings need less"
        raise Rejected(Code.PARSE_ERROR, [Finding(1, message)])
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return {}, {(): 1}
        places = _judge(node)
        return loader.construct_document(node), places
    except yaml.MarkedYAMLError as error:
        raise Rejected(Code.PARSE_ERROR, [_not_yaml(error)]) from error
    except yaml.reader.ReaderError as error:
        message = f"the character {error.character:#x} is not allowed in YAML; remove it"
        raise Rejected(Code.PARSE_ERROR, [Finding(text.count("\n", 0, error.position) + 2, message)]) from error
    except ValueError as error:
        # 2026-13-45 has the form of a date and is none.
        message = f"a value here looks like a date or a number and is none ({error}); put quotes around it"
        raise Rejected(Code.PARSE_ERROR, [Finding(2, message)]) from error
    except RecursionError as error:
        message = f"values are nested more than {MAX_DEPTH} levels deep; no setting needs more than four"
        raise Rejected(Code.PARSE_ERROR, [Finding(2, message)]) from error
    except (AttributeError, TypeError, LookupError) as error:
        # `!!timestamp 5`: the loader takes a tag's word for what the value is.
        message = "a value here is not what its '!!' tag says; settings need no tags, take it out"
        raise Rejected(Code.PARSE_ERROR, [Finding(2, message)]) from error


def _not_yaml(error: yaml.MarkedYAMLError) -> Finding:
    mark = error.problem_mark or error.context_mark
    context = f"{error.context}: " if error.context else ""
    hint = "; put quotes around a text that holds ': ', '#', '@' or '{{'" if isinstance(error, _NEEDS_QUOTES) else ""
    return Finding(_line_of(mark) if mark else 2, f"the front matter is not YAML: {context}{error.problem}{hint}")


_NEEDS_QUOTES = (yaml.scanner.ScannerError, yaml.parser.ParserError)


def _judge(root: yaml.Node) -> dict[Key, int]:
    """The line of every value; refuses what YAML allows and a person cannot have meant."""
    if not isinstance(root, yaml.MappingNode):
        message = f"the front matter must be keys with values, found {_kind(root)}; write 'tracker:' and so on"
        raise Rejected(Code.NOT_A_MAP, [Finding(_line_of(root.start_mark), message)])
    places: dict[Key, int] = {(): 1}
    waiting: list[tuple[Key, yaml.Node]] = [((), root)]
    while waiting:
        key, node = waiting.pop()
        _refuse_excess(len(places), depth=len(key), line=_line_of(node.start_mark))
        for name, name_node, child in _children(node):
            place = (*key, name)
            if place in places:
                message = f"{'.'.join(map(str, place))!r} is here a second time; keep one of the two"
                raise Rejected(Code.PARSE_ERROR, [Finding(_line_of(name_node.start_mark), message)])
            places[place] = _line_of(name_node.start_mark)
            waiting.append((place, child))
    return places


def _refuse_excess(values: int, *, depth: int, line: int) -> None:
    if values > MAX_VALUES:
        message = f"the front matter has more than {MAX_VALUES} values, aliases counted; write out what is needed"
        raise Rejected(Code.PARSE_ERROR, [Finding(line, message)])
    if depth > MAX_DEPTH:
        message = f"values are nested more than {MAX_DEPTH} levels deep here; no setting needs more than four"
        raise Rejected(Code.PARSE_ERROR, [Finding(line, message)])


def _children(node: yaml.Node) -> Iterator[tuple[str | int, yaml.Node, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for name, child in node.value:
            yield _key_text(name), name, child
    elif isinstance(node, yaml.SequenceNode):
        for index, child in enumerate(node.value):
            yield index, child, child


def _key_text(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode) and node.tag in {"tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"}:
        return str(node.value)
    found = f"{node.value!r}, which YAML reads as {_kind(node)}" if isinstance(node, yaml.ScalarNode) else _kind(node)
    message = f"a key must be a text, found {found}; put quotes around it"
    raise Rejected(Code.PARSE_ERROR, [Finding(_line_of(node.start_mark), message)])


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    if isinstance(node, yaml.MappingNode):
        return "keys with values"
    return {"str": "a text", "bool": "true or false", "int": "a number", "null": "nothing"}.get(
        node.tag.rpartition(":")[2], "a single value"
    )


def _line_of(mark: yaml.Mark) -> int:
    """The mark counts from 0 behind the opening fence, which is line 1."""
    return int(mark.line) + 2
