"""What a step of a flow promises, as plain data: what the engine decides by, and what a task is bound to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from orchestrator.domain.workflow import AgentSettings

# Names of the workflows behind flows: no workflow file can bear one, since a slug has no colon.
PREFIX = "flow:"
# The scope of items that stand for tasks without a card.
SCOPE = "flow"


class NodeKind(Enum):
    """What a node of a flow is."""

    STEP = "step"  # a plain function that changes nothing, or nothing that a second run would change again
    DECISION = "decision"  # a model's output, accepted or refused by code
    EFFECT = "effect"  # something done outside: intended, done, settled
    QUESTION = "question"  # a person's answer, accepted or refused by code; the task waits for it without a worker


class SideEffect(Enum):
    """What running a node twice would do."""

    READ = "read"  # nothing
    IDEMPOTENT_WRITE = "idempotent_write"  # the same again
    WRITE = "write"  # it twice, unless the ledger prevents it
    IRREVERSIBLE = "irreversible"  # it twice, and nobody can undo it


@dataclass(frozen=True, slots=True)
class Proposer:
    """The agent program that a decision asks."""

    agent: AgentSettings


@dataclass(frozen=True, slots=True)
class StepContract:
    """One node's contract.

    `ordinal` is its number in the flow, from 1. `takes` maps each parameter to its type's name, `gives` names the
    output's. `looks_up`: the target can be asked by key. `deduplicates`: the target itself takes a key once.
    `safe_seconds`: how long the target knows a key. `compensation` is the contract of the effect that takes this one
    back; its ordinal follows those of the flow's steps, in the order in which they are undone. `proposer` is the agent
    program that a decision asks; None: a function stands for it. `expires_seconds`: how long a question waits for its
    answer; None: as long as its task may last.
    """

    ordinal: int
    name: str
    kind: NodeKind
    side_effect: SideEffect
    owner: str
    takes: Mapping[str, str]
    gives: str
    authority: str | None
    timeout_seconds: float
    max_attempts: int
    retryable: tuple[str, ...]
    ends_when: str | None = None
    looks_up: bool = False
    deduplicates: bool = False
    safe_seconds: float = 86_400.0
    compensation: StepContract | None = None
    policy: str | None = None
    proposer: Proposer | None = None
    expires_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class FlowContract:
    """A flow as the engine knows it; `digest` changes with anything that a stored task depends on.

    `isolated`: each step runs in a process of its own, which can be frozen and killed. `quantum_seconds` is how long a
    turn goes on before others get its slot. `keep_days`: how long a task is kept after its end; None: until a person
    prunes.
    """

    name: str
    version: int
    owner: str
    takes: str
    steps: tuple[StepContract, ...]
    authority: frozenset[str]
    isolated: bool
    deadline_seconds: float | None
    quantum_seconds: float
    max_concurrent: int
    digest: str
    body: str
    place: str
    keep_days: float | None = None

    @property
    def compensations(self) -> tuple[StepContract, ...]:
        """What takes effects back, in the order in which it is done: the last effect first."""
        return tuple(step.compensation for step in reversed(self.steps) if step.compensation is not None)

    @property
    def workflow(self) -> str:
        """The name of the row that its tasks belong to."""
        return workflow_of(self.name)


def workflow_of(flow: str) -> str:
    """The workflow row's name of a flow."""
    return f"{PREFIX}{flow}"


def is_flow(workflow: str) -> bool:
    """Whether a workflow row stands for a flow, and no board."""
    return workflow.startswith(PREFIX)


def flow_of(workflow: str) -> str:
    """The flow's name behind a workflow row."""
    return workflow.removeprefix(PREFIX)
