"""From a worker's death to its turn running again on a second one, and how long a clean stop takes.

A worker is killed alone, so that its supervisor tells of it, and together with supervisor and agent, as when a machine
goes down: then the lease has to run out. The bound is the lease and one tick, on the short clocks of the tests. Beside
it stands what Celery offers: `acks_late`, `task_reject_on_worker_lost` and a visibility timeout as long as the lease.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import psycopg
import redis
from celery import Celery
from psycopg.rows import TupleRow

from bench import ground as grounds
from bench import measure, processes, sleepers
from bench.ground import Ground
from bench.measure import Line
from tests.e2e.fleet import CLOCKS, Fleet
from tests.waiting import until

TITLE = "recovery: worker dead to turn running again; beside it: Celery with acks_late, visibility timeout = lease"
LEASE_SECONDS = float(CLOCKS["STATIONKEEPER_LEASE_SECONDS"])
TICK_SECONDS = 1.0
BOUND_SECONDS = LEASE_SECONDS + TICK_SECONDS
STOP_BOUND_SECONDS = 2.0

_PATIENCE_SECONDS = 60.0
_WORKERS = 2
# Of two applications that a command line names, Celery takes the last.
_LATE_WORKER = ("-A", "bench.late", "worker", "--queues=late")
_OWNER = """
    select turn.pid from turn join item on item.key = turn.item_key
    where turn.status = 'running' and upper(item.identifier) = %s
