"""The Liquid spelling of each action of a Go template, for people who bring a prompt from a system that uses those.

Only what prompts are made of is spelled: fields, `if`, `with`, `range`, comparisons, a dozen functions. An action that
has no spelling here is named too, and left to its author. Nothing is rewritten behind anybody's back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from orchestrator.prompts import names

_ACTION = re.compile(r"\{\{(-?)(.*?)(-?)\}\}", re.DOTALL)
# An action whose end is missing would be looked for to the end of the file from each of its openings.
_OPENING, _CLOSING = "{{", "}}"
_WORDS = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|:=|[()|,]|[^\s()|,"`]+')
# What Go actions begin with, and no output of Liquid that we know.
_GO = re.compile(
    r"\s*(?:[.$(]|/\*|(?:if|else|end|range|with|define|template|block|break|continue"
    r"|not|and|or|eq|ne|len|index|printf|lower|upper|trim|join|default)\b)"
)

_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_FILTERS = {
    "lower": "downcase",
    "upper": "upcase",
    "trim": "strip",
    "title": "capitalize",
    "html": "escape",
    "urlquery": "url_encode",
    "join": "join",
    "default": "default",
    "len": "size",
}
# Fields that are empty rather than absent: false in Go, true in Liquid. All others are nothing when they are not there.
_MAY_BE_EMPTY = frozenset(
    f"issue.{name}" for name in (["id", "identifier", "title", "state", "description", "labels", "blocked_by"])
)
_BOOLEANS = frozenset({"run.is_continuation", "issue.dispatchable"})


class _Unspelled(Exception):
    """An action has no spelling here."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """One action: where it begins in the template, as it stands there, and in Liquid (None: write it by hand)."""

    index: int
    action: str
    liquid: str | None


@dataclass(slots=True)
class _Block:
    """An open `if`, `with` or `range`: how Liquid closes it, and what the dot is inside."""

    closing: str
    dot: str


@dataclass(slots=True)
class _Reader:
    """Goes through the actions in order, as what the dot means depends on the blocks around it."""

    blocks: list[_Block] = field(default_factory=list)

    def spelled(self, content: str) -> str:
        """The action in Liquid, with `{{` or `{%`; raises _Unspelled."""
        if content.lstrip().startswith("/*"):
            return f"{{% comment %}}{content.strip()[2:-2]}{{% endcomment %}}"
        words = _WORDS.findall(content)
        match words:
            case ["end"] if self.blocks:
                return f"{{% {self.blocks.pop().closing} %}}"
            case ["else"] if self.blocks:
                return "{% else %}"
            case ["else", "if", *condition] if self.blocks and self.blocks[-1].closing == "endif":
                return f"{{% elsif {self._condition(condition)} %}}"
            case ["if", *condition]:
                return self._if(condition)
            case ["with", *value]:
                return self._with(value)
            case ["range", *value]:
                return self._range(value)
            case [name, ":=", *value] if name.startswith("$"):
                return f"{{% assign {name[1:]} = {self._output(value)} %}}"
            case _:
                return f"{{{{ {self._output(words)} }}}}"

    def unspelled(self, content: str) -> None:
        """Remember a block whose opening had no spelling, so that its `end` is not taken for another's."""
        if re.match(r"\s*(?:if|with|range|define|block)\b", content):
            self.blocks.append(_Block("endif", self._dot()))

    def _if(self, condition: list[str]) -> str:
        spelled = self._condition(condition)
        self.blocks.append(_Block("endif", self._dot()))
        return f"{{% if {spelled} %}}"

    def _with(self, value: list[str]) -> str:
        spelled = self._operand(value)
        self.blocks.append(_Block("endif", spelled))
        return f"{{% if {self._truth(spelled)} %}}"

    def _range(self, value: list[str]) -> str:
        name = f"each{sum(block.closing == 'endfor' for block in self.blocks) + 1}"
        if ":=" in value:
            name = value[value.index(":=") - 1].removeprefix("$")
            value = value[value.index(":=") + 1 :]
        spelled = self._operand(value)
        self.blocks.append(_Block("endfor", name))
        return f"{{% for {name} in {spelled} %}}"

    def _condition(self, words: list[str]) -> str:
        """A condition; Liquid knows `and` and `or`, compares in between, and has neither `not` nor brackets."""
        match _terms(words):
            case [["and" | "or" as word], *terms]:
                conditions = [self._condition(_unwrapped(term)) for term in terms]
                if any({"and", "or"} & set(condition.split()) for condition in conditions):
                    raise _Unspelled  # Liquid reads them from right to left, whatever brackets meant
                return f" {word} ".join(conditions)
            case [["not"], term]:
                return self._untruth(self._operand(_unwrapped(term)))
            case [[name], left, right] if name in _COMPARISONS:
                return f"{self._operand(_unwrapped(left))} {_COMPARISONS[name]} {self._operand(_unwrapped(right))}"
            case [term]:
                return self._truth(self._operand(_unwrapped(term)))
            case _:
                raise _Unspelled

    def _truth(self, operand: str) -> str:
        if operand in _MAY_BE_EMPTY:
            return f"{operand} != blank"
        known = {*names.VARIABLES, *(block.dot.partition(".")[0] for block in self.blocks)}
        return operand if operand.partition(".")[0] in known else _refuse()

    def _untruth(self, operand: str) -> str:
        truth = self._truth(operand)
        if truth != operand:
            return f"{operand} == blank"
        return f"{operand} == false" if operand in _BOOLEANS else f"{operand} == nil"

    def _output(self, words: list[str]) -> str:
        """A value with its filters; a function with its value behind it becomes a filter too."""
        first, *pipes = _split(words, "|")
        match _terms(first):
            case [[name], *options, value] if name in _FILTERS:
                return " | ".join(
                    [self._operand(_unwrapped(value)), self._filter(name, options), *self._filters(pipes)]
                )
            case _:
                return " | ".join([self._operand(first), *self._filters(pipes)])

    def _filters(self, pipes: list[list[str]]) -> Iterator[str]:
        for pipe in pipes:
            (name, *_), *options = _terms(pipe) or [[""]]
            yield self._filter(name, options)

    def _filter(self, name: str, options: list[list[str]]) -> str:
        if name not in _FILTERS:
            raise _Unspelled
        given = ", ".join(self._operand(option) for option in options)
        return f"{_FILTERS[name]}: {given}" if given else _FILTERS[name]

    def _operand(self, words: list[str]) -> str:
        match _terms(words):
            case [["len"], value]:
                return f"{self._operand(_unwrapped(value))}.size"
            case [["index"], value, [key]] if re.fullmatch(r'\d+|"\w+"', key):
                return f"{self._operand(_unwrapped(value))}[{key}]"
            case [[word]]:
                return self._word(word)
            case _:
                raise _Unspelled

    def _word(self, word: str) -> str:
        if word == ".":
            return self._dot() or _refuse()
        if re.fullmatch(r"\$(?:\.\w+)+", word):
            return _flat(word[2:])
        if re.fullmatch(r"\$\w+(?:\.\w+)*", word):
            return word[1:]
        if re.fullmatch(r"(?:\.\w+)+", word):
            return _flat(f"{self._dot()}{word}" if self._dot() else word[1:])
        if re.fullmatch(r'-?\d+(?:\.\d+)?|true|false|nil|"[^"\\]*"', word):
            return word
        raise _Unspelled

    def _dot(self) -> str:
        return self.blocks[-1].dot if self.blocks else ""


