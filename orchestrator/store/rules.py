"""The rules of our statements, by name, so that a demonstration or a mutation test can leave out one of them.

A rule is a whole line of SQL that ends in `-- rule: <name>`, and a statement stays valid without it. With nothing left
out the text is what stands in the source.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

# Every rule that a line may name; a misspelt one is an error, not a silent demonstration of nothing.
NAMES = frozenset({"cancel", "cap", "claim", "deadline", "fence", "hold", "host", "version"})
_RULE = re.compile(r"-- rule: (\w+)\s*$")
# A value by its name; a cast has two colons.
_VALUE = re.compile(r"(?<![:\w]):([a-z_]\w*)")


class UnknownRule(ValueError):
    """A rule was to be left out that no statement has; the message lists those that there are."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """A statement as the server wants it: values by `$n`, and whose name stands for which number."""

    text: bytes
    names: tuple[str, ...]


def check(left_out: frozenset[str]) -> frozenset[str]:
    """The names, when every one of them is a rule. Raises UnknownRule."""
    for name in sorted(left_out - NAMES):
        raise UnknownRule(f"no rule is called {name!r}; there are: {', '.join(sorted(NAMES))}")
    return left_out


@functools.cache
def statement(sql: str, left_out: frozenset[str]) -> str:
    """The statement as the driver wants it: without the lines of the rules left out, and values by `%(name)s`."""
    kept = "\n".join(line for line in sql.splitlines() if rule_of(line) not in left_out)
    return _VALUE.sub(r"%(\1)s", kept.replace("%", "%%"))


@functools.cache
def numbered(sql: str, left_out: frozenset[str]) -> Numbered:
    """The statement without the lines of the rules left out, each value known by one number however often it stands."""
    kept = "\n".join(line for line in sql.splitlines() if rule_of(line) not in left_out)
    numbers: dict[str, int] = {}
    text = _VALUE.sub(lambda found: f"${numbers.setdefault(found[1], len(numbers) + 1)}", kept)
    return Numbered(text.encode(), tuple(numbers))


def rule_of(line: str) -> str | None:
    """The rule that a line of SQL carries out, None for a line that carries out none. Raises UnknownRule."""
    found = _RULE.search(line)
    if found is None:
        return None
    check(frozenset({found[1]}))
    return found[1]
