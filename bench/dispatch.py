"""From a tick to turns started, on the processes that `make up` starts, against raw Celery tasks that do nothing.

Ours: a control worker lists a board on which a round of cards has just appeared and opens a turn for each (Redis lease,
transaction, message); a second worker admits them and writes their first checkpoint, their agents only wait. The clock
is Postgres's: from the beginning of the tick to the last admission; a line without a counterpart tells when the last
workspace stood, so that its agent could start. Two write-backs a turn wait in the outbox until the clock has stopped; a
second line shows the same with the relay posting them meanwhile, on the same two cores.

Theirs: one process publishes as many no-op tasks, one worker with the same settings takes them. The clock runs from the
first publish to the start of the last. Both run once before anything is measured.
"""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString

import psycopg
import redis
import yaml
from celery import Celery
from psycopg.rows import TupleRow

from bench import board, measure
from bench import ground as grounds
from bench.ground import Ground
from bench.measure import Line
from tests.e2e.fleet import Fleet
from tests.waiting import until

TITLE = "dispatch: tick to turn started; beside it: raw Celery no-op tasks, same broker, same worker settings"
LEAST_RATIO, AIM = 0.40, 0.60

# As an installation runs by default; the fleet of the tests has shorter ones.
_CLOCKS = {
    "STATIONKEEPER_LEASE_SECONDS": "30",
    "STATIONKEEPER_RENEWAL_SECONDS": "2",
    "STATIONKEEPER_GRACE_SECONDS": "5",
    "STATIONKEEPER_REQUEUE_SECONDS": "10",
}
# Of two applications that a command line names, Celery takes the last.
_RAW_WORKER = ("-A", "bench.raw", "worker", "--hostname=raw@%h", "--queues=raw", "--loglevel=info")
_CONTROLLER = "control@bench"
_PATIENCE_SECONDS = 90.0
# Rarely: looking takes processor time from what is looked at.
_LOOK_EVERY_SECONDS = 0.2

_STARTED = """
    select count(*), count(step), extract(epoch from max(turn.admitted_at) - (select list_began_at from reconciler)),
        extract(epoch from max(step.at) - (select list_began_at from reconciler))
    from turn join item on item.key = turn.item_key left join step on step.turn_id = turn.id and step.ordinal = 2
    where turn.admitted_at is not null and item.identifier like %s
"""
_UNDER_WAY = """
    select (select count(*) from turn where status in ('queued', 'running'))
        + (select count(*) from outbox where status in ('pending', 'claimed', 'unknown'))
        + (select count(*) from reconciler where running_until is not null)
        + (select sum(busy) from worker)
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How many cards a round, and how many rounds of each."""

    cards: int
    pairs: int = measure.PAIRS


FULL = Size(cards=300)
QUICK = Size(cards=5, pairs=1)


def run(size: Size, ground: Ground) -> list[Line]:
    """Measure the pairs."""
    with _stand(size, ground) as stand:
        stand.theirs()
        stand.ours()
        rounds = [(*stand.ours(), stand.theirs(), *stand.beside_the_relay()) for _ in range(size.pairs)]
    ours, ready, theirs, relaying, _ = (size.cards / measure.middle(taken) for taken in zip(*rounds, strict=True))
    return [
        _line(f"{size.cards} turns started", ours, theirs),
        _line(f"{size.cards} turns started, relay at work", relaying, theirs),
        Line(f"{size.cards} workspaces ready for their agents", f"{ready:.0f} a second"),
    ]


def _line(name: str, ours: float, theirs: float) -> Line:
    return Line(
        name,
        f"{ours:.0f} a second",
        beside=f"{theirs:.0f} a second",
        ratio=f"{ours / theirs:.2f}",
        bound=f">= {LEAST_RATIO:.2f}, aim {AIM:.2f}",
        is_held=ours >= LEAST_RATIO * theirs,
    )