def spellings(template: str) -> tuple[Spelling, ...]:
    """Every action of a Go template in order; empty when the template is none."""
    actions = list(_actions(template))
    if not any(_GO.match(action[2]) for action in actions):
        return ()
    reader = _Reader()
    return tuple(Spelling(action.start(), action[0], _spelled(reader, action)) for action in actions)


def _actions(template: str) -> Iterator[re.Match[str]]:
    at = template.find(_OPENING)
    while at >= 0 and (end := template.find(_CLOSING, at)) >= 0:
        found = _ACTION.fullmatch(template, at, end + len(_CLOSING))
        if found:
            yield found
        at = template.find(_OPENING, end + len(_CLOSING))


def _spelled(reader: _Reader, action: re.Match[str]) -> str | None:
    try:
        liquid = reader.spelled(action[2])
    except _Unspelled:
        reader.unspelled(action[2])
        return None
    return f"{liquid[:2]}{action[1]}{liquid[2:-2]}{action[3]}{liquid[-2:]}"


def _flat(path: str) -> str:
    """A parent has fields there; here it is the identifier."""
    return re.sub(r"^issue\.parent\.(?:id|identifier)$", "issue.parent", path)


def _terms(words: list[str]) -> list[list[str]]:
    """The words of a call, each bracket with what is in it as one term."""
    terms: list[list[str]] = []
    depth = 0
    for word in words:
        if depth:
            terms[-1].append(word)
        else:
            terms.append([word])
        depth += (word == "(") - (word == ")")
    return terms


def _unwrapped(term: list[str]) -> list[str]:
    return term[1:-1] if len(term) > 1 and term[0] == "(" and term[-1] == ")" else term


def _split(words: list[str], mark: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word == "(") - (word == ")")
        if word == mark and not depth:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _refuse() -> str:
    raise _Unspelled
