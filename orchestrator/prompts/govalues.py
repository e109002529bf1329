"""What a Go action may speak of, and when each counts as true: what is empty is false in Go and true in Liquid."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from orchestrator.prompts import names
from orchestrator.prompts.gowords import Unspelled


class Kind(Enum):
    """What a value can be, as far as its truth, its printing and its length depend on it."""

    TEXT = "text"  # always there, maybe empty
    OPTIONAL = "optional"  # nothing, or something that is neither empty nor zero
    NUMBER = "number"  # nothing, or any number
    BOOLEAN = "boolean"
    LIST = "list"  # always there, maybe empty
    MAYBE_LIST = "maybe_list"  # nothing, or a list
    RECORD = "record"  # nothing, or something with fields: printing it is printing Go's own form of it
    OPAQUE = "opaque"  # a variable of the template's own: its truth is not known here


class Value(NamedTuple):
    """An operand in Liquid, and what it can be."""

    text: str
    kind: Kind


_KINDS = {
    **{f"issue.{name}": Kind.OPTIONAL for name in names.ISSUE},
    **{f"issue.{name}": Kind.TEXT for name in names.REQUIRED},
    "issue.labels": Kind.LIST,
    "issue.blocked_by": Kind.LIST,
    "issue.parent": Kind.RECORD,
    "issue.priority": Kind.NUMBER,
    "issue.dispatchable": Kind.BOOLEAN,
    "issue": Kind.RECORD,
    "run": Kind.RECORD,
    "run.is_continuation": Kind.BOOLEAN,
    "ci_failure": Kind.RECORD,
    "review_comments": Kind.MAYBE_LIST,
}
_ELEMENTS = {"issue.labels": Kind.TEXT, "issue.blocked_by": Kind.RECORD}

# Names that Liquid reads as something else than a variable.
RESERVED = frozenset(
    {
        *names.VARIABLES,
        "forloop",
        "nil",
        "null",
        "true",
        "false",
        "empty",
        "blank",
        "and",
        "or",
        "not",
        "contains",
        "in",
    }
)

_TRUTH = {
    Kind.TEXT: ("{0} != empty", "{0} == empty"),
    Kind.LIST: ("{0} != empty", "{0} == empty"),
    Kind.MAYBE_LIST: ("{0} and {0} != empty", "{0} == nil or {0} == empty"),
    Kind.OPTIONAL: ("{0}", "{0} == nil"),
    Kind.RECORD: ("{0}", "{0} == nil"),
    Kind.NUMBER: ("{0} and {0} != 0", "{0} == nil or {0} == 0"),
    Kind.BOOLEAN: ("{0}", "{0} == false"),
}


def field(path: str) -> Value:
    """A path from the top; a field that we do not know is left to the judge of variables."""
    if path == "issue.parent.identifier":
        return Value("issue.parent", Kind.OPTIONAL)  # here it is the identifier and nothing else
    if path.startswith("issue.parent."):
        raise Unspelled
    return Value(path, _KINDS.get(path, Kind.OPTIONAL))


def element(value: Value) -> Kind:
    """What each element of a list is; raises Unspelled for what is no list that we know."""
    if value.text not in _ELEMENTS:
        raise Unspelled
    return _ELEMENTS[value.text]


def truth(value: Value, *, negated: bool = False) -> str:
    """The Liquid condition that holds where Go takes the value for true (`negated`: for false)."""
    if value.kind not in _TRUTH:
        raise Unspelled
    return _TRUTH[value.kind][negated].format(value.text)


def printed(value: Value) -> str:
    """A value that both print alike; raises Unspelled for one that Go prints in a form of its own."""
    if value.kind in {Kind.LIST, Kind.MAYBE_LIST, Kind.RECORD}:
        raise Unspelled
    return value.text