@dataclass(frozen=True, slots=True)
class _Stand:
    """Both systems, running; each measurement takes seconds and leaves its own quiet."""

    cards: int
    folder: Path
    database: psycopg.Connection[TupleRow]
    broker: redis.Redis
    app: Celery
    controller: str

    def ours(self) -> tuple[float, float]:
        """Seconds from the beginning of the tick to the last admission and to the last workspace; nothing is posted."""
        control, to = self.app.control, [self.controller]
        control.cancel_consumer("relay", destination=to, reply=True)
        taken = self._round()
        control.add_consumer("relay", exchange="stationkeeper", routing_key="relay", destination=to, reply=True)
        self._quieten()
        return taken

    def beside_the_relay(self) -> tuple[float, float]:
        """The same, as it is in earnest."""
        taken = self._round()
        self._quieten()
        return taken

    def theirs(self) -> float:
        """Seconds from the first publish to the start of the last task."""
        began = time.time()
        for _ in range(self.cards - 1):
            self._publish("raw.nothing")
        self._publish("raw.last")
        answer = self.broker.blpop(["raw.done"], timeout=_PATIENCE_SECONDS)
        assert answer, "the last raw task never came"
        return float(answer[1]) - began

    def _round(self) -> tuple[float, float]:
        with (self.folder / "gate").open("w") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            names = board.card("%", of_round=board.deal(self.folder / "deal", self.cards))
            self.app.send_task("tasks.reconcile", queue="control")
            ends = time.monotonic() + _PATIENCE_SECONDS
            while self._row(_STARTED, names)[1] < self.cards:
                assert time.monotonic() < ends, "the turns never started"
                time.sleep(_LOOK_EVERY_SECONDS)
            _, _, started, ready = self._row(_STARTED, names)
            return float(started), float(ready)

    def _quieten(self) -> None:
        until(lambda: self._row(_UNDER_WAY)[0] == 0, timeout_seconds=_PATIENCE_SECONDS, what="quiet")

    def _publish(self, name: str) -> None:
        self.app.send_task(name, queue="raw", retry=False, ignore_result=True)

    def _row(self, sql: LiteralString, *values: str) -> TupleRow:
        row = self.database.execute(sql, values).fetchone()
        assert row is not None
        return row


@contextlib.contextmanager
def _stand(size: Size, ground: Ground) -> Iterator[_Stand]:
    database_url, redis_url = ground.database_url(), ground.redis_url()
    fleet = Fleet(ground.folder(), database_url, redis_url)
    (fleet.folder / "deal").touch()
    (fleet.folder / "WORKFLOW.md").write_text(_workflow(fleet.folder, size.cards))
    env = {**_CLOCKS, "STATIONKEEPER_TURN_SLOTS": str(size.cards)}
    with contextlib.ExitStack() as leaving:
        leaving.callback(fleet.stop)
        fleet.worker("turns", "--queues=turns", **env)
        fleet.worker("control", f"--hostname={_CONTROLLER}", "--queues=control,relay", **env)
        fleet.start("beat", "beat", **env)
        fleet.start("raw", *_RAW_WORKER, **env)
        until(lambda: "ready." in fleet.log("raw"), timeout_seconds=40, what="the raw worker")
        database = leaving.enter_context(psycopg.connect(grounds.address(database_url), autocommit=True))
        broker = leaving.enter_context(redis.Redis.from_url(redis_url))
        yield _Stand(size.cards, fleet.folder, database, broker, Celery("bench", broker=redis_url), _CONTROLLER)


def _workflow(folder: Path, cards: int) -> str:
    """Every card of a round may run at once; only a ring reads the board."""
    front = {
        "name": "bench",
        "tracker": {
            "kind": "bench.board",
            "deal": str(folder / "deal"),
            "active_states": ["To Do", "In Progress"],
            "terminal_states": ["Done"],
            "in_progress_state": "In Progress",
            "handoff_state": "In Review",
        },
        "polling": {"interval_ms": 3_600_000},
        "workspace": {"root": "workspaces"},
        "agent": {
            "kind": "bench.noop_agent",
            "max_concurrent_agents": cards,
            "env": {"GATE": str(folder / "gate")},
        },
    }
    return f"---\n{yaml.safe_dump(front, sort_keys=False)}---\nDo {{{{ issue.identifier }}}}\n"
