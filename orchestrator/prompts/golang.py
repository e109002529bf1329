"""The Liquid spelling of each action of a Go template, for people who bring a prompt from a system that uses those.

Only what prompts are made of is spelled: fields, `if`, `with`, `range`, comparisons, a few functions; and only where
the spelling says exactly the same (what is absent prints nothing, where Go prints `<no value>`). An action that has no
such spelling is named too, and left to its author. A spelling has the lines of its action, so that line numbers stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from orchestrator.prompts import govalues, names
from orchestrator.prompts.govalues import Kind, Value
from orchestrator.prompts.gowords import Unspelled, split, terms, unwrapped, words

_ACTION = re.compile(r"\{\{(-?)(.*?)(-?)\}\}", re.DOTALL)
# An action whose end is missing would be looked for to the end of the file from each of its openings.
_OPENING, _CLOSING = "{{", "}}"
# What Go actions begin with, and no output of Liquid that we know.
_GO = re.compile(
    r"\s*(?:[.$(]|/\*|(?:if|else|end|range|with|define|template|block|break|continue"
    r"|not|and|or|eq|ne|len|index|printf|toJSON|lower|upper|trim|join|default)\b)"
)

_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
# Each with the kinds of value for which both do the same.
_TEXTS = frozenset({Kind.TEXT, Kind.OPTIONAL, Kind.OPAQUE})
_FILTERS = {
    "lower": ("downcase", _TEXTS),
    "upper": ("upcase", _TEXTS),
    "trim": ("strip", _TEXTS),
    "urlquery": ("url_encode", _TEXTS),
    "default": ("default", _TEXTS),
    "join": ("join", frozenset({Kind.LIST})),
    "len": ("size", frozenset({Kind.LIST})),
}
_OPTIONS = frozenset({"default", "join"})  # these take a text; the others take nothing
_TEXT = re.compile(r'"[^"\\{}%]*"')


@dataclass(frozen=True, slots=True)
class Spelling:
    """One action: where it begins in the template, as it stands there, and in Liquid (None: write it by hand)."""

    index: int
    action: str
    liquid: str | None


@dataclass(slots=True)
class _Block:
    """An open `if`, `with` or `range`: how Liquid closes it, what the dot is inside and outside, its loop's index."""

    closing: str
    dot: Value | None
    outer: Value | None = None
    index: str | None = None


