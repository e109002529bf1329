"""What the flow and task commands share: the flows of the settings, the store, a ring, and who is asking."""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

import orchestrator.store.migrate as schema
from orchestrator import settings
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.domain.step import FlowContract
from orchestrator.flows.loading import FlowFiles
from orchestrator.store.flows.showing import TaskStory
from orchestrator.store.open import PostgresStore, open_store

_PARTS = ("steps", "questions", "failures", "ledger", "turns")

__all__ = [
    "FlowFiles",
    "PostgresStore",
    "TaskStory",
    "flows",
    "opened",
    "outcome_of",
    "plain",
    "refuse_unknown_agents",
    "ring",
    "who",
]


def flows() -> FlowFiles:
    """The flows that the settings name; a running system need not be there to look at them."""
    return FlowFiles(settings.named_flows())


@contextmanager
def opened() -> Iterator[PostgresStore]:
    """The store of this folder's system. Raises settings.NotConfigured, SchemaMismatch, StoreUnavailable."""
    database_url = settings.load().database_url
    schema.refuse_other_schema(database_url)
    store = open_store(database_url)
    try:
        yield store
    finally:
        store.close()


def refuse_unknown_agents(contract: FlowContract) -> None:
    """A decision's agent must be one that can be started here, before a task asks it. Raises Trouble."""
    from orchestrator.adapters import Agents
    from orchestrator.ports.agent import AgentMisconfigured

    agents = Agents(settings.inherited())
    for step in contract.steps:
        try:
            if step.proposer is not None:
                agents(step.proposer)
        except AgentMisconfigured as error:
            where = f"{contract.place}: step {step.name!r} of {contract.name}"
            raise Trouble(Exit.CONFIGURATION, f"{where}: {error}") from error


def ring(workflow: str) -> None:
    """Bring the flow's tick forward; a broker that is away costs a second, not the task."""
    from orchestrator.celery import app
    from orchestrator.ports.queue import PublishFailed
    from orchestrator.queue import CeleryQueue

    with suppress(PublishFailed):
        CeleryQueue(app.send_task, lambda: app.producer_pool.acquire(block=True)).ring(workflow)


def who() -> str:
    """The user who types."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "a person"


def outcome_of(flow: str, step: str, word: str) -> dict[str, object]:
    """A person's word as the step's declared output. Raises Trouble."""
    from orchestrator.flows import checking, signatures

    try:
        judge = signatures.adapter(checking.output_of(flows().flow(flow).step(step)))
        found: dict[str, object] = judge.dump_python(judge.validate_json(word), mode="json")
    except ValueError as error:
        raise Trouble(Exit.USAGE, f"--committed: {error}; expected what the step gives, as JSON") from error
    return found


def plain(story: TaskStory) -> dict[str, Any]:
    """A story for programs."""
    parts = {name: [row._asdict() for row in getattr(story, name)] for name in _PARTS}
    return {**json.loads(json.dumps(asdict(story.line), default=_word)), "given": dict(story.given), **parts}


def _word(value: object) -> object:
    return getattr(value, "value", None) or str(value)
