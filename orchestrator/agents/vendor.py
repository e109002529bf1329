"""A vendor's program that speaks a protocol of its own, behind a bridge of ours that the supervisor starts for a turn.

The bridge says what any command says (`command`), so clocks, transcript, evidence and cancel are the same for all. A
failure that a person has to put right (no such program, nobody logged in) holds the card instead of being tried again.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

from orchestrator import environment
from orchestrator.agents.bridges.saying import FOR_A_PERSON, Fault, Order
from orchestrator.agents.command import CommandSession, as_reported
from orchestrator.agents.report import Report
from orchestrator.domain.turn import Ending, Outcome, StopReason
from orchestrator.domain.workflow import AgentSettings
from orchestrator.ports.agent import AgentTurn
from orchestrator.ports.supervisor import ProcessOrder, Supervisor


@dataclass(frozen=True, slots=True)
class Vendor:
    """One vendor's program: the module of its bridge, the command where none is written, and variables of its own.

    `passed_on` are names by which the program itself is configured and finds its account; the agent that they belong to
    sees them where the worker has them. Anything else has to be named in `agent.env`.
    """

    bridge: str
    command: str
    passed_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VendorAgent:
    """Fits `ports.agent.Agent`."""

    vendor: Vendor
    settings: AgentSettings
    inherited: Mapping[str, str]

    def start(self, turn: AgentTurn, supervisor: Supervisor) -> CommandSession:
        """Start the bridge, which starts the program; raises supervisor.SpawnFailed."""
        turn.scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
        result = turn.scratch / "result.json"
        result.unlink(missing_ok=True)
        own = {name: f"${name}" for name in self.vendor.passed_on if name in self.inherited}
        variables = environment.build(turn, {**own, **self.settings.env}, self.inherited)
        order = ProcessOrder(
            turn_id=turn.turn_id,
            fence=turn.fence,
            # -P: a workspace is a stranger's folder, and a module of ours that it holds must not be taken for ours.
            argv=(sys.executable, "-P", "-m", f"orchestrator.agents.bridges.{self.vendor.bridge}"),
            cwd=turn.workspace,
            environment={**variables, "STATIONKEEPER_RESULT": str(result)},
            stdin=self._order(turn).packed(),
            transcript=turn.transcript,
            timeout_seconds=turn.timeout_seconds,
            stall_seconds=turn.stall_seconds,
            lock_path=turn.lock_path,
        )
        running = supervisor.spawn(order)
        return CommandSession(turn, supervisor, running=running, result=result, reading=_read)

    def _order(self, turn: AgentTurn) -> Order:
        return Order(
            command=self.settings.command.strip() or self.vendor.command,
            prompt=turn.prompt,
            session=turn.session,
            workspace=str(turn.workspace),
            read_seconds=self.settings.read_timeout_ms / 1000,
            options=self.settings.options,
        )


_HOLDS = frozenset(fault.value for fault in FOR_A_PERSON - {Fault.INPUT_REQUIRED})


def _read(said: Report) -> Ending:
    """What the bridge reported; what nobody but a person can mend is no word of the agent's."""
    ending = as_reported(said)
    if said.outcome is Outcome.BLOCKED and said.fault in _HOLDS:
        return replace(ending, stop=StopReason.CONTRACT_BROKEN)
    return ending
