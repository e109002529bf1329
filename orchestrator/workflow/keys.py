"""Keys that nobody reads: a warning for each, with the closest key that is read.

A warning and no error: a file written for a peer must load, and a typing error must not pass in silence.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Collection, Iterator, Mapping

from pydantic import BaseModel

from orchestrator.workflow import blocks
from orchestrator.workflow.findings import Finding
from orchestrator.workflow.front_matter import Document, Key

# For a tracker that is not ours: near enough to a key of ours to be a slip of the hand, and no key of its own.
_SLIP_OF_THE_HAND = 0.85
# Whoever has more to mend than this reads the rest at the next try.
MAX_WARNINGS = 50
# Names are compared in quadratic time, and no key of ours is longer.
LONGEST_NAME = 64


def unread(document: Document) -> Iterator[Finding]:
    """A finding for each key that is not read."""
    return itertools.islice(_every_unread(document), MAX_WARNINGS)


def agent_kind(document: Document) -> str:
    """The kind of agent that a file means: one with `codex:` and no `agent.kind` comes from a peer and means that."""
    return str(_block(document, "agent").get("kind") or ("codex" if "codex" in document.values else "command"))


def meant(document: Document, key: Key) -> str:
    """The key beside a missing one that was probably meant to be it, as the end of a sentence; else nothing."""
    block = document.values if len(key) == 1 else _block(document, str(key[0]))
    strangers = [name for name in itertools.islice(block, MAX_WARNINGS) if len(name) <= LONGEST_NAME]
    near = difflib.get_close_matches(str(key[-1]), strangers, n=1, cutoff=_SLIP_OF_THE_HAND)
    if not near or near[0] == key[-1]:
        return ""
    return f" (is {near[0]!r} in line {document.line((*key[:-1], near[0]))} meant to be it?)"


def _every_unread(document: Document) -> Iterator[Finding]:
    kind = agent_kind(document)
    for name in document.values:
        if name == kind:
            continue  # the settings of the agent in use
        if name in blocks.NOT_USED_YET:
            yield Finding(document.line((name,)), f"'{name}' is not used yet")
        elif name in blocks.AGENT_BLOCKS:
            yield Finding(document.line((name,)), f"'{name}' is not used, since 'agent.kind' is {kind!r}")
        elif name not in blocks.FrontMatter.model_fields:
            yield _unknown(document, (name,), blocks.FrontMatter.model_fields)
    own = {kind: blocks.AGENT_BLOCKS[kind]} if kind in blocks.AGENT_BLOCKS else {}
    for name, model in {**_MODELS, **own}.items():
        for key in _block(document, name):
            if key not in model.model_fields:
                yield _unknown(document, (name, key), model.model_fields)
    yield from _tracker(document)


_MODELS: Mapping[str, type[BaseModel]] = {
    "polling": blocks.Polling,
    "workspace": blocks.Workspace,
    "hooks": blocks.Hooks,
    "agent": blocks.Agent,
}


def _tracker(document: Document) -> Iterator[Finding]:
    block = _block(document, "tracker")
    roles = blocks.Tracker.model_fields.keys()
    options = blocks.TRACKER_OPTIONS.get(str(block.get("kind")))
    known = {*roles, *(blocks.EVERY_TRACKER_OPTION if options is None else options)}
    for key in block:
        slip = len(key) <= LONGEST_NAME and difflib.get_close_matches(key, known, 1, _SLIP_OF_THE_HAND)
        if key not in known and (options is not None or slip):
            yield _unknown(document, ("tracker", key), known)


def _unknown(document: Document, key: tuple[str, ...], known: Collection[str]) -> Finding:
    shown = [name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…" for name in key]
    near = difflib.get_close_matches(shown[-1], sorted(known), n=1)
    remedy = f"did you mean '{'.'.join([*key[:-1], near[0]])}'?" if near else f"known are {', '.join(sorted(known))}"
    return Finding(document.line(key), f"unknown key '{'.'.join(shown)}' is not read; {remedy}")


def _block(document: Document, name: str) -> Mapping[str, object]:
    block = document.values.get(name)
    return block if isinstance(block, Mapping) else {}
