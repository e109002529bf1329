"""Real workers for flow tasks, each with a tripwire across its doors, and an outside service with its own log.

Two workers take turns and two tick, so that one of each is there when the other dies; whoever dies is replaced.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from celery import Celery

from orchestrator.domain.step import workflow_of
from orchestrator.flows.loading import FlowFiles
from orchestrator.ports.store import NewTask
from orchestrator.store.flows import showing
from orchestrator.store.open import PostgresStore, open_store
from tests.e2e.fleet import CLOCKS
from tests.flows import refund
from tests.waiting import until

NAME = "northstar.refund"
ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "control-1": ("worker", "--queues=control,relay"),
    "control-2": ("worker", "--queues=control,relay"),
    "turns-1": ("worker", "--queues=turns"),
    "turns-2": ("worker", "--queues=turns"),
    "beat": ("beat",),
}


@dataclass(frozen=True, slots=True)
class Point:
    """A place where something happens: the nth call of a name, before it, after it, or with its answer lost."""

    seam: str
    nth: int
    mode: str

    def __str__(self) -> str:
        """For people."""
        return f"{self.seam} #{self.nth} {self.mode}"


@dataclass(slots=True)
class FlowFleet:
    """The processes in one folder."""

    folder: Path
    database_url: str
    redis_url: str
    reference: str = f"{refund.__file__}:FLOW"
    name: str = NAME
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    store: PostgresStore = field(init=False)
    flows: FlowFiles = field(init=False)
    killed: int = 0

    def __post_init__(self) -> None:
        """Open the store; starts nothing yet."""
        self.store, self.flows = open_store(self.database_url), FlowFiles(tuple(self.reference.split(",")))
        self.outside.touch()

    @property
    def outside(self) -> Path:
        """The outside service's own log."""
        return self.folder / "outside.log"

    @property
    def order(self) -> Path:
        """Where the next fault is ordered."""
        return self.folder / "fault.json"

    def start(self) -> None:
        """Start everything and wait until it is ready."""
        for name in PROGRAMS:
            self._start(name)
        for name in PROGRAMS:
            if name != "beat":
                until(lambda log=name: "ready." in self.log(log), timeout_seconds=60, what=f"{name} is ready")
        row = workflow_of(self.name)
        until(lambda: self.store.workflows.current(row), timeout_seconds=20, what="the flow is in force")

    def task(self, key: str, *, name: str = "", **given: object) -> str:
        """A person starts a task and rings; gives its id."""
        row = self.store.workflows.current(workflow_of(name or self.name))
        assert row is not None
        contract = self.flows.contract(name or self.name)
        checked = self.flows.check_input(contract.name, given)
        started = self.store.flows.start(NewTask(row.name, row.version, key, checked, contract.authority))
        self.store.reconciler.request(row.name, listing=False)
        return str(started.task_id)

    def rests(self, task: str) -> showing.TaskStory | None:
        """The task once it is over, or asks a person; None before. Whoever died meanwhile is replaced."""
        self.revive()
        story = showing.story(self.store.slow, task)
        assert story is not None
        asked = (" `orchestrator task settle`", "attempts failed", "there is no agent kind")
        parked = any(words in story.line.waits_for for words in asked)
        return story if story.line.ended_at is not None or parked else None

    def wait(self, task: str, seconds: float = 60) -> showing.TaskStory:
        """The task at rest."""
        return until(lambda: self.rests(task), timeout_seconds=seconds, what=f"task {task} comes to rest")

    def golden(self) -> list[Point]:
        """The seams of a task in which nothing goes wrong, in order, in every mode."""
        record = self.folder / "seams.log"
        self.order.write_text(json.dumps({"id": str(uuid4()), "record": str(record)}))
        task = self.task(f"golden-{uuid4()}", order="golden")
        story = self.wait(task)
        assert story.line.status.value == "succeeded"
        self.order.unlink()
        met = {tuple(line.rsplit(" ", 1)) for line in record.read_text().splitlines()}
        numbered = [(name, nth) for name, times in SEAMS.items() for nth in range(1, times + 1)]
        assert {(name, str(nth)) for name, nth in numbered} <= met
        return [Point(name, nth, mode) for name, nth in numbered for mode in ("before", "after", "lost")]

    def suffer(self, point: Point) -> list[str]:
        """One task with a fault at a point; what is wrong when it has come to rest, empty: nothing."""
        until(self.is_whole, timeout_seconds=120, what="everybody who died is back")
        key = f"{point}-{uuid4()}"
        self.order.with_suffix(".done").unlink(missing_ok=True)
        draft = self.order.with_suffix(".draft")
        draft.write_text(json.dumps({"id": key, "seam": point.seam, "nth": point.nth, "mode": point.mode}))
        draft.rename(self.order)
        story = self.wait(self.task(key, order=str(point)))
        happened = self.order.with_suffix(".done").exists()
        self.order.unlink(missing_ok=True)
        return [*([] if happened else ["the seam was not met"]), *self.wrong(story)]

    def wrong(self, story: showing.TaskStory) -> list[str]:
        """Broken promises about one task, by the outside's log."""
        lines = [json.loads(line) for line in self.outside.read_text().splitlines()]
        paid = Counter(line["paid"] for line in lines if "paid" in line)
        effects = [(row.key, row.status) for row in story.ledger]
        found = [f"{key} was paid {paid[key]} times" for key, _ in effects if paid[key] > 1]
        for key, status in effects:
            if (paid[key] == 1) != (status == "committed") and not story.line.waits_for:
                found.append(f"{key} is {status} and was paid {paid[key]} times")
        if story.line.status.value not in {"succeeded", "unknown"}:
            found.append(f"{story.line.status.value}: {story.line.reason}")
        if story.line.status.value == "unknown" and ": " not in story.line.waits_for:
            found.append(f"unknown, and nobody is asked: {story.line.waits_for}")
        return found

    def is_whole(self) -> bool:
        """Whether every worker is there, by the rows that they keep."""
        self.revive()
        living = {process.pid for process in self.processes.values()}
        rows = self.store.slow.rows("select pid from worker where seen_at > stationkeeper_clock() - interval '3 s'")
        return len(living & {row.pid for row in rows}) == len(PROGRAMS) - 1

    def revive(self) -> None:
        """Start again whoever died."""
        for name, process in tuple(self.processes.items()):
            if process.poll() is not None:
                self.killed += 1
                self._start(name)

    def messages(self, told: Sequence[tuple[object, object]]) -> None:
        """Somebody sends the messages of turns, true ones or not."""
        sender = Celery(broker=self.redis_url)
        with sender.connection_for_write() as connection:
            for message in told:
                sender.send_task("tasks.turn", args=list(message), queue="turns", connection=connection)

    def taken(self) -> int:
        """How many messages of turns the workers have taken and are done with."""
        said = [line for name in PROGRAMS if name.startswith("turns") for line in self.log(name).splitlines()]
        return sum("Task tasks.turn[" in line and " succeeded in " in line for line in said)

    def stop(self) -> None:
        """End everything."""
        for process in self.processes.values():
            process.kill()
            process.wait()
        self.store.close()

    def log(self, name: str) -> str:
        """What a process has said."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def _environment(self) -> dict[str, str]:
        ours = {key: value for key, value in os.environ.items() if not key.startswith("STATIONKEEPER_")}
        return {
            **ours,
            **CLOCKS,
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "STATIONKEEPER_FLOWS": self.reference,
            "STATIONKEEPER_WORKFLOWS": "none.d",
            "PYTHONPATH": str(ROOT),
            "OUTSIDE": str(self.outside),
            "FAULT": str(self.order),
        }

    def _start(self, name: str) -> None:
        words: Sequence[str] = PROGRAMS[name]
        if words[0] == "worker":
            words = (*words, f"--hostname={name}-{uuid4().hex[:6]}@%h")
        (self.folder / "none.d").mkdir(exist_ok=True)
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "celery", "-A", "tests.faults.app", *words, "--loglevel=info"],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


# The durable writes and outside calls of one task's way, and how often each is met on it.
SEAMS = {
    "reconciler.begin": 1,
    "flows.lose_silent": 1,
    "flows.expire": 1,
    "flows.open_due": 1,
    "flows.stale": 1,
    "queue.turns": 1,
    "items.mark_enqueued": 1,
    "reconciler.finish": 1,
    "turns.admit": 1,
    "flows.load": 1,
    "steps.perform": 4,
    "flows.checkpoint": 2,
    "flows.intend": 1,
    "flows.committed": 1,
    "flows.conclude": 1,
    "queue.ring": 1,
}
