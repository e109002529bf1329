"""A world: a board with a person at it, scripted agents, a clock in the hand, and the real engine and store.

Only the doors to the outside are in memory; Postgres is real. Nothing runs by itself: a test ticks, delivers, relays
and jumps, and then looks at the state of the world, never at the calls. A process of ours dies by an exception that
nothing catches; the world buries it and hires another.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from orchestrator.domain.contract import StateContract
from orchestrator.domain.item import Item
from orchestrator.domain.turn import Conclusion, Ending, Outcome, StopReason
from orchestrator.domain.workflow import Workflow
from orchestrator.engine import reconcile, relay, tidy, turn
from orchestrator.engine.reconcile import Report
from orchestrator.engine.worker import Identity, Slots, Worker
from orchestrator.ports import Ports
from orchestrator.ports.queue import PublishFailed
from orchestrator.ports.store import StoreUnavailable, WorkerRow, WorkflowRow
from orchestrator.store.open import PostgresStore
from orchestrator.trackers.memory import MemoryBoard, MemoryTracker
from tests.memory import commands, hosts, tables
from tests.memory.clock import HandClock
from tests.memory.desk import HandSupervisor, Killed, MemoryWorkspaces, ScriptedAgents, ScriptedHooks
from tests.memory.leases import MemoryLeases
from tests.memory.queue import MemoryQueue
from tests.memory.remotes import MemoryRemotes
from tests.memory.rooms import Rooms
from tests.memory.workflows import STATES, OneWorkflow, PlainPrompts, workflow

LEASE_SECONDS = 30.0
HOST, BOOT = "host", "boot"

# Longer than every pause of ours that a world can be in: a lease, a claim of the relay, a backoff after two failures.
LONG_SECONDS = 80.0
ROUNDS = 25


class NeverQuiet(AssertionError):
    """The world kept changing although nobody touched it."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process of ours: worker, supervisor, and its own view of the doors."""

    worker: Worker
    supervisor: HandSupervisor
    ports: Ports


Wrap = Callable[[int, str, Any], Any]


