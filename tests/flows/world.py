"""A world of flow tasks: the real engine and store, the functions of `refund.py`, and an outside with its own log.

The functions are called in the thread of the test. A door that loses an answer loses it as the real one does: of an act
nobody knows, anything else may be tried again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from orchestrator.domain.call import Answer, Call, Late, Part, Said
from orchestrator.domain.step import workflow_of
from orchestrator.engine import reconcile
from orchestrator.engine.flows import manifest
from orchestrator.engine.reconcile import Report
from orchestrator.flows import performing
from orchestrator.flows.loading import FlowFiles
from orchestrator.ports import Ports
from orchestrator.ports.store import NewTask, StoreUnavailable
from orchestrator.ports.supervisor import SpawnFailed
from tests.memory.desk import HandSupervisor, Killed
from tests.world import World

NAME = "northstar.refund"
ROW = workflow_of(NAME)
ALL = frozenset({"refunds:write"})


Hooks = dict[Part, Callable[[Callable[[], Answer]], Answer]]


@dataclass(slots=True)
class DirectSteps:
    """Calls at once, once the supervisor lets a program of the turn start."""

    flows: FlowFiles
    supervisor: HandSupervisor
    boot_seconds: Any
    hooks: Hooks

    def perform(self, call: Call, *, isolated: bool) -> Answer:
        """The call's answer; what was hooked to a part of a step happens round the next call of it."""
        hook = self.hooks.pop(call.part, None)
        if hook is not None:
            return hook(lambda: self.perform(call, isolated=isolated))
        try:
            self.supervisor.confirm(call.turn_id)
        except SpawnFailed as fault:
            return Answer(Said.NOT_SENT if call.part is Part.ACT else Said.STOPPED, reason=str(fault))
        return performing.perform(self.flows.flow(call.flow), call, boot_seconds=self.boot_seconds)

    def watched(self, walk: Callable[[Late | None], Any], *, shortest_seconds: float) -> Any:
        """The walk: no call is late in the thread of a test."""
        del shortest_seconds
        return walk(None)


@dataclass(slots=True)
class Answering:
    """A door that is away says so in an answer."""

    door: Any

    def perform(self, call: Call, *, isolated: bool) -> Answer:
        """The call's answer, or that nobody knows."""
        try:
            answer: Answer = self.door.perform(call, isolated=isolated)
        except StoreUnavailable as lost:
            unknown = call.part in {Part.ACT, Part.LOOK_UP}
            return Answer(Said.UNKNOWN if unknown else Said.TRY_AGAIN, reason=str(lost))
        return answer

    def watched(self, walk: Callable[[Late | None], Any], *, shortest_seconds: float) -> Any:
        """The door's."""
        return self.door.watched(walk, shortest_seconds=shortest_seconds)


@dataclass(slots=True)
class FlowWorld(World):
    """A world in which nobody moves cards: tasks are started, and their turns ticked and delivered."""

    references: tuple[str, ...] = (f"{Path(__file__).with_name('refund.py')}:FLOW",)
    hooks: Hooks = field(default_factory=dict)
    flows: FlowFiles = field(init=False)
    outside: Path = field(init=False)

    def __post_init__(self) -> None:
        """An empty outside, the flow in force, one worker."""
        self.flows = FlowFiles(self.references)
        self.outside = self.state_dir / "outside.log"
        self.outside.write_text("")
        os.environ["OUTSIDE"] = str(self.outside)
        World.__post_init__(self)
        manifest.put_in_force(self.store, self.flows)  # type: ignore[arg-type]

    def start(self, key: str = "one", *, authority: frozenset[str] = ALL, name: str = NAME, **given: Any) -> UUID:
        """A person starts a task."""
        row = self.store.workflows.current(workflow_of(name))
        assert row is not None
        deadline, card = given.pop("deadline_seconds", None), given.pop("card_key", None)
        checked = self.flows.check_input(name, {"order": "A7", **given} if name == NAME else given)
        wanted = NewTask(row.name, row.version, key, checked, authority, deadline_seconds=deadline, card_key=card)
        return self.store.flows.start(wanted).task_id

    def tick(self, *, full: bool = True) -> Report | None:
        """A second passes, and the flows' ticks are rung."""
        self.jump(1.0)
        reports = [self._ring(workflow_of(name), full=full) for name in self.flows.names()]
        return next((report for report in reports if report is None or report.fault), reports[0])

    def _ring(self, row: str, *, full: bool) -> Report | None:
        return self._do(lambda: reconcile.ring(self.process.ports, row, full=full))  # type: ignore[no-any-return]

    def lines(self) -> list[dict[str, Any]]:
        """What the outside saw, in its order."""
        return [json.loads(line) for line in self.outside.read_text().splitlines()]

    def paid(self) -> list[str]:
        """The keys that were paid, as often as they were."""
        return [line["paid"] for line in self.lines() if "paid" in line]

    def status(self, task_id: UUID) -> str:
        """The task's status."""
        return str(self.one("select status from task where id = :id", id=task_id))

    def die_at(self, part: Part, *, after: bool) -> None:
        """The next process that makes such a call dies at it, before or after."""

        def dies(call: Callable[[], Answer]) -> Answer:
            if after:
                call()
            self.process.supervisor.is_dead = True
            raise Killed(part.value)

        self.hooks[part] = dies

    def effect(self) -> str | None:
        """The ledger's word about the only effect."""
        return self.one("select status from effect")  # type: ignore[no-any-return]

    def _ports(self, pid: int, supervisor: HandSupervisor) -> Ports:
        ports = World._ports(self, pid, supervisor)
        steps = self.wrap(pid, "steps", DirectSteps(self.flows, supervisor, self.clock.boot_seconds, self.hooks))
        rooms = replace(ports.store, flows=self.wrap(pid, "flows", self.store.flows))  # type: ignore[type-var]
        return replace(ports, store=rooms, flows=self.flows, steps=Answering(steps))  # type: ignore[arg-type]
