"""Workspaces, a supervisor and an agent without processes: a scripted agent that writes down each of its runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from orchestrator.domain.turn import Ending, Outcome, StopReason
from orchestrator.domain.workflow import Hook, WorkspaceSettings
from orchestrator.ports.agent import AgentEvent, AgentTurn
from orchestrator.ports.hooks import HookEnd, HookOrder
from orchestrator.ports.store import Made, Renewal, TurnRef
from orchestrator.ports.supervisor import ProcessOrder, Refusal, Running, SpawnFailed
from orchestrator.ports.workspaces import Root, Workspace, WorkspaceFailed

# What a supervisor subtracts from a lease, so that a program is frozen before anybody may take its turn over.
GRACE_SECONDS = 5.0


class Killed(BaseException):
    """A process of ours is dead: nothing that it still tries to do happens."""


@dataclass(slots=True)
class MemoryWorkspaces:
    """Every item has a folder in name only; nothing ever changes in it, unless `changed` says so.

    `finished` are those whose making is complete; `undone` counts what was taken back. Items in `unfinished` have work
    that would be lost; `kept` and `removed` say what became of it; `broken` is why nothing can be removed;
    `starts` are the commits from which each turn was told to begin, `disk` is what is mounted as the root.
    """

    changed: bool = False
    finished: set[Path] = field(default_factory=set)
    undone: int = 0
    unfinished: set[str] = field(default_factory=set)
    kept: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    broken: str | None = None
    starts: list[str | None] = field(default_factory=list)
    disk: str = "disk"

    def root(self, settings: WorkspaceSettings) -> Root:
        """The folder that this host has mounted."""
        return Root(Path(settings.root), self.disk)

    def prepare(
        self, settings: WorkspaceSettings, identifier: str, *, start: str | None = None, has_hook: bool = True
    ) -> Workspace:
        """A workspace, made now until its making was finished once."""
        del settings, has_hook
        self.starts.append(start)
        path = Path("memory") / identifier
        return Workspace(path, path.with_suffix(".lock"), None, None, "", created_now=path not in self.finished)

    def finish(self, workspace: Workspace) -> None:
        """It is complete."""
        self.finished.add(workspace.path)

    def undo(self, workspace: Workspace) -> None:
        """Take back what was not finished."""
        self.undone += workspace.path not in self.finished

    def inspect(self, workspace: Workspace) -> Workspace:
        """Nothing is there to be seen."""
        return workspace

    def closed(self, made: Made) -> AbstractContextManager[None]:  # noqa: ARG002 -- the door's signature
        """Nobody else is here."""
        return nullcontext()

    def preserve(
        self,
        made: Made,
        name: str,
        folder: Path,  # noqa: ARG002 -- the door's signature
        *,
        ignored: Sequence[str] = (),  # noqa: ARG002 -- the same
    ) -> str | None:
        """Keep what would be lost."""
        if made.path.name not in self.unfinished:
            return None
        self.kept.append(name)
        return f"refs/stationkeeper/kept/{name}"

    def remove(self, made: Made) -> None:
        """It is gone, unless that cannot be."""
        if self.broken is not None:
            raise WorkspaceFailed(self.broken)
        self.finished.discard(made.path)
        self.removed.append(made.path.name)

    def changed_since(self, workspace: Workspace) -> bool:  # noqa: ARG002 -- the door's signature
        """Whether the agent did something."""
        return self.changed


@dataclass(slots=True)
class HandSupervisor:
    """Renews when it is told to, and before it lets a program start or go on past its turn's local deadline."""

    renew: Callable[[list[TurnRef]], Mapping[UUID, Renewal]]
    boot_seconds: Callable[[], float]
    lease_seconds: float
    adopted: dict[UUID, TurnRef] = field(default_factory=dict)
    deadlines: dict[UUID, float] = field(default_factory=dict)
    cancels: dict[UUID, StopReason] = field(default_factory=dict)
    frozen: set[UUID] = field(default_factory=set)
    is_dead: bool = False

    def adopt(self, ref: TurnRef, *, lease_key: str | None, sent_at: float, step_seconds: float | None = None) -> None:  # noqa: ARG002
        """Remember a turn, trusted until its lease, counted from the sending, is nearly over."""
        self.adopted[ref.turn_id] = ref
        self._trust(ref, sent_at)

    def begin_step(self, turn_id: UUID, seconds: float) -> None:
        """Steps have no deadline here."""

    def release(self, turn_id: UUID) -> None:
        """Forget a turn; a worker that is being unwound because it died does not even do that."""
        if not self.is_dead:
            self.adopted.pop(turn_id, None)

    def spawn(self, order: ProcessOrder) -> Running:
        """There are no processes here."""
        raise SpawnFailed(Refusal.AGENT_NOT_FOUND, str(order.argv))

    def cancelled(self, turn_id: UUID) -> StopReason | None:
        """What the last pulse saw."""
        return self.cancels.get(turn_id)

    def beat(self) -> None:
        """The hand is always awake."""

    def has_processes(self, turn_id: UUID) -> bool:
        """What the world says: a frozen agent is one."""
        return turn_id in self.frozen

    def stop_all(self) -> None:
        """Every turn is handed back."""
        self.cancels.update(dict.fromkeys(self.adopted, StopReason.DEPLOY))

    def confirm(self, turn_id: UUID) -> None:
        """Let a program start: only for an adopted turn, and past its local deadline only once it was renewed."""
        if self.boot_seconds() > self.deadlines.get(turn_id, 0.0):
            self.pulse()
        if turn_id not in self.adopted or self.cancelled(turn_id) is StopReason.LOST_WORKER:
            raise SpawnFailed(Refusal.NOT_ADOPTED, str(turn_id))

    def pulse(self) -> None:
        """One renewal of every adopted turn, with what it tells."""
        if self.is_dead:
            raise Killed
        sent_at, refs = self.boot_seconds(), list(self.adopted.values())
        for turn_id, found in self.renew(refs).items() if refs else ():
            if not found.ours:
                self.cancels[turn_id] = StopReason.LOST_WORKER
                continue
            self._trust(self.adopted[turn_id], sent_at)
            if found.cancel is not None:
                self.cancels[turn_id] = found.cancel

    def _trust(self, ref: TurnRef, sent_at: float) -> None:
        self.deadlines[ref.turn_id] = sent_at + self.lease_seconds - GRACE_SECONDS


