"""Ours, without the messages: tasks are started, opened by a tick, admitted, walked by the engine, concluded.

The functions are called beside the turn's thread (`isolated=False`), as DBOS and absurd call theirs in their process.
A supervisor is not there: what it does for a turn of a few milliseconds is done once every two seconds a worker.
"""

import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from orchestrator import clock, telemetry
from orchestrator.domain.step import workflow_of
from orchestrator.engine import reconcile, turn
from orchestrator.engine.flows import manifest
from orchestrator.engine.worker import Identity, Slots, Worker
from orchestrator.flows import Flow, Step
from orchestrator.flows.loading import FlowFiles
from orchestrator.ports import Ports
from orchestrator.ports.store import NewTask, WorkerRow
from orchestrator.steps.calling import StepCalls
from orchestrator.store.open import open_store

BATCH = 20
STEPS = 10
calls: list[float] = []


def nothing() -> int:
    """A step that does nothing, and says when it was called."""
    calls.append(time.perf_counter())
    return 1


FLOW = Flow(
    "bench.ten",
    version=1,
    isolated=False,
    max_concurrent=10_000,
    steps=[Step(f"s{number}", nothing) for number in range(STEPS)],
)


class Nobody:
    """A door that nobody stands behind: every call does nothing."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- any door
        """A method that does nothing."""
        return lambda *_values, **_named: None


class Offered:
    """A broker in a list."""

    def __init__(self) -> None:
        self.turns: list[tuple[Any, int]] = []

    def turn(self, turn_id: object, fence: int, *, label: str, host: str | None = None) -> None:
        """Keep the offer."""
        del label, host
        self.turns.append((turn_id, fence))

    def ring(self, *_values: object, **_named: object) -> None:
        """The loop below ticks by itself."""


def main(url: str, start_at: float, seconds: float) -> None:
    """Work until the time is up."""
    telemetry.configure(telemetry.Style.JSON, stream=Path("/dev/null").open("w"))  # noqa: SIM115 -- until the end
    store, flows, queue, nobody = open_store(url), FlowFiles((f"{__file__}:FLOW",)), Offered(), Nobody()
    watch = clock.SystemClock()
    doors: dict[str, Any] = dict.fromkeys(
        ("workflows", "workspaces", "prompts", "hooks", "tracker", "agent", "leases"), nobody
    )
    calling = StepCalls(flows, watch, supervisor=lambda: cast("Any", nobody), environment={}, state_dir=Path.cwd())
    ports = Ports(
        store=store, queue=cast("Any", queue), clock=watch, supervisor=lambda: cast("Any", nobody), flows=flows,
        steps=calling, **doors,
    )  # fmt: skip
    me = Identity("bench", "boot", int(sys.argv[4]), uuid4())
    worker = Worker(me, Slots(BATCH), Path.cwd(), 30.0)
    row = manifest.publish(store, flows.contract(FLOW.name))
    assert row.name == workflow_of(FLOW.name)

    def batch() -> None:
        """A tick's worth of tasks, from their start to their end."""
        store.workers.beat(WorkerRow(me.id, me.host, me.boot_id, me.pid, slots=BATCH, busy=0, queues=("turns",)))
        for _ in range(BATCH):
            store.flows.start(NewTask(row.name, row.version, "", {}))
        store.reconciler.request(row.name, listing=False)
        reconcile.ring(ports, row.name, full=False)
        offers, queue.turns = queue.turns, []
        for turn_id, fence in offers:
            turn.take_turn(ports, worker, turn_id=turn_id, fence=fence)

    batch()  # connections are made and statements prepared, as in a worker that has run for a minute
    own = sys.modules[next(name for name in sys.modules if name.startswith("stationkeeper_flow_"))].calls
    time.sleep(max(0.0, start_at - time.time()))
    own.clear()
    began = time.perf_counter()
    ends = began + seconds
    while time.perf_counter() < ends:
        batch()
    took = time.perf_counter() - began
    between = enumerate(itertools.pairwise(own), start=1)
    gaps = sorted(later - sooner for number, (sooner, later) in between if number % STEPS)
    quantile = {"p50": gaps[len(gaps) // 2], "p99": gaps[len(gaps) * 99 // 100]} if gaps else {}
    print(json.dumps({"steps": len(own), "seconds": took, **quantile}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
