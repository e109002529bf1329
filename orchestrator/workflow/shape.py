"""From plain values to shaped ones; what does not fit becomes sentences with the line of the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pydantic

from orchestrator.workflow import keys
from orchestrator.workflow.blocks import AGENT_BLOCKS, FrontMatter
from orchestrator.workflow.findings import Code, Finding, Rejected
from orchestrator.workflow.front_matter import Document, Key
from orchestrator.workflow.kinds import FIVE_LINES


def shaped(document: Document) -> FrontMatter:
    """The blocks of a file. Raises Rejected with every value that does not fit."""
    errors = [*_errors(FrontMatter, document.values, ()), *_own_errors(document)]
    if errors:
        raise Rejected(Code.PARSE_ERROR, [_finding(each, document) for each in errors[:MAX_FINDINGS]])
    return FrontMatter.model_validate(document.values)


def _own_errors(document: Document) -> list[dict[str, Any]]:
    """What is wrong with the settings of the kind of agent in use; those of another are not read."""
    kind = keys.agent_kind(document)
    if kind not in AGENT_BLOCKS or kind not in document.values:
        return []
    return _errors(AGENT_BLOCKS[kind], document.values[kind], (kind,))


def _errors(model: type[pydantic.BaseModel], values: object, place: Key) -> list[dict[str, Any]]:
    """Everything that does not fit, by the keys from the top of the file on."""
    try:
        model.model_validate(values)
    except pydantic.ValidationError as error:
        return [{**each, "loc": (*place, *each["loc"])} for each in error.errors()]
    return []


# Whoever has more to mend than this reads the rest at the next try.
MAX_FINDINGS = 50


def tidied(document: Document) -> Document:
    """Keys without a value are left out, and `tracker.provider` is merged into its block, where an inner key wins."""
    values = {name: _without_nothing(value) for name, value in _kept(document.values).items()}
    tracker = values.get("tracker")
    provider = tracker.get("provider") if isinstance(tracker, Mapping) else None
    if not isinstance(tracker, Mapping) or not isinstance(provider, Mapping):
        return replace(document, values=values)
    outer = {key: value for key, value in tracker.items() if key != "provider"}
    inner = {
        ("tracker", *key[2:]): line
        for key, line in document.lines.items()
        if key[:2] == ("tracker", "provider") and key[2:]
    }
    return replace(
        document, values={**values, "tracker": {**outer, **_kept(provider)}}, lines={**document.lines, **inner}
    )


def _without_nothing(value: object) -> object:
    return _kept(value) if isinstance(value, Mapping) else value


def _kept(block: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in block.items() if value is not None}


def _finding(error: Mapping[str, Any], document: Document) -> Finding:
    key: Key = error["loc"]
    name = _spoken(key)
    if error["type"] == "missing":
        remedy = _REMEDIES.get(name, "write it")
        return Finding(document.line(key[:-1]), f"'{name}' is missing{keys.meant(document, key)}; {remedy}")
    subject, remedy = f"'{name}'", _REMEDIES.get(name, "")
    if key in document.origins:
        subject, remedy = f"'{name}' (from {document.origins[key]})", "set the variable right or unset it"
    expected = _EXPECTED.get(error["type"], error["msg"])
    remedy = remedy or _quotes(error["input"], expected)
    message = f"{subject}: found {_shown(error['input'])}, expected {expected.format(**error.get('ctx', {}))}"
    return Finding(document.line(key), f"{message}; {remedy}" if remedy else message)


_EXPECTED = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "string_pattern_mismatch": "lower-case letters, digits and hyphens, at most 63",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "greater_than_equal": "{ge} or more",
    "greater_than": "more than {gt}",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "mapping_type": "keys with values",
    "dict_type": "keys with values",
    "model_type": "keys with values",
    "literal_error": "{expected}",
}

_REMEDIES = {
    "tracker": f"for a Backlog.md board write these five lines:\n{FIVE_LINES}",
    "tracker.kind": "for a Backlog.md folder write 'kind: backlog'",
    "agent.env": "write NAME: value, or a list of names to pass on",
    "hooks.env": "write NAME: value, or a list of names to pass on",
    "hooks.timeout_ms": "write how long a hook may take, in milliseconds",
}


def _quotes(found: object, expected: str) -> str:
    if expected.startswith("a text") and isinstance(found, bool | int | float):
        return "put quotes around it"
    if expected == "a list" and isinstance(found, str):
        return f"write [{found}]"
    return ""


def _spoken(key: Key) -> str:
    names = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key)
    return names.removeprefix(".")


def _shown(found: object) -> str:
    if isinstance(found, bool):
        return f"{str(found).lower()} (YAML reads yes, no, on and off so)"
    if isinstance(found, Mapping):
        return "keys with values"
    if isinstance(found, list):
        return "a list"
    text = repr(found)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


# A value in an error is there to be recognised, not read.
_LONGEST_SHOWN = 60
