"""Hooks: commands of the workflow around a run, as children of the supervisor like every agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from uuid import UUID

from orchestrator.domain.turn import StopReason
from orchestrator.domain.workflow import Hook
from orchestrator.ports.supervisor import Supervisor


@dataclass(frozen=True, slots=True)
class HookOrder:
    """A command to run in `workspace`. `output` is the file that keeps what it says, `env` what it is passed on."""

    hook: Hook
    command: str
    turn_id: UUID
    fence: int
    issue_id: str
    identifier: str
    attempt: int
    workspace: Path
    output: Path
    timeout_seconds: float
    lock_path: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HookEnd:
    """How a hook ended: `stop` is None when all is well, else the reason; `how` in words, `tail` its last words."""

    stop: StopReason | None
    how: str
    tail: str
    output: Path


class Hooks(Protocol):
    """Runs hooks on this host."""

    def run(self, order: HookOrder, supervisor: Supervisor) -> HookEnd:
        """Run it to its end; whatever goes wrong is in the answer. A step of its turn begins with it."""
        ...