"""


# Ends a worker; the pid is its agent's.
Kill = Callable[[subprocess.Popen[bytes], int], None]


@dataclass(frozen=True, slots=True)
class Size:
    """How many deaths of each kind."""

    deaths: int


FULL = Size(deaths=measure.PAIRS)
QUICK = Size(deaths=1)


@dataclass(slots=True)
class Found:
    """Seconds of each kind, one entry a death."""

    alone: list[float] = field(default_factory=list)
    together: list[float] = field(default_factory=list)
    stops: list[float] = field(default_factory=list)
    resumes: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)


def run(size: Size, ground: Ground) -> list[Line]:
    """Kill turn about."""
    found = Found()
    with _stand(ground) as stand:
        for _ in range(size.deaths):
            found.alone.append(stand.ours(_kill_worker))
            stopped, resumed = stand.stop()
            found.stops.append(stopped)
            found.resumes.append(resumed)
            found.together.append(stand.ours(_kill_all))
            found.theirs.append(stand.theirs())
    return [
        _line("worker killed", found.alone, found.theirs),
        _line("everything of it killed", found.together, found.theirs),
        Line(
            "clean stop of a worker in mid-turn",
            _spread(found.stops),
            bound=f"< {measure.shown(STOP_BOUND_SECONDS)}",
            is_held=max(found.stops) < STOP_BOUND_SECONDS,
        ),
        Line(
            "SIGTERM in mid-turn to the turn running on the next worker",
            _spread(found.resumes),
            bound=f"< {measure.shown(STOP_BOUND_SECONDS)}",
            is_held=measure.middle(found.resumes) < STOP_BOUND_SECONDS,
        ),
    ]


def _line(name: str, ours: Sequence[float], theirs: Sequence[float]) -> Line:
    return Line(
        name,
        _spread(ours),
        beside=_spread(theirs),
        ratio=f"{measure.middle(ours) / measure.middle(theirs):.2f}",
        bound=f"<= {measure.shown(BOUND_SECONDS)}",
        is_held=max(ours) <= BOUND_SECONDS,
    )


def _spread(values: Sequence[float]) -> str:
    return f"{measure.shown(measure.middle(values))} (worst {measure.shown(max(values))})"


def _ended_after(worker: subprocess.Popen[bytes], began: float) -> float:
    """Wait for its end; the seconds since `began`."""
    worker.wait()
    return time.perf_counter() - began


def _kill_worker(worker: subprocess.Popen[bytes], _agent: int) -> None:
    worker.kill()
    worker.wait()


def _kill_all(worker: subprocess.Popen[bytes], agent: int) -> None:
    for pid in (processes.supervisor(worker.pid), agent):
        os.kill(pid, signal.SIGKILL)
    _kill_worker(worker, agent)


@dataclass(slots=True)
class _Stand:
    """Workers of ours and of theirs, always two at first, and the cards that were dealt."""

    fleet: Fleet
    database: psycopg.Connection[TupleRow]
    their_redis_url: str
    cards: int = 0
    hired: int = 0

    def ours(self, kill: Kill) -> float:
        """Seconds from a worker's death to the next agent of its card."""
        holder, agent = self._work_on_a_card()
        began = time.perf_counter()
        kill(holder, agent)
        sleepers.newest(self.fleet, self.cards, at_least=2)
        taken = time.perf_counter() - began
        self.fleet.drag(self.cards, "Done")
        return taken

    def stop(self) -> tuple[float, float]:
        """Seconds from SIGTERM in mid-turn to the end of the worker, and to the turn running on the other one."""
        holder, agent = self._work_on_a_card()
        began = time.perf_counter()
        holder.terminate()
        with ThreadPoolExecutor(max_workers=1) as aside:  # the turn does not wait for the worker's own end
            over = aside.submit(_ended_after, holder, began)
            sleepers.newest(self.fleet, self.cards, at_least=2)
            resumed = time.perf_counter() - began
            taken = over.result()
        assert not processes.lives(agent)
        self.fleet.drag(self.cards, "Done")
        return taken, resumed

    def theirs(self) -> float:
        """Seconds from a worker's death to the next start of its task."""
        witness = self.fleet.folder / "late.txt"
        witness.write_text("")
        workers = self._staff("late", *_LATE_WORKER, REDIS_URL=self.their_redis_url)
        Celery("bench", broker=self.their_redis_url).send_task("late.work", [str(witness)], queue="late")
        until(lambda: witness.read_text().endswith("\n"), timeout_seconds=_PATIENCE_SECONDS, what="a task")
        [holder] = [worker for worker in workers if worker.pid == int(witness.read_text())]
        began = time.perf_counter()
        holder.kill()
        until(lambda: witness.read_text().count("\n") > 1, timeout_seconds=_PATIENCE_SECONDS, what="the task again")
        taken = time.perf_counter() - began
        for worker in workers:
            worker.kill()
            worker.wait()
        with redis.Redis.from_url(self.their_redis_url) as broker:
            broker.flushdb()
        return taken

    def _work_on_a_card(self) -> tuple[subprocess.Popen[bytes], int]:
        """The worker that has the new card's turn, with a second one beside it, and the agent's pid."""
        workers = self._staff("ours", "worker")
        self.cards += 1
        self.fleet.add_card(self.cards)
        agent = sleepers.newest(self.fleet, self.cards)
        row = self.database.execute(_OWNER, [f"T-{self.cards}"]).fetchone()
        assert row is not None
        return next(worker for worker in workers if worker.pid == row[0]), agent

    def _staff(self, kind: str, *words: str, **env: str) -> list[subprocess.Popen[bytes]]:
        """Two live workers of a kind, ready."""
        present = {name: process for name, process in self.fleet.processes.items() if name.startswith(kind)}
        alive = {name: process for name, process in present.items() if process.poll() is None}
        while len(alive) < _WORKERS:
            self.hired += 1
            name = f"{kind}-{self.hired}"
            alive[name] = self.fleet.start(name, *words, f"--hostname={name}@%h", "--loglevel=info", **env)
        for name in alive:
            until(lambda name=name: "ready." in self.fleet.log(name), timeout_seconds=_PATIENCE_SECONDS, what=name)  # type: ignore[misc]
        return list(alive.values())


@contextlib.contextmanager
def _stand(ground: Ground) -> Iterator[_Stand]:
    with sleepers.fleet(ground, 0, max_agents=2) as fleet:
        fleet.beat()
        with psycopg.connect(grounds.address(fleet.database_url), autocommit=True) as database:
            yield _Stand(fleet, database, ground.redis_url())
