"""`orchestrator run KEY --dry-run`: whether a card would start, where, and with which prompt. Needs no server.

It runs no agent: an agent that works may push or call out, and a rehearsal must leave nothing behind.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import adapters, prompts, settings, workflow
from orchestrator.cli import judge
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.domain import contract, keys, select
from orchestrator.domain.item import Item
from orchestrator.domain.workflow import Workflow
from orchestrator.engine import blockers
from orchestrator.ports.prompts import PromptFailed, Prompts
from orchestrator.ports.workflows import Workflows


@dataclass(frozen=True, slots=True)
class Desk:
    """The doors that need no server: files, boards and prompts."""

    workflows: Workflows
    tracker: adapters.Trackers
    prompts: Prompts


def open_desk(path: Path) -> Desk:
    """The doors for a look at a workflow file, or a folder of them, with no system behind it."""
    resolve = functools.partial(workflow.opened_options, environment=settings.inherited())
    return Desk(judge.door([path.absolute()]), adapters.Trackers(resolve), prompts.LiquidPrompts())


def rehearse(desk: Desk, key: str) -> Iterator[str]:
    """What would happen to the card, line by line. Raises Trouble, TrackerError, WorkflowInvalid."""
    files = [desk.workflows.read(path) for path in desk.workflows.files()]
    found = [(file.workflow, item) for file in files for item in _cards(desk, file.workflow, key)]
    if not found:
        boards = ", ".join(str(file.path) for file in files)
        message = f"{key}: no card of that identifier or id on the board of {boards}; correct it, or name --workflow"
        raise Trouble(Exit.BROKEN, message)
    for served, item in found:
        yield from _sentences(desk, served, item)


def _cards(desk: Desk, served: Workflow, key: str) -> Iterator[Item]:
    tracker = desk.tracker(served)
    states = _states(tracker.states(), served)
    for page in tracker.list_items(states):
        yield from (blockers.of(tracker, item) for item in page.items if select.is_called(item, key))


def _states(live: Sequence[str], served: Workflow) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*live, *(state for _, state in served.contract.roles()))))


def _sentences(desk: Desk, served: Workflow, item: Item) -> Iterator[str]:
    yield f"{item.identifier}: {item.title} ({item.state}, workflow {served.name})"
    lacking = contract.missing(served.contract, desk.tracker(served).states())
    wait = select.wants(item, served.contract, served.limits)
    if lacking:
        yield f"  would not start: {lacking[0].key}: {lacking[0].message}"
    elif wait is not None:
        reason = wait.reason if served.contract.is_active(item.state) else select.NotDispatched.NOT_ACTIVE
        yield f"  would not start: {reason.value} ({wait.detail})"
    else:
        yield "  would start: as soon as there is a slot, unless our records hold it (see `orchestrator explain`)"
    yield f"  in: {Path(served.workspace.root) / keys.workspace_key(item.identifier)}"
    if served.workspace.repository is not None:
        yield f"  on branch: {keys.branch_name(served.workspace.branch, item.identifier)}"
    yield f"  agent: {served.agent.command or served.agent.kind}"
    yield "  prompt:"
    yield from (f"    {line}" for line in _prompt(desk, served, item).splitlines())


def _prompt(desk: Desk, served: Workflow, item: Item) -> str:
    run = {"turn_number": 1, "max_turns": served.turn_limits.max_turns, "is_continuation": False}
    try:
        return desk.prompts.render(served.prompt, item, attempt=None, run=run, retry_kind=None)
    except PromptFailed as error:
        return f"it cannot be rendered: {error}"
