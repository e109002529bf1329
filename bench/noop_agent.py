"""An agent without a program: it waits in the worker's thread for as long as somebody holds a file's lock, and is done.

`agent.kind: bench.noop_agent`, with the file in `agent.env.GATE`. A waiting turn costs a thread and no processor.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.domain.turn import Ending, Outcome, StopReason
from orchestrator.domain.workflow import AgentSettings
from orchestrator.ports.agent import Agent, AgentEvent, AgentSession, AgentTurn
from orchestrator.ports.supervisor import Supervisor


def connect(settings: AgentSettings, _: Mapping[str, str]) -> Agent:
    """The agent that waits at `settings.env["GATE"]`."""
    return WaitingAgent(Path(settings.env["GATE"]))


@dataclass(frozen=True, slots=True)
class WaitingAgent:
    """Starts nothing."""

    gate: Path

    def start(self, _turn: AgentTurn, _supervisor: Supervisor) -> AgentSession:
        """Wait at the gate, when asked how it ended."""
        return WaitingSession(self.gate)


@dataclass(frozen=True, slots=True)
class WaitingSession:
    """A turn that ends when the gate is opened."""

    gate: Path

    def events(self) -> Iterator[AgentEvent]:
        """It says nothing."""
        return iter(())

    def ending(self) -> Ending:
        """Done, once nobody holds the gate."""
        with self.gate.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH)
        return Ending(Outcome.DONE, StopReason.DONE, summary="waited")

    def cancel(self) -> None:
        """It ends by itself."""
