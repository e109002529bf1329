"""Ours, without Celery: tasks are started, opened by a tick, admitted, walked by the engine, concluded.

As many turns at a time as a worker has slots (the stock setting, unless the command says another number), while the
next tasks are started and opened. The functions are called beside the turn's thread (`isolated=False`), as DBOS and
absurd call theirs in their process.
A supervisor is not there: what it does for a turn of a few milliseconds is done once every two seconds a worker.
"""

import contextlib
import itertools
import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

import redis

from orchestrator import clock, telemetry
from orchestrator.engine import reconcile, turn
from orchestrator.engine.flows import manifest
from orchestrator.engine.worker import Identity, Slots, Worker
from orchestrator.flows import Flow, Step
from orchestrator.flows.loading import FlowFiles
from orchestrator.ports import Ports
from orchestrator.ports.store import NewTask, Offer, WorkerRow
from orchestrator.settings import Settings
from orchestrator.steps.calling import StepCalls
from orchestrator.store.database import RowLocked
from orchestrator.store.open import open_store

BATCH = 20
STEPS = 10
calls: list[tuple[int, float]] = []


def nothing() -> int:
    """A step that does nothing, and says where and when it was called."""
    calls.append((threading.get_ident(), time.perf_counter()))
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


class Shared:
    """The messages, in one Redis list for all processes, each of which takes no more than it has slots for."""

    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(url)

    def turns(self, offers: Sequence[Offer]) -> None:
        """Send the offers."""
        self._redis.rpush("turns", *(f"{offer.turn_id} {offer.fence}" for offer in offers))

    def ring(self, *_values: object, **_named: object) -> None:
        """The loop below ticks by itself."""

    def take(self, count: int) -> list[tuple[UUID, int]]:
        """At most so many, by turn and fence."""
        told = cast("list[bytes] | None", self._redis.lpop("turns", count)) or []
        return [(UUID(turn_id), int(fence)) for turn_id, fence in (each.decode().split() for each in told)]


class Process:
    """What starts tasks, ticks and walks turns, all in one process; there may be several such."""

    def __init__(self, url: str, redis_url: str, *, number: int, slots: int) -> None:
        self._store, self._flows, self._queue = open_store(url), FlowFiles((f"{__file__}:FLOW",)), Shared(redis_url)
        watch, nobody = clock.SystemClock(), cast("Any", Nobody())
        doors = ("workflows", "workspaces", "prompts", "hooks", "tracker", "agent", "leases")
        steps = StepCalls(self._flows, watch, supervisor=lambda: nobody, environment={}, state_dir=Path.cwd())
        self._ports = Ports(
            store=self._store, queue=cast("Any", self._queue), clock=watch, supervisor=lambda: nobody,
            flows=self._flows, steps=steps, **dict.fromkeys(doors, nobody),
        )  # fmt: skip
        self._worker = Worker(Identity("bench", "boot", number, uuid4()), Slots(slots), Path.cwd(), 30.0)
        self._turns, self._slots = ThreadPoolExecutor(slots), slots
        self._row = manifest.publish(self._store, self._flows.contract(FLOW.name))
        self._started, self._ended, self._walking = 0, 0, set[Future[Any]]()
        self._beaten_at = 0.0

    def work(self, *, until: float) -> None:
        """Start tasks until then, and walk turns until there are no more."""
        while True:
            is_over = time.perf_counter() > until
            has_news = not is_over and self._started - self._ended < 4 * self._slots
            if has_news:
                self._start(BATCH)
            if has_news or len(self._walking) < 2 * self._slots:
                self._tick()
            room = 2 * self._slots - len(self._walking)
            taken = self._queue.take(room) if room else []
            self._walking |= {self._turns.submit(self._take_turn, turn_id, fence) for turn_id, fence in taken}
            if is_over and not self._walking:
                return
            done, self._walking = wait(self._walking, timeout=0.01, return_when=FIRST_COMPLETED)
            self._ended += len(done)

    def _start(self, count: int) -> None:
        for _ in range(count):
            self._store.flows.start(NewTask(self._row.name, self._row.version, "", {}))
        self._started += count
        self._store.reconciler.request(self._row.name, listing=False)

    def _tick(self) -> None:
        if time.perf_counter() - self._beaten_at > 1:
            me, self._beaten_at = self._worker.identity, time.perf_counter()
            # As many again wait for a thread, so that none of them waits for a tick.
            row = WorkerRow(me.id, me.host, me.boot_id, me.pid, slots=2 * self._slots, busy=0, queues=("turns",))
            self._store.workers.beat(row)
        with contextlib.suppress(RowLocked):  # as in a worker: the next ring comes soon
            reconcile.ring(self._ports, self._row.name, full=False)

    def _take_turn(self, turn_id: UUID, fence: int) -> None:
        turn.take_turn(self._ports, self._worker, turn_id=turn_id, fence=fence)


def main(start_at: float, seconds: float, process: Process) -> None:
    """Work until the time is up."""
    telemetry.configure(telemetry.Style.JSON, stream=Path("/dev/null").open("w"))  # noqa: SIM115 -- until the end
    process.work(until=time.perf_counter() + 0.5)  # connections are made and statements prepared, as in any worker
    own = sys.modules[next(name for name in sys.modules if name.startswith("stationkeeper_flow_"))].calls
    time.sleep(max(0.0, start_at - time.time()))
    own.clear()
    began = time.perf_counter()
    process.work(until=began + seconds)
    took = time.perf_counter() - began
    print(json.dumps({"steps": len(own), "seconds": took, **_overhead(own)}))


def _overhead(told: Sequence[tuple[int, float]]) -> dict[str, float]:
    """From one call of a turn to its next, seconds: a thread walks one turn after another."""
    times = defaultdict(list)
    for thread, at in told:
        times[thread].append(at)
    gaps = sorted(
        later - sooner
        for each in times.values()
        for number, (sooner, later) in enumerate(itertools.pairwise(each), start=1)
        if number % STEPS
    )
    return {"p50": gaps[len(gaps) // 2], "p99": gaps[len(gaps) * 99 // 100]} if gaps else {}


if __name__ == "__main__":
    starts, lasts, which, database_url, redis_url, *given = sys.argv[1:]
    stock = Settings.model_fields["turn_slots"].default
    one = Process(database_url, redis_url, number=int(which), slots=int(given[0]) if given else stock)
    main(float(starts), float(lasts), one)
