"""A tripwire round every door of a process: it counts the calls, and at call number N something happens.

A fault is a function round the call: it may let the call happen or not, lose its answer, kill the process, or let the
rest of the world go on meanwhile. Once a process is dead, whatever it still tries (its `finally` blocks, say) does
nothing. Production code holds no hook for any of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.ports.leases import LeasesUnavailable
from orchestrator.ports.queue import PublishFailed
from orchestrator.ports.store import StoreUnavailable
from orchestrator.ports.supervisor import Refusal, SpawnFailed
from orchestrator.ports.tracker import TrackerError, TrackerFault
from tests.memory.desk import Killed
from tests.world import Process, World


@dataclass(slots=True)
class Call:
    """One call through a door, before it is made; `on` makes the same call on another door of that kind."""

    wire: Tripwire
    pid: int
    name: str
    do: Callable[[], Any]
    on: Callable[[Any], Any]

    @property
    def world(self) -> World:
        """Where it happens."""
        assert self.wire.world is not None
        return self.wire.world

    @property
    def process(self) -> Process:
        """Who calls."""
        return next(process for process in self.world.processes if process.worker.identity.pid == self.pid)

    def meanwhile(self, act: Callable[[World], Any]) -> None:
        """Something else goes on before the call goes on; its own calls are not counted."""
        self.wire.armed = False
        try:
            act(self.world)
        finally:
            self.wire.armed = True

    def die(self) -> Any:
        """The process ends here."""
        raise Killed(self.name)

    def fail(self, *, sent: bool) -> Any:
        """The door says that it cannot tell; `sent`: the call may have happened."""
        match self.name.partition(".")[0]:
            case "tracker":
                raise TrackerError(TrackerFault.TRANSPORT, "no answer", sent=sent)
            case "leases":
                raise LeasesUnavailable("no answer")
            case "queue":
                raise PublishFailed("no answer")
            case "agent":
                raise SpawnFailed(Refusal.SUPERVISOR_LOST, "no answer")
            case _:
                raise StoreUnavailable("no answer")


Fault = Callable[[Call], Any]


@dataclass(slots=True)
class Tripwire:
    """Counts the calls of every process of one world; `faults` says what happens at which.

    `named` are faults at the next call of a name, whichever number it has.
    """

    faults: Mapping[int, Fault] = field(default_factory=dict)
    named: dict[str, Fault] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    dead: set[int] = field(default_factory=set)
    armed: bool = True
    world: World | None = None

    def wrap(self, pid: int, name: str, door: Any) -> Any:
        """A door as process `pid` sees it."""
        return Door(self, pid, name, door)

    def at(self, name: str, fault: Fault) -> None:
        """Let something happen at the next call of that name."""
        self.named[name] = fault

    def pass_through(self, pid: int, name: str, do: Callable[[], Any], on: Callable[[Any], Any]) -> Any:
        """One call: counted, and maybe more."""
        if pid in self.dead:
            raise Killed(name)
        if not self.armed:
            return do()
        fault = self.named.pop(name, None) or self.faults.get(len(self.calls))
        self.calls.append(name)
        if fault is None:
            return do()
        call = Call(self, pid, name, do, on)
        try:
            return fault(call)
        except Killed:
            self.dead.add(pid)
            call.process.supervisor.is_dead = True
            raise


@dataclass(slots=True)
class Door:
    """A door with the wire across it. What is no method (a profile) is looked at without being counted."""

    wire: Tripwire
    pid: int
    name: str
    behind: Any

    def __getattr__(self, attribute: str) -> Any:
        """The door's own attribute, a method with the wire across it."""
        found = getattr(self.behind, attribute)
        if not callable(found):
            return found

        def call(*values: Any, **named: Any) -> Any:
            name = f"{self.name}.{attribute}"

            def on(door: Any) -> Any:
                return _whole(getattr(door, attribute)(*values, **named))

            return self.wire.pass_through(self.pid, name, lambda: on(self.behind), on)

        return call


def _whole(answer: Any) -> Any:
    """A listing is read to its end within its call, so that a fault before or after it is one of the whole."""
    return iter(list(answer)) if isinstance(answer, Iterator) else answer
