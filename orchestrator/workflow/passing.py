"""Warns of variables that a hook reads and will find empty: hooks see an allow-list, a peer's may have seen more."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from orchestrator import environment
from orchestrator.domain import shell
from orchestrator.domain.workflow import Hook
from orchestrator.workflow.blocks import Hooks
from orchestrator.workflow.findings import Finding
from orchestrator.workflow.front_matter import Document

# Whoever has more to add than this reads the rest at the next try.
_MAX_TOLD = 20
_MAX_NAME = 64


def told(hooks: Hooks, document: Document, inherited: Mapping[str, str]) -> Iterator[Finding]:
    """A warning for each variable that nothing gives to a hook that reads it, with the line that would."""
    met = list(itertools.islice(_met(hooks, document), _MAX_TOLD))
    closed = list(dict.fromkeys(name for name, *_ in met if not environment.is_passed(name)))
    for name, hook, line, sources in met:
        where = f"'hooks.{hook.value}' reads ${name}"
        if not environment.is_passed(name):
            unless = ", unless what it sources sets it" if sources else ""
            yield Finding(
                line, f"{where}, which is empty there{unless}: hooks see an allow-list; {_remedy(hooks, closed)}"
            )
        elif not inherited.get(name):
            passed = f"{environment.PEER_PREFIX}… variables are passed on to the hooks that name them"
            yield Finding(line, f"{where}, which is not set here; {passed}: set it where the workers run")


def _met(hooks: Hooks, document: Document) -> Iterator[tuple[str, Hook, int, bool]]:
    given = {*environment.NAMES, *shell.SHELLS_OWN, *hooks.env}
    for hook in Hook:
        script = getattr(hooks, hook.value) or ""
        reading = shell.read(script)
        first = document.line(("hooks", hook.value))
        for name, below in reading.names.items():
            if name not in given and len(name) <= _MAX_NAME:
                # The text of a block begins below its key, one on a single line beside it.
                yield name, hook, first + (below + 1 if "\n" in script else 0), reading.sources


def _remedy(hooks: Hooks, names: list[str]) -> str:
    """The line to write, for all that is missing at once."""
    if any(value != f"${name}" for name, value in hooks.env.items()):
        return f"add below 'env:' of 'hooks': {', '.join(f'{name}: ${name}' for name in names)}"
    wanted = f"env: [{', '.join([*hooks.env, *names])}]"
    return f"make the line of 'hooks.env' {wanted}" if hooks.env else f"add below 'hooks:' the line: {wanted}"
