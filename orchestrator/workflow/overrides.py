"""Settings that the environment may give in place of the file: a closed list, each under a name with our prefix.

A variable beats the file, in every workflow of the process. A text is put in as `${NAME}`, so it is resolved where
every `$VAR` is, once and never looked into again: a secret that holds a dollar sign survives, and none stands in a row.
What would widen who may hand in work or what is run beside the agent (labels, authors, hooks, `env`, caps by state, the
blocks of an agent kind) cannot be set from here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from orchestrator.workflow.findings import Code, Finding, Rejected
from orchestrator.workflow.front_matter import Document, Key

PREFIX = "STATIONKEEPER_"
# Set to `off`, the file alone counts.
SWITCH = "STATIONKEEPER_OVERRIDES"

TEXTS: frozenset[Key] = frozenset(
    {
        ("tracker", "path"),
        ("tracker", "endpoint"),
        ("tracker", "project"),
        ("tracker", "api_key"),
        ("tracker", "query_filter"),
        ("tracker", "assignee"),
        ("tracker", "in_progress_state"),
        ("tracker", "handoff_state"),
        ("workspace", "root"),
        ("workspace", "repository"),
        ("workspace", "base"),
        ("workspace", "branch"),
    }
)
# Taken as they are: nothing of ours resolves a variable in them.
WORDS: frozenset[Key] = frozenset({("tracker", "kind"), ("agent", "kind"), ("agent", "command")})
# Separated by commas.
LISTS: frozenset[Key] = frozenset({("tracker", "active_states"), ("tracker", "terminal_states")})
NUMBERS: frozenset[Key] = frozenset(
    {
        ("polling", "interval_ms"),
        ("polling", "whole_board_ms"),
        ("agent", "max_concurrent_agents"),
        ("agent", "max_turns"),
        ("agent", "max_sessions"),
        ("agent", "max_attempts"),
        ("agent", "max_retry_backoff_ms"),
        ("agent", "turn_timeout_ms"),
        ("agent", "stall_timeout_ms"),
        ("agent", "read_timeout_ms"),
        ("agent", "max_repeated_calls"),
    }
)


def name_of(key: Key) -> str:
    """The variable that overrides a key."""
    return PREFIX + "_".join(map(str, key)).upper()


NAMES: Mapping[Key, str] = {key: name_of(key) for key in sorted(TEXTS | WORDS | LISTS | NUMBERS, key=str)}


def overridden(document: Document, environment: Mapping[str, str]) -> Document:
    """The document with what the environment sets. Raises Rejected for a value that cannot be what it should."""
    if environment.get(SWITCH, "").strip().casefold() in {"off", "0", "false", "no"}:
        return document
    given = {key: environment[name] for key, name in NAMES.items() if environment.get(name)}
    values = dict(document.values)
    for key, value in given.items():
        block, setting = map(str, key)
        inner = values.get(block, {})
        if isinstance(inner, Mapping):
            values[block] = {**inner, setting: _read(document, key, value)}
    return replace(document, values=values, origins={key: NAMES[key] for key in given})


def told(document: Document) -> Iterator[Finding]:
    """A warning for each value that is not the file's: whoever reads the file should not be surprised."""
    for key, name in document.origins.items():
        yield Finding(document.line(key), f"'{'.'.join(map(str, key))}' comes from {name}, not from the file")


def forbidden(environment: Mapping[str, str], document: Document) -> Iterator[Finding]:
    """A warning for each variable that looks like an override of a key which has none."""
    closed = {name_of((block, key)): f"{block}.{key}" for block, keys in NEVER.items() for key in keys}
    for name in sorted(closed.keys() & environment.keys()):
        yield Finding(document.line(()), f"{name} is ignored; '{closed[name]}' cannot be set through the environment")


NEVER: Mapping[str, tuple[str, ...]] = {
    "tracker": ("required_labels", "trusted_authors"),
    "agent": ("env", "prompt", "max_concurrent_agents_by_state"),
    "hooks": ("after_create", "before_run", "after_run", "before_remove", "timeout_ms", "env"),
}


def _read(document: Document, key: Key, value: str) -> object:
    if key in TEXTS:
        return f"${{{NAMES[key]}}}"
    if key in LISTS:
        return [word.strip() for word in value.split(",")]
    if key in NUMBERS:
        if not re.fullmatch(r"-?[0-9]{1,18}", value.strip()):
            message = (
                f"'{'.'.join(map(str, key))}': found {value!r} in {NAMES[key]}, expected a whole number; set it right"
            )
            raise Rejected(Code.PARSE_ERROR, [Finding(document.line(key), f"{message} or unset it")])
        return int(value)
    return value