@dataclass(slots=True)
class _Reader:
    """Goes through the actions in order, as what the dot means depends on the blocks around it."""

    blocks: list[_Block] = field(default_factory=list)
    assigned: set[str] = field(default_factory=set)

    def spelled(self, content: str) -> str:
        """The action in Liquid, with `{{` or `{%`; raises Unspelled."""
        if content.lstrip().startswith("/*"):
            return _comment(content.strip())
        found = words(content)
        match found:
            case ["end"] if self.blocks:
                return f"{{% {self.blocks.pop().closing} %}}"
            case ["else"] if self.blocks:
                self.blocks[-1].dot, self.blocks[-1].index = self.blocks[-1].outer, None
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
                spelled = self._output(value)
                return f"{{% assign {self._declared(name)} = {spelled} %}}"
            case _:
                return f"{{{{ {self._output(found)} }}}}"

    def unspelled(self, content: str) -> None:
        """Remember a block whose opening had no spelling, so that its `end` is not taken for another's."""
        if re.match(r"\s*(?:if|with|range|define|block)\b", content):
            self.blocks.append(_Block("endif", self._dot(), self._dot()))

    def _if(self, condition: list[str]) -> str:
        spelled = self._condition(condition)
        self.blocks.append(_Block("endif", self._dot(), self._dot()))
        return f"{{% if {spelled} %}}"

    def _with(self, found: list[str]) -> str:
        value = self._operand(found)
        self.blocks.append(_Block("endif", value, self._dot()))
        return f"{{% if {govalues.truth(value)} %}}"

    def _range(self, found: list[str]) -> str:
        index, name = None, f"each{sum(block.closing == 'endfor' for block in self.blocks) + 1}"
        match found:
            case [given, ":=", *found] if given.startswith("$"):
                name = self._loop(given)
            case [counted, ",", given, ":=", *found] if counted.startswith("$") and given.startswith("$"):
                index, name = counted[1:], self._loop(given)
        value = self._operand(found)
        each = Value(name, govalues.element(value))
        self.blocks.append(_Block("endfor", each, self._dot(), index))
        return f"{{% for {name} in {value.text} %}}"

    def _declared(self, name: str) -> str:
        """A variable of the template's own. Go's belong to their block and Liquid's to the template: one of a name."""
        plain = self._loop(name)
        if any(block.dot and block.dot.text == plain for block in self.blocks):
            raise Unspelled
        self.assigned.add(plain)
        return plain

    def _loop(self, name: str) -> str:
        plain = name.removeprefix("$")
        if plain in govalues.RESERVED | self.assigned or not re.fullmatch(r"(?!each\d)[A-Za-z_]\w*", plain):
            raise Unspelled
        return plain

    def _condition(self, found: list[str]) -> str:
        """A condition; Liquid knows `and` and `or`, compares in between, and has neither `not` nor brackets."""
        match terms(found):
            case [["and" | "or" as word], *conditions]:
                return _chain(word, [self._condition(unwrapped(each)) for each in conditions])
            case [["not"], term]:
                return govalues.truth(self._operand(unwrapped(term)), negated=True)
            case [[name], left, right] if name in _COMPARISONS:
                sides = (govalues.printed(self._operand(unwrapped(side))) for side in (left, right))
                return f" {_COMPARISONS[name]} ".join(sides)
            case [["(", *inner, ")"]]:
                return self._condition(inner)
            case [term]:
                return govalues.truth(self._operand(term))
            case _:
                raise Unspelled

    def _output(self, found: list[str]) -> str:
        """A value with its filters; a function with its value behind it becomes a filter too."""
        first, *pipes = split(found, "|")
        match terms(first):
            case [[name], *options, value] if name in _FILTERS:
                spelled, calls = self._operand(unwrapped(value)), [(name, options)]
            case _:
                spelled, calls = self._operand(first), []
        for pipe in pipes:
            (name, *_), *options = terms(pipe) or [[""]]
            calls.append((name, options))
        for name, options in calls:
            spelled = _filtered(spelled, name, options)
        return govalues.printed(spelled)

    def _operand(self, found: list[str]) -> Value:
        match terms(found):
            case [["len"], term]:
                value = self._operand(unwrapped(term))
                return Value(f"{value.text}.size", Kind.NUMBER) if value.kind is Kind.LIST else _refuse()
            case [["index"], term, [key]] if re.fullmatch(r"\d+", key):
                value = self._operand(unwrapped(term))
                govalues.element(value)
                return Value(f"{value.text}[{key}]", Kind.OPTIONAL) if value.text == "issue.labels" else _refuse()
            case [[word]]:
                return self._word(word)
            case _:
                raise Unspelled

    def _word(self, word: str) -> Value:
        if word == ".":
            return self._dot() or _refuse()
        if re.fullmatch(r"\$(?:\.\w+)+", word):
            return govalues.field(word[2:])
        if re.fullmatch(r"\$\w+(?:\.\w+)?", word):
            return self._variable(*word[1:].split("."))
        if re.fullmatch(r"(?:\.\w+)+", word):
            return self._field(word)
        if re.fullmatch(r"-?\d+(?:\.\d+)?|true|false|nil", word) or _TEXT.fullmatch(word):
            return Value(word, Kind.OPAQUE)
        raise Unspelled

    def _field(self, path: str) -> Value:
        """A field of what the dot is: of everything, of the parent, or of a card that a loop is at."""
        dot = self._dot()
        if dot is None:
            return govalues.field(path[1:])
        if dot.kind is not Kind.RECORD:
            raise Unspelled
        if dot.text.partition(".")[0] in names.VARIABLES:
            return govalues.field(f"{dot.text}{path}")
        return self._variable(dot.text, *path[1:].split("."))

    def _variable(self, name: str, *path: str) -> Value:
        loops = [block for block in self.blocks if block.closing == "endfor"]
        if loops and loops[-1].index == name and not path:
            return Value("forloop.index0", Kind.NUMBER)
        each = next((block.dot for block in reversed(loops) if block.dot and block.dot.text == name), None)
        if each is None:
            return Value(name, Kind.OPAQUE) if name in self.assigned and not path else _refuse()
        if not path:
            return each
        fits = each.kind is Kind.RECORD and path in {("id",), ("identifier",), ("state",)}
        return Value(f"{name}.{path[0]}", Kind.OPTIONAL) if fits else _refuse()

    def _dot(self) -> Value | None:
        return self.blocks[-1].dot if self.blocks else None


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
    before, content, after = action.groups()
    try:
        liquid = reader.spelled(content)
        if (before and not content[:1].isspace()) or (after and not content[-1:].isspace()):
            return None  # `{{-3}}` is a number and no trimming
    except Unspelled:
        reader.unspelled(content)
        return None
    lines = "\n" * (action[0].count("\n") - liquid.count("\n"))
    return f"{liquid[:2]}{before}{liquid[2:-2]}{lines}{after}{liquid[-2:]}"


def _comment(content: str) -> str:
    """A comment ends where Go's does, and has nothing in it that Liquid would look at."""
    text = content[2:-2]
    if not content.endswith("*/") or "*/" in text or any(mark in text for mark in ("{%", "%}", "{{", "}}")):
        raise Unspelled
    return f"{{% comment %}}{text}{{% endcomment %}}"


def _chain(word: str, conditions: list[str]) -> str:
    """Conditions of one word; Liquid reads a mixture from right to left, whatever brackets meant."""
    other = {"and": "or", "or": "and"}[word]
    if not conditions or any(other in each.split() for each in conditions):
        raise Unspelled
    return f" {word} ".join(conditions)


def _filtered(value: Value, name: str, options: list[list[str]]) -> Value:
    liquid, kinds = _FILTERS.get(name, ("", frozenset()))
    if value.kind not in kinds or len(options) != (name in _OPTIONS):
        raise Unspelled
    if not options:
        return Value(f"{value.text} | {liquid}", Kind.NUMBER if name == "len" else Kind.TEXT)
    option = " ".join(options[0])
    if not _TEXT.fullmatch(option):
        raise Unspelled
    return Value(f"{value.text} | {liquid}: {option}", Kind.TEXT)


def _refuse() -> Value:
    raise Unspelled