@dataclass(slots=True)
class ScriptedHooks:
    """Hooks that only write down that they ran; the ones in `fails` end with that reason, each time.

    `during` is what happens in the world while one runs.
    """

    log: list[tuple[str, Hook]] = field(default_factory=list)
    fails: dict[Hook, StopReason] = field(default_factory=dict)
    during: Callable[[HookOrder], None] = lambda _order: None

    def run(self, order: HookOrder, supervisor: HandSupervisor) -> HookEnd:
        """Run one as a supervisor would: not for a turn that is lost, and a cancel ends all but the farewell."""
        try:
            if order.hook is not Hook.BEFORE_REMOVE:  # an errand belongs to no turn
                supervisor.confirm(order.turn_id)
        except SpawnFailed as fault:
            return HookEnd(StopReason.HOOK_FAILED, str(fault), "", order.output)
        self.log.append((order.identifier, order.hook))
        self.during(order)
        supervisor.pulse()
        stop = self.fails.get(order.hook)
        cancel = supervisor.cancelled(order.turn_id)
        if cancel is not None and (order.hook is not Hook.AFTER_RUN or cancel is StopReason.LOST_WORKER):
            stop = cancel
        return HookEnd(stop, "exited with 1" if stop else "exited with 0", f"{order.hook.value} spoke", order.output)


@dataclass(frozen=True, slots=True)
class Run:
    """One entry of the agents' own log. `moves` is how long the board's history was then.

    `event` is start, an outcome, `stopped:<why>`, or `dead` for a run that went down with its worker.
    """

    item_id: str
    turn_id: UUID
    fence: int
    event: str
    moves: int


@dataclass(slots=True)
class ScriptedAgents:
    """Agents that do what their script says, one ending a turn; without a script they are done at once."""

    moves: Callable[[], int] = lambda: 0
    log: list[Run] = field(default_factory=list)
    scripts: dict[str, list[Ending]] = field(default_factory=lambda: defaultdict(list))
    during: Callable[[AgentTurn], None] = lambda _turn: None
    calls: Callable[[AgentTurn], Iterator[AgentEvent]] = lambda _turn: iter(())

    def start(self, turn: AgentTurn, supervisor: HandSupervisor) -> ScriptedSession:
        """Begin a run and write it down; raises SpawnFailed when the turn is not the supervisor's any more."""
        supervisor.confirm(turn.turn_id)
        self.write(turn.issue_id, TurnRef(turn.turn_id, turn.fence, turn.turn_id), "start")
        return ScriptedSession(self, turn, supervisor)

    def write(self, item_id: str, ref: TurnRef, event: str) -> None:
        """Append to the log."""
        self.log.append(Run(item_id, ref.turn_id, ref.fence, event, self.moves()))

    def under_way(self) -> dict[UUID, Run]:
        """The runs that started and have not ended."""
        found: dict[UUID, Run] = {}
        for run in self.log:
            if run.event == "start":
                found[run.turn_id] = run
            else:
                found.pop(run.turn_id, None)
        return found

    def next_ending(self, item_id: str) -> Ending:
        """The next line of the item's script."""
        script = self.scripts[item_id]
        return script.pop(0) if script else Ending(Outcome.DONE, StopReason.DONE, summary=f"did {item_id}")


@dataclass(slots=True)
class ScriptedSession:
    """A run under way."""

    agents: ScriptedAgents
    turn: AgentTurn
    supervisor: HandSupervisor
    is_stopped: bool = False

    def events(self) -> Iterator[AgentEvent]:
        """One session, its calls, one usage event; while the agent works, the world may do something."""
        yield AgentEvent("session", {"session": f"session of {self.turn.issue_id}"})
        self.agents.during(self.turn)
        for call in self.agents.calls(self.turn):
            if self.is_stopped:
                break
            yield call
        self.supervisor.pulse()
        yield AgentEvent("usage", {"input_tokens": 1, "output_tokens": 1})

    def ending(self) -> Ending:
        """As a cancel says, else as the script says."""
        stop = self.supervisor.cancelled(self.turn.turn_id) or (StopReason.CANCELLED if self.is_stopped else None)
        if stop is not None:
            self._write(f"stopped:{stop.value}")
            return Ending(Outcome.FAILED, stop)
        ending = self.agents.next_ending(self.turn.issue_id)
        self._write(ending.outcome.value)
        return ending

    def cancel(self) -> None:
        """It makes no further call."""
        self.is_stopped = True

    def _write(self, event: str) -> None:
        self.agents.write(self.turn.issue_id, TurnRef(self.turn.turn_id, self.turn.fence, self.turn.turn_id), event)
