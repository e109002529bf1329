"""The words of a Go action, and how they stand together: calls, brackets, pipes."""

from __future__ import annotations

import re

_WORD = re.compile(r'\s*("(?:[^"\\]|\\.)*"|`[^`]*`|:=|[()|,]|[^\s()|,"`]+)')


class Unspelled(Exception):
    """An action has no Liquid spelling that says exactly the same."""


# Nobody's condition is deeper, and what reads them goes as deep as they do.
MAX_DEPTH = 8


def words(content: str) -> list[str]:
    """The words of an action, every character accounted for and every bracket closed; raises Unspelled for others."""
    found: list[str] = []
    at, end = 0, len(content.rstrip())
    while at < end:
        met = _WORD.match(content, at, end)
        if met is None:
            raise Unspelled
        found.append(met[1])
        at = met.end()
    depth = 0
    for word in found:
        depth += (word == "(") - (word == ")")
        if not 0 <= depth <= MAX_DEPTH:
            raise Unspelled
    if depth:
        raise Unspelled
    return found


def terms(found: list[str]) -> list[list[str]]:
    """The words of a call, each bracket with what is in it as one term."""
    grouped: list[list[str]] = []
    depth = 0
    for word in found:
        if depth:
            grouped[-1].append(word)
        else:
            grouped.append([word])
        depth += (word == "(") - (word == ")")
    return grouped


def unwrapped(term: list[str]) -> list[str]:
    """What is in a bracket; any other term as it is."""
    return term[1:-1] if len(term) > 1 and term[0] == "(" and term[-1] == ")" else term


def split(found: list[str], mark: str) -> list[list[str]]:
    """The parts between `mark`, those in brackets left together."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in found:
        depth += (word == "(") - (word == ")")
        if word == mark and not depth:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts
