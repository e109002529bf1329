"""The agent: a program that works on one item for one turn.

An adapter is one file with `connect(settings, inherited) -> Agent`: the workflow's agent settings, and the worker's
environment to pick from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from uuid import UUID

from orchestrator.domain.turn import Ending
from orchestrator.domain.workflow import AgentSettings
from orchestrator.ports.supervisor import Supervisor


class AgentMisconfigured(Exception):
    """A workflow's agent settings cannot work; the message names the key, what was found and what to do."""


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """Everything that an agent needs for one turn; the adapter builds the program's environment from it.

    `workspace` is its working directory (canonical), `scratch` a folder of ours outside the worktree for this turn
    (result and prompt files), `transcript` the file that keeps all of its output. `attempt` counts from 1. `evidence`
    tells whether HEAD moved or the tree changed since the workspace was prepared; asked only when the agent ended well
    without a word, it may raise WorkspaceFailed. Times are seconds; a `stall_seconds` of None switches the stall clock
    off.
    """

    turn_id: UUID
    fence: int
    issue_id: str
    identifier: str
    attempt: int
    prompt: str
    workspace: Path
    scratch: Path
    transcript: Path
    session: str | None
    evidence: Callable[[], bool]
    timeout_seconds: float
    stall_seconds: float | None
    lock_path: Path | None = None


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """Something that the agent said while it worked; `type` is message, usage, session or tool.

    A tool's event has its `name` and what tells this call's `arguments` from others: themselves, or a digest.
    """

    type: str
    data: Mapping[str, object] = field(default_factory=dict)


class AgentSession(Protocol):
    """A turn under way."""

    def events(self) -> Iterator[AgentEvent]:
        """What the agent says, as it says it; ends when its process and every descendant is gone."""
        ...

    def ending(self) -> Ending:
        """How the turn ended; blocks until it has. Success only from its last word or from evidence (RT-17)."""
        ...

    def cancel(self) -> None:
        """Ask for the end; `ending` then tells of it. Does not wait."""
        ...


class Employer(Protocol):
    """Who has an agent at work: a workflow for its cards, or a decision of a flow."""

    @property
    def agent(self) -> AgentSettings:
        """Which agent, and its settings."""
        ...


class Agent(Protocol):
    """One kind of agent program, with its settings."""

    def start(self, turn: AgentTurn, supervisor: Supervisor) -> AgentSession:
        """Start the program under `supervisor`; raises supervisor.SpawnFailed when it cannot be started."""
        ...
