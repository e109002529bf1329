"""Write-backs: how many a second go through the relay, and how old a row gets when a hundred come in each second.

The board is a Backlog.md folder on disk, Postgres is real and durable. Beside the relay stands what it must cost at
least: the same moves and comments, called on the same kind of board one after the other, without a record of any.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import UUID

import psycopg

from bench import files, measure, tick
from bench import ground as grounds
from bench.ground import Ground
from bench.measure import Line
from orchestrator.domain.writeback import Comment, Move, Role, Write, WriteKind
from orchestrator.engine import relay
from orchestrator.ports import Ports
from orchestrator.ports.store import Admitted, Owner, StepRecord
from orchestrator.trackers import backlog

TITLE = "write-back: outbox, re-read, conditional write, settle, audit"
RELAYS = 2
RATE_A_SECOND = 100
OLDEST_SECONDS = 0.5
_WORKER = UUID(int=1)
_LEASE_SECONDS = 3600.0
_LOOK_EVERY_SECONDS = 0.02
_QUEUED = "select id, fence from turn where status = 'queued' order by opened_at"
_AGES = (
    "select extract(epoch from settled_at - written_at)::float from outbox where status = 'sent' and act = 'comment'"
)


@dataclass(frozen=True, slots=True)
class Size:
    """How many cards are written to (a move and a comment each), for how long rows come in, and how many pairs."""

    cards: int
    seconds: float
    pairs: int = measure.PAIRS


FULL = Size(300, 20.0)
QUICK = Size(6, 0.5, pairs=1)


def run(size: Size, ground: Ground) -> list[Line]:
    """Measure both."""
    found = measure.interleaved(
        lambda: _relayed(ground, size.cards), lambda: _called(ground, size.cards), pairs=size.pairs
    )
    ours, theirs = 2 * size.cards / found.ours, 2 * size.cards / found.theirs
    throughput = Line(
        f"write-backs a second, {size.cards} cards", f"{ours:.0f}", beside=f"{theirs:.0f}", ratio=f"{ours / theirs:.2f}"
    )
    ages = _ages(ground, size)
    oldest = measure.percentile(ages, 95)
    age = Line(
        f"age of a row when sent, p95, {RATE_A_SECOND} rows a second",
        measure.shown(oldest),
        beside=f"median {measure.shown(measure.middle(ages))}",
        bound=f"< {measure.shown(OLDEST_SECONDS)}",
        is_held=oldest < OLDEST_SECONDS,
    )
    return [throughput, age]


def _called(ground: Ground, cards: int) -> float:
    """The same writes without us."""
    board = files.board(ground.folder(), cards)
    tracker = backlog.connect({"path": str(board)})
    ids = [files.card_id(number) for number in range(1, cards + 1)]

    def write() -> None:
        for item_id in ids:
            tracker.move(item_id, "In Progress", only_from=["To Do"], revision=None)
            tracker.comment(item_id, "bench:status", "Turn 1 is running.")

    return measure.seconds(write)


def _relayed(ground: Ground, cards: int) -> float:
    """The writes of as many turns, from the outbox by two relays, as many as a relay worker has."""
    ports, admitted = _under_way(ground, cards, url=ground.database_url())
    for turn in admitted:
        move = Write(WriteKind.STARTED, Move(Role.IN_PROGRESS, ("To Do",)))
        assert _put(ports, turn, 1, move, _comment("Turn 1 is running."))

    def drain() -> None:
        with ThreadPoolExecutor(RELAYS) as pool:
            for one in [pool.submit(relay.drain, ports) for _ in range(RELAYS)]:
                one.result()

    return measure.seconds(drain)


def _ages(ground: Ground, size: Size) -> Sequence[float]:
    """How long each row waited, when a comment comes in every so often and relays look each 20 ms."""
    url = ground.database_url()
    ports, admitted = _under_way(ground, size.cards, url=url)
    over = threading.Event()

    def relays() -> None:
        while not over.wait(_LOOK_EVERY_SECONDS):
            relay.drain(ports)
        relay.drain(ports)

    with ThreadPoolExecutor(RELAYS) as pool:
        at_work = [pool.submit(relays) for _ in range(RELAYS)]
        began, count = time.perf_counter(), int(size.seconds * RATE_A_SECOND)
        for number in range(count):
            _put(ports, admitted[number % len(admitted)], number + 1, _comment(f"Step {number}."))
            time.sleep(max(0.0, began + (number + 1) / RATE_A_SECOND - time.perf_counter()))
        over.set()
        for one in at_work:
            one.result()
    with psycopg.connect(grounds.address(url)) as looking:
        return [float(row[0]) for row in looking.execute(_AGES).fetchall()]


def _under_way(ground: Ground, cards: int, *, url: str) -> tuple[Ports, list[Admitted]]:
    """A board of so many cards, each with a running turn, in the database at `url`."""
    ports = tick.ports(url, ground.redis_url())
    tick.put_in_force(ports, files.workflow(files.board(ground.folder(), cards), cap=cards))
    tick.say_hello(ports, slots=cards)
    tick.tick(ports)
    with psycopg.connect(grounds.address(url)) as looking:
        queued = looking.execute(_QUEUED).fetchall()
    owner = Owner("bench", "bench", 1, _WORKER, _WORKER)
    admitted = [ports.store.turns.admit(*turn, owner, lease_seconds=_LEASE_SECONDS) for turn in queued]
    running = [turn for turn in admitted if turn is not None]
    assert len(running) == cards, f"{len(running)} of {cards} turns run"
    return ports, running


def _put(ports: Ports, turn: Admitted, ordinal: int, *writes: Write) -> bool:
    step = StepRecord(ordinal, "bench")
    return ports.store.turns.checkpoint(turn.ref, step, writes=writes, lease_seconds=_LEASE_SECONDS)


def _comment(body: str) -> Write:
    return Write(WriteKind.STARTED, Comment("bench:status", body))
