"""Workspaces, a supervisor and an agent without processes: a scripted agent that writes down each of its runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from orchestrator.domain.turn import Ending, Outcome, StopReason
from orchestrator.domain.workflow import WorkspaceSettings
from orchestrator.ports.agent import AgentEvent, AgentTurn
from orchestrator.ports.store import Renewal, TurnRef
from orchestrator.ports.supervisor import ProcessOrder, Running, SpawnFailed
from orchestrator.ports.workspaces import Workspace


@dataclass(slots=True)
class MemoryWorkspaces:
    """Every item has a folder in name only."""

    def prepare(self, settings: WorkspaceSettings, identifier: str) -> Workspace:  # noqa: ARG002 -- the door's signature
        """A workspace that is always there."""
        path = Path("memory") / identifier
        return Workspace(path, path.with_suffix(".lock"), None, None, "", created_now=False)

    def changed_since(self, workspace: Workspace) -> bool:  # noqa: ARG002 -- the door's signature
        """Nothing ever changes here."""
        return False


@dataclass(slots=True)
class HandSupervisor:
    """Renews when it is told to; sees cancels as the real one does, by the renewal's answer."""

    renew: Callable[[list[TurnRef]], Mapping[UUID, Renewal]]
    adopted: dict[UUID, TurnRef] = field(default_factory=dict)
    cancels: dict[UUID, StopReason] = field(default_factory=dict)

    def adopt(self, ref: TurnRef, *, lease_key: str | None, sent_at: float, step_seconds: float | None = None) -> None:  # noqa: ARG002
        """Remember a turn."""
        self.adopted[ref.turn_id] = ref

    def begin_step(self, turn_id: UUID, seconds: float) -> None:
        """Steps have no deadline here."""

    def release(self, turn_id: UUID) -> None:
        """Forget a turn."""
        self.adopted.pop(turn_id, None)

    def spawn(self, order: ProcessOrder) -> Running:
        """There are no processes here."""
        raise SpawnFailed(str(order.argv))

    def cancelled(self, turn_id: UUID) -> StopReason | None:
        """What the last pulse saw."""
        return self.cancels.get(turn_id)

    def beat(self) -> None:
        """The hand is always awake."""

    def stop_all(self) -> None:
        """Every turn is handed back."""
        self.cancels.update(dict.fromkeys(self.adopted, StopReason.DEPLOY))

    def pulse(self) -> None:
        """One renewal of every adopted turn, with what it tells."""
        refs = list(self.adopted.values())
        for turn_id, found in self.renew(refs).items() if refs else ():
            if not found.ours:
                self.cancels[turn_id] = StopReason.LOST_WORKER
            elif found.cancel is not None:
                self.cancels[turn_id] = found.cancel


@dataclass(frozen=True, slots=True)
class Run:
    """One run of an agent, as its own log has it."""

    identifier: str
    turn_id: UUID
    fence: int
    event: str


@dataclass(slots=True)
class ScriptedAgents:
    """Agents that do what their script says, one ending a turn; without a script they are done at once."""

    log: list[Run] = field(default_factory=list)
    scripts: dict[str, list[Ending]] = field(default_factory=lambda: defaultdict(list))
    during: Callable[[AgentTurn], None] = lambda _turn: None

    def start(self, turn: AgentTurn, supervisor: HandSupervisor) -> ScriptedSession:
        """Begin a run and write it down."""
        self.log.append(Run(turn.identifier, turn.turn_id, turn.fence, "start"))
        return ScriptedSession(self, turn, supervisor)

    def next_ending(self, identifier: str) -> Ending:
        """The next line of the item's script."""
        script = self.scripts[identifier]
        return script.pop(0) if script else Ending(Outcome.DONE, StopReason.DONE, summary=f"did {identifier}")


@dataclass(slots=True)
class ScriptedSession:
    """A run under way."""

    agents: ScriptedAgents
    turn: AgentTurn
    supervisor: HandSupervisor

    def events(self) -> Iterator[AgentEvent]:
        """One usage event; while the agent works, the world may do something."""
        self.agents.during(self.turn)
        self.supervisor.pulse()
        yield AgentEvent("usage", {"input_tokens": 1, "output_tokens": 1})

    def ending(self) -> Ending:
        """As a cancel says, else as the script says."""
        stop = self.supervisor.cancelled(self.turn.turn_id)
        if stop is not None:
            self.agents.log.append(Run(self.turn.identifier, self.turn.turn_id, self.turn.fence, f"stopped:{stop.value}"))
            return Ending(Outcome.FAILED, stop)
        ending = self.agents.next_ending(self.turn.identifier)
        self.agents.log.append(Run(self.turn.identifier, self.turn.turn_id, self.turn.fence, ending.outcome.value))
        return ending

    def cancel(self) -> None:
        """Scripts end by themselves."""
