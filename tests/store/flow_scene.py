"""Verbs for flow tasks on a real store: a task in one line, its turn admitted in another."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from orchestrator.domain import flow
from orchestrator.domain.flow import Ending
from orchestrator.domain.step import NodeKind, SideEffect, StepContract
from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import FlowStep, Intent, Kept, NewTask, TurnRef, WorkflowRow
from tests.store.scene import LEASE_SECONDS, Scene, owner

ROW = "flow:test.flow"
CONTRACT = StepContract(
    1, "read", NodeKind.QUESTION, SideEffect.READ, "support", {}, "Answer",
    authority=None, timeout_seconds=60.0, max_attempts=3, retryable=(),
)  # fmt: skip


@dataclass(slots=True)
class FlowScene:
    """A flow in force, on top of a scene; `task` and `ref` are those of the last task that was begun."""

    scene: Scene
    task: UUID = field(init=False)
    ref: TurnRef = field(init=False)

    def __post_init__(self) -> None:
        """Put the flow in force."""
        self.scene.store.workflows.publish(WorkflowRow(ROW, 0, "d", "{}", "flow.py:1", ROW), interval_ms=60_000)

    @property
    def flows(self) -> Any:
        """The room."""
        return self.scene.store.flows

    def start(self, key: str = "", **more: Any) -> UUID:
        """A task, accepted and due."""
        self.task = self.flows.start(NewTask(ROW, 1, key, {"n": 1}, **more)).task_id
        return self.task

    def open(self) -> Any:
        """Its turn, queued; None when the tick does not open one."""
        self.flows.open_due(ROW, cap=100)
        found = self.scene.all("select id, fence from turn where task_id = %s and status = 'queued'", self.task)
        return found[0] if found else None

    def admit(self) -> TurnRef | None:
        """Its queued turn, started."""
        row = self.scene.all("select id, fence from turn where task_id = %s and status = 'queued'", self.task)
        turn_id, fence = row[0] if row else (uuid4(), 0)
        admitted = self.scene.store.turns.admit(turn_id, fence, owner(), lease_seconds=LEASE_SECONDS)
        return admitted.ref if admitted is not None else None

    def run(self, **more: Any) -> TurnRef:
        """A task with a running turn."""
        self.start(**more)
        assert self.open() is not None
        ref = self.admit()
        assert ref is not None
        self.ref = ref
        return ref

    def step(self, ordinal: int = 1, name: str = "read", **more: Any) -> Kept:
        """A checkpoint of the running turn."""
        kept: Kept = self.flows.checkpoint(
            self.ref, FlowStep(ordinal, name, {"of": str(self.ref.turn_id)}, **more), lease_seconds=LEASE_SECONDS
        )
        return kept

    def intend(self, key: str = "", node: str = "pay", undone_by: str | None = None) -> bool:
        """The running turn's intent."""
        wanted = Intent(key or f"key:{self.task}", node, {"amount": 3}, 5.0, 600.0, undone_by)
        return bool(self.flows.intend(self.ref, wanted, lease_seconds=LEASE_SECONDS))

    def commit(self, key: str = "", *, ordinal: int = 2) -> Kept:
        """The running turn's word that it happened."""
        step = FlowStep(ordinal, "pay", {"id": "txn"})
        kept: Kept = self.flows.committed(self.ref, key or f"key:{self.task}", step=step, lease_seconds=LEASE_SECONDS)
        return kept

    def take_over(self) -> TurnRef:
        """The turn is lost to its silence, and the next one runs."""
        before = self.ref
        self.scene.expire()
        assert self.flows.lose_silent(ROW, flow.LIMITS) >= 1
        self.scene.change("update task set due_at = stationkeeper_clock() - interval '1 s' where id = %s", self.task)
        assert self.open() is not None
        after = self.admit()
        assert after is not None
        self.ref = after
        return before

    def ending(self, kind: str) -> Ending:
        """A turn's end by name."""
        now = self.scene.now()
        return {
            "succeeded": flow.succeeded(),
            "unknown": flow.unknown(now + timedelta(seconds=5), "no answer"),
            "yielded": flow.yielded(now),
            "failed": flow.failed(StopReason.STEP_FAILED, "no"),
            "undone": flow.undone(),
            "asks": flow.waits_for_input(CONTRACT, "how many?", None),
        }[kind]

    def statuses(self) -> tuple[str, str, str | None, int]:
        """Task, newest turn, effect, and the cap slots that are taken."""
        found = self.scene.all(
            "select task.status, (select status from turn where task_id = task.id order by fence desc limit 1),"
            " (select string_agg(node || ' ' || status, ', ' order by node) from effect where task_id = task.id),"
            " (select open_turns from workflow where name = task.workflow) from task where id = %s",
            self.task,
        )
        return found[0]  # type: ignore[return-value]
