"""Keys that nobody reads: a warning for each, with the closest key that is read.

A warning and no error: a file written for a peer must load, and a typing error must not pass in silence.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping

from pydantic import BaseModel

from orchestrator.workflow import blocks
from orchestrator.workflow.findings import Finding
from orchestrator.workflow.front_matter import Document

# For a tracker that is not ours: near enough to a key of ours to be a slip of the hand, and no key of its own.
_SLIP_OF_THE_HAND = 0.85


def unread(document: Document) -> Iterator[Finding]:
    """A finding for each key that is not read."""
    kind = _block(document, "agent").get("kind", "command")
    for name in document.values:
        if name == kind:
            continue  # the settings of the agent in use
        if name in blocks.NOT_USED_YET:
            yield Finding(document.line((name,)), f"'{name}' is not used yet")
        elif name not in blocks.FrontMatter.model_fields:
            yield _unknown(document, (name,), blocks.FrontMatter.model_fields)
    for name, model in _MODELS.items():
        for key in _block(document, name):
            if key not in model.model_fields:
                yield _unknown(document, (name, key), model.model_fields)
    yield from _tracker(document)


_MODELS: Mapping[str, type[BaseModel]] = {
    "polling": blocks.Polling,
    "workspace": blocks.Workspace,
    "agent": blocks.Agent,
}


def _tracker(document: Document) -> Iterator[Finding]:
    block = _block(document, "tracker")
    roles = blocks.Tracker.model_fields.keys()
    options = blocks.TRACKER_OPTIONS.get(str(block.get("kind")))
    known = {*roles, *(blocks.EVERY_TRACKER_OPTION if options is None else options)}
    for key in block:
        if key not in known and (options is not None or difflib.get_close_matches(key, known, 1, _SLIP_OF_THE_HAND)):
            yield _unknown(document, ("tracker", key), known)


def _unknown(document: Document, key: tuple[str, ...], known: Collection[str]) -> Finding:
    near = difflib.get_close_matches(key[-1], sorted(known), n=1)
    remedy = f"did you mean '{'.'.join([*key[:-1], near[0]])}'?" if near else f"known are {', '.join(sorted(known))}"
    return Finding(document.line(key), f"unknown key '{'.'.join(key)}' is not read; {remedy}")


def _block(document: Document, name: str) -> Mapping[str, object]:
    block = document.values.get(name)
    return block if isinstance(block, Mapping) else {}
