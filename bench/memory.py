"""What a waiting turn costs: the memory of a worker and its supervisor with so many turns, less what they need idle.

Private memory, which no other process shares; agents aside. Beside it: as many waiting tasks in a Celery worker of the
default pool, which keeps a process for each.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import redis
from celery import Celery

from bench import processes, sleepers
from bench.ground import Ground
from bench.measure import Line
from tests.e2e.fleet import Fleet
from tests.waiting import until

TITLE = "memory: one waiting turn; beside it: one waiting task in Celery's default pool (prefork)"
BOUND_MB = 3.0
_PATIENCE_SECONDS = 120.0
_LOOK_EVERY_SECONDS, _STILL_MB = 1.0, 0.2
# Of two applications that a command line names, Celery takes the last; `prefork` would be read as "as configured".
_PREFORK = ("-A", "bench.raw", "worker", "--pool=processes", "--hostname=raw@%h", "--queues=raw")


@dataclass(frozen=True, slots=True)
class Size:
    """How many turns wait at once."""

    turns: int


FULL = Size(turns=50)
QUICK = Size(turns=3)


def run(size: Size, ground: Ground) -> list[Line]:
    """Measure both; memory repeats itself, so once is enough."""
    ours, theirs = _ours(size, ground), _theirs(size, ground)
    return [
        Line(
            f"each of {size.turns} waiting turns",
            f"{ours:.2f} MB",
            beside=f"{theirs:.2f} MB",
            ratio=f"{ours / theirs:.3f}",
            bound=f"< {BOUND_MB:.0f} MB",
            is_held=ours < BOUND_MB,
        )
    ]


def _ours(size: Size, ground: Ground) -> float:
    """MB a turn: worker and supervisor with all turns waiting, less both with none."""
    with sleepers.fleet(ground, size.turns, max_agents=size.turns) as fleet:
        slots = {"STATIONKEEPER_TURN_SLOTS": str(size.turns)}
        worker = fleet.worker("turns", "--queues=turns", **sleepers.DEFAULT_CLOCKS, **slots)
        until(lambda: processes.children(worker.pid), what="the supervisor")
        both = (worker.pid, processes.supervisor(worker.pid))
        idle_mb = _settled_mb(both)
        fleet.worker("control", "--queues=control", **sleepers.DEFAULT_CLOCKS)
        fleet.beat()
        for number in range(1, size.turns + 1):
            sleepers.newest(fleet, number)
        return (_settled_mb(both) - idle_mb) / size.turns


def _settled_mb(pids: Sequence[int]) -> float:
    """Their memory once it has stopped growing: a supervisor that was just started still imports."""
    before = 0.0
    while (now := processes.private_mb(pids)) - before > _STILL_MB:
        before = now
        time.sleep(_LOOK_EVERY_SECONDS)
    return now


def _theirs(size: Size, ground: Ground) -> float:
    """MB a task: a pool of so many processes, each of them with a waiting task, less a pool of one."""
    full_mb, single_mb = (_prefork(ground, count) for count in (size.turns, 1))
    return (full_mb - single_mb) / (size.turns - 1)


def _prefork(ground: Ground, count: int) -> float:
    redis_url = ground.redis_url()
    fleet = Fleet(ground.folder(), ground.database_url(), redis_url)
    app = Celery("bench", broker=redis_url)
    try:
        worker = fleet.start("raw", *_PREFORK, f"--concurrency={count}")
        for _ in range(count):
            app.send_task("raw.wait", queue="raw")
        with redis.Redis.from_url(redis_url) as broker:
            until(lambda: broker.get("raw.waiting") == b"%d" % count, timeout_seconds=_PATIENCE_SECONDS, what="tasks")
        return _settled_mb((worker.pid, *processes.children(worker.pid)))
    finally:
        fleet.stop()