@dataclass(slots=True)
class World:
    """Everything that a scenario needs. `process` is who acts; `wrap` goes round each door of whoever is hired next."""

    store: PostgresStore
    state_dir: Path
    workflow: Workflow = field(default_factory=workflow)
    slots: int = 4
    wrap: Wrap = lambda _pid, _name, door: door
    hired: int = 0
    believes_supervisors: bool = False
    clock: HandClock = field(default_factory=HandClock)
    queue: MemoryQueue = field(default_factory=MemoryQueue)
    workspaces: MemoryWorkspaces = field(default_factory=MemoryWorkspaces)
    hooks: ScriptedHooks = field(default_factory=ScriptedHooks)
    remotes: MemoryRemotes = field(default_factory=MemoryRemotes)
    processes: list[Process] = field(default_factory=list)
    bodies: dict[str, Workflow] = field(init=False)
    board: MemoryBoard = field(init=False)
    agents: ScriptedAgents = field(init=False)
    leases: MemoryLeases = field(init=False)
    process: Process = field(init=False)

    def __post_init__(self) -> None:
        """Empty the database, put the workflow in force, and let one worker say hello."""
        self.board = MemoryBoard("world", STATES, self.clock.now)
        self.agents = ScriptedAgents(lambda: len(self.board.history))
        self.leases = MemoryLeases(self.clock.boot_seconds)
        self.bodies = {"body": self.workflow}
        self.store.set_offset(0)
        self.store.slow.change(tables.EMPTY)
        row = WorkflowRow("world", 0, "digest", "body", "WORKFLOW.md", "memory:world")
        self.store.workflows.publish(row, interval_ms=self.workflow.interval_ms)
        self.process = self.hire()

    # --- the person ------------------------------------------------------------------------------------------------

    def add(self, item_id: str = "A-1", state: str = "Todo", **more: Any) -> str:
        """A person writes a card; gives its id."""
        return self.board.add(Item(id=item_id, identifier=item_id, title=f"Mend {item_id}", state=state, **more))

    def drag(self, item_id: str, to: str) -> None:
        """A person moves a card, if it is there still."""
        with suppress(KeyError):
            self.board.drag(item_id, to)

    def close(self, item_id: str) -> None:
        """A person says that it is done."""
        self.drag(item_id, "Done")

    def delete(self, item_id: str) -> None:
        """A person throws the card away, if it is there still."""
        with suppress(KeyError):
            self.board.delete(item_id)

    def command(self, item_id: str | None, verb: str, reason: str = "why", **more: Any) -> Any:
        """A person types a command about a card, the workflow ("world") or the fleet (None)."""
        return commands.give(self.store.operators, item_id, verb, reason=reason, **more)

    def state(self, item_id: str) -> str | None:
        """Where the card stands; None when it is gone."""
        try:
            return self.board.item(item_id).state
        except KeyError:
            return None

    def script(self, item_id: str, *outcomes: Outcome, **more: Any) -> None:
        """What the item's agent reports, turn by turn; done once the script is over."""
        stops = {
            Outcome.FAILED: StopReason.AGENT_FAILED,
            Outcome.BLOCKED: StopReason.BLOCKED,
            Outcome.NO_CHANGE: StopReason.NO_CHANGE,
        }
        self.agents.scripts[item_id] += [Ending(out, stops.get(out, StopReason.DONE), **more) for out in outcomes]

    # --- our processes ---------------------------------------------------------------------------------------------

    def hire(self, host: str = HOST) -> Process:
        """A new process of ours, with the doors as `wrap` gives them; it says hello and acts from now on."""
        self.hired += 1
        pid = self.hired
        worker = Worker(Identity(host, BOOT, pid, uuid4()), Slots(self.slots), self.state_dir, LEASE_SECONDS)
        supervisor = HandSupervisor(self._renew, self.clock.boot_seconds, LEASE_SECONDS)
        self.process = Process(worker, supervisor, self._ports(pid, supervisor))
        self.processes.append(self.process)
        self._hello(self.process)
        return self.process

    def bury(self, dead: Process) -> None:
        """A process is dead, and its agents with it; the supervisor may say so before the lease runs out."""
        dead.supervisor.is_dead = True
        self.processes.remove(dead)
        pid = dead.worker.identity.pid
        self.silence(dead, "dead")
        if self.believes_supervisors:
            orphans = self.store.turns.orphans(HOST, BOOT).values()
            self.store.turns.lose([ref for ref, owner in orphans if owner == pid], "its worker was killed")

    def silence(self, process: Process, event: str) -> None:
        """The agents of a process do nothing from here on: killed with it, or frozen past their local deadline."""
        for turn_id, run in self.agents.under_way().items():
            if turn_id in process.supervisor.adopted:
                self.agents.write(run.item_id, process.supervisor.adopted[turn_id], event)

    def tick(self, *, full: bool = True) -> Report | None:
        """A second passes, and a tick is rung."""
        self.jump(1.0)
        return self._do(lambda: reconcile.ring(self.process.ports, full=full))

    def deliver(self) -> None:
        """Hand every published message to a worker of its queue, one after the other; what nobody takes stays."""
        while (taken := hosts.take(self)) is not None:
            self.deliver_one(*taken)

    def deliver_one(self, turn_id: UUID, fence: int) -> Conclusion | None:
        """Hand one message, new or old, to a worker."""
        process = self.process
        return self._do(lambda: turn.take_turn(process.ports, process.worker, turn_id=turn_id, fence=fence))

    def relay(self) -> int | None:
        """Post what is due."""
        return self._do(lambda: relay.drain(self.process.ports))

    def tidy(self) -> int | None:
        """Take away the workspaces that may go, if a worker was called for that."""
        if not self.queue.tidies:
            return None
        self.queue.tidies = 0
        return self._do(lambda: tidy.tidy_all(self.process.ports, self.process.worker))

    def settle_down(self) -> bool:
        """One round of everything: a tick, its turns, their write-backs. Whether nothing went wrong in it."""
        hired = self.hired
        report = self.tick()
        self.deliver()
        self.tidy()
        posted = self.relay()
        return self.hired == hired and posted is not None and report is not None and report.fault is None

    def run_until_quiet(self) -> None:
        """Let time pass until a round in which nothing went wrong changes nothing. Raises NeverQuiet."""
        before = None
        for _ in range(ROUNDS):
            went_well = self.settle_down()
            now = self.fingerprint()
            if went_well and now == before:
                return
            before = now
            self.jump(LONG_SECONDS)
        events = self.rows("select kind, detail from history order by id desc limit 9")
        raise NeverQuiet(f"after {ROUNDS} rounds: {events}")

    def _do(self, act: Callable[[], Any]) -> Any:
        """As a Celery task does: a service that is away is logged, a death takes everything with it."""
        process = self.process
        try:
            return act()
        except (StoreUnavailable, PublishFailed):
            return None
        except Killed:
            if process in self.processes:
                self.bury(process)
                self.hire()
            return None

    # --- time and services -----------------------------------------------------------------------------------------

    def jump(self, seconds: float) -> None:
        """Move every clock, the database's included; live workers beat meanwhile, renewals are not made."""
        self.clock.jump(seconds)
        self.store.set_offset(self.clock.offset_seconds)
        for process in self.processes:
            self._hello(process)

    def flush_redis(self) -> None:
        """FLUSHALL: every Redis lease and every message is gone."""
        self.leases.flush()
        self.queue.flush()

    def edit_workflow(self, contract: StateContract) -> None:
        """A person saves the workflow file with another contract: the next version is in force."""
        row = self.store.workflows.current("world")
        assert row is not None
        body = f"body {row.version + 1}"
        self.workflow = self.bodies[body] = replace(self.workflow, contract=contract)
        self.store.workflows.publish(replace(row, body=body, digest=body), interval_ms=self.workflow.interval_ms)

    # --- looking ---------------------------------------------------------------------------------------------------

    def rows(self, sql: str, **values: object) -> list[Any]:
        """What the database says."""
        return [tuple(row) for row in self.store.slow.rows(sql, **values)]

    def one(self, sql: str, **values: object) -> Any:
        """The only value of the only row; None for no row."""
        found = self.rows(sql, **values)
        return found[0][0] if found else None

    def reason(self, item_id: str = "A-1") -> str | None:
        """Why the item did not start."""
        return self.one("select reason from wait where item_id = :item_id", item_id=item_id)

    def fingerprint(self) -> object:
        """Every row version and every card: two equal ones mean that nothing was written in between."""
        cards = tuple(
            (item_id, self.board.item(item_id).revision, self.board.said(item_id)) for item_id in self.board.ids()
        )
        return self.rows(tables.VERSIONS), cards, len(self.agents.log)

    # --- private ---------------------------------------------------------------------------------------------------

    def _hello(self, process: Process) -> None:
        who, slots = process.worker.identity, process.worker.turns
        self.store.workers.beat(
            WorkerRow(who.id, who.host, who.boot_id, who.pid, slots.offered, slots.busy, ("turns",))
        )

    def _renew(self, refs: Any) -> Any:
        return self.store.turns.renew(refs, lease_seconds=LEASE_SECONDS)

    def _ports(self, pid: int, supervisor: HandSupervisor) -> Ports:
        store, wrap = self.store, self.wrap
        names = ("reconciler", "workflows", "items", "turns", "outbox", "workers", "workspaces")
        rooms = Rooms(store.installation, *(wrap(pid, name, getattr(store, name)) for name in names))
        board, agents = wrap(pid, "tracker", MemoryTracker(self.board)), wrap(pid, "agent", self.agents)
        return Ports(
            store=rooms,
            leases=wrap(pid, "leases", self.leases),
            queue=wrap(pid, "queue", self.queue),
            clock=self.clock,
            workflows=OneWorkflow(self.bodies),  # type: ignore[arg-type]
            workspaces=self.workspaces,
            hooks=self.hooks,
            remotes=self.remotes,
            prompts=PlainPrompts(),
            tracker=lambda _workflow: board,
            agent=lambda _workflow: agents,
            supervisor=lambda: supervisor,
        )
