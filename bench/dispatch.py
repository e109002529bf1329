"""From a tick to turns started, on the processes that `make up` starts, against raw Celery tasks that do nothing.

Ours: a control worker lists a board on which a round of cards has just appeared and opens a turn for each (Redis lease,
transaction, message); a second worker admits them and writes their first checkpoint, their agents only wait. The clock
is Postgres's: from the beginning of the tick to the last admission.

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
_PATIENCE_SECONDS = 90.0

_STARTED = """
    select count(*), extract(epoch from max(turn.admitted_at) - (select list_began_at from reconciler))
    from turn join item on item.key = turn.item_key where turn.admitted_at is not null and item.identifier like %s
"""
_UNDER_WAY = """
    select (select count(*) from turn where status in ('queued', 'running'))
        + (select count(*) from outbox where status in ('pending', 'claimed', 'unknown'))
        + (select count(*) from reconciler where running_until is not null)
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
        stand.ours()
        stand.theirs()
        found = measure.interleaved(stand.ours, stand.theirs, pairs=size.pairs)
    ratio = found.theirs / found.ours
    return [
        Line(
            f"{size.cards} turns started",
            f"{size.cards / found.ours:.0f} a second",
            beside=f"{size.cards / found.theirs:.0f} a second",
            ratio=f"{ratio:.2f}",
            bound=f">= {LEAST_RATIO:.2f}, aim {AIM:.2f}",
            is_held=ratio >= LEAST_RATIO,
        )
    ]


@dataclass(frozen=True, slots=True)
class _Stand:
    """Both systems, running; each measurement takes seconds and leaves its own quiet."""

    cards: int
    folder: Path
    database: psycopg.Connection[TupleRow]
    broker: redis.Redis
    app: Celery

    def ours(self) -> float:
        """Seconds from the beginning of the tick to the last admission."""
        with self._gate_closed():
            names = board.card("%", of_round=board.deal(self.folder / "deal", self.cards))
            self.app.send_task("tasks.reconcile", queue="control")
            until(
                lambda: self._row(_STARTED, names)[0] == self.cards,
                timeout_seconds=_PATIENCE_SECONDS,
                what="every turn",
            )
            taken = self._row(_STARTED, names)[1]
        until(lambda: self._row(_UNDER_WAY)[0] == 0, timeout_seconds=_PATIENCE_SECONDS, what="quiet")
        return float(taken)

    def theirs(self) -> float:
        """Seconds from the first publish to the start of the last task."""
        began = time.time()
        for _ in range(self.cards - 1):
            self._publish("raw.nothing")
        self._publish("raw.last")
        answer = self.broker.blpop(["raw.done"], timeout=_PATIENCE_SECONDS)
        assert answer, "the last raw task never came"
        return float(answer[1]) - began

    def _publish(self, name: str) -> None:
        self.app.send_task(name, queue="raw", retry=False, ignore_result=True)

    def _row(self, sql: LiteralString, *values: str) -> TupleRow:
        row = self.database.execute(sql, values).fetchone()
        assert row is not None
        return row

    @contextlib.contextmanager
    def _gate_closed(self) -> Iterator[None]:
        with (self.folder / "gate").open("w") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            yield


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
        fleet.worker("control", "--queues=control,relay", **env)
        fleet.start("beat", "beat", **env)
        fleet.start("raw", *_RAW_WORKER, **env)
        until(lambda: "ready." in fleet.log("raw"), timeout_seconds=40, what="the raw worker")
        database = leaving.enter_context(psycopg.connect(grounds.address(database_url), autocommit=True))
        broker = leaving.enter_context(redis.Redis.from_url(redis_url))
        yield _Stand(size.cards, fleet.folder, database, broker, Celery("bench", broker=redis_url))


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
