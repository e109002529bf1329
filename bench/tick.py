"""A whole tick over a board of active items: the first one, and one over a board on which nothing changed.

The cap is ten, so that all other items wait with a stored reason each. Postgres is real and durable, the board is in
memory, Redis leases and messages go to the real server. Between the two ticks the ten turns start, and run on.

Beside it stands what a user would write instead: list the same board and keep it in a table by one bulk upsert that
skips unchanged rows. It keeps titles and states, chooses nothing and opens nothing: a lower bound, not an equal.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import LiteralString, NoReturn
from uuid import UUID

import psycopg
from celery import Celery
from psycopg.rows import TupleRow

from bench import ground as grounds
from bench import measure
from bench.ground import Ground
from bench.measure import Line, Medians, middle
from orchestrator import adapters, clock, hooks, leases, prompts, queue, workflow, workspaces
from orchestrator.domain.item import Item
from orchestrator.engine import publish, reconcile
from orchestrator.ports import Ports
from orchestrator.ports.store import Owner, WorkerRow
from orchestrator.ports.workflows import WorkflowFile
from orchestrator.store.open import PostgresStore, open_store
from orchestrator.trackers import memory
from orchestrator.trackers.memory import MemoryBoard, MemoryTracker

TITLE = "tick: list, compare, carry out, store a reason for each item that waits"
CAP = 10
_ACTIVE = ("To Do", "In Progress")
_WORKER = UUID(int=1)
_LOOK_EVERY_SECONDS = 0.05
# An admitted turn outlives every tick that is measured.
_LEASE_SECONDS = 3600.0

_WORKFLOW = """---
name: bench
tracker:
  kind: memory
  board: {board}
  active_states: [To Do, In Progress]
  terminal_states: [Done]
  in_progress_state: In Progress
  handoff_state: In Review
agent: {{kind: command, command: "true", max_concurrent_agents: {cap}}}
---
Do {{{{ issue.identifier }}}}
"""

_THEIR_TABLE = "create table board (id text primary key, identifier text, title text, state text, priority int)"
_THEIR_COLUMNS = ("id", "identifier", "title", "state", "priority")
_THEIR_UPSERT = """
    insert into board
    select * from unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::int[])
    on conflict (id) do update
    set identifier = excluded.identifier, title = excluded.title, state = excluded.state, priority = excluded.priority
    where (board.identifier, board.title, board.state, board.priority)
        is distinct from (excluded.identifier, excluded.title, excluded.state, excluded.priority)
"""
_ROWS_WRITTEN = "select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) from pg_stat_user_tables"
_OTHERS = """
    select count(*) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How many items on each board, with the bound in seconds, and how many pairs."""

    boards: Mapping[int, float]
    pairs: int = measure.PAIRS


FULL = Size({10_000: 0.5, 100_000: 3.0})
QUICK = Size({300: 0.5}, pairs=1)


@dataclass(frozen=True, slots=True)
class Pair:
    """One run of both, seconds; `written` are the rows that our unchanged tick wrote."""

    first: float
    unchanged: float
    their_first: float
    their_unchanged: float
    written: int


def run(size: Size, ground: Ground) -> list[Line]:
    """Measure each board."""
    return [line for items, bound in size.boards.items() for line in _measured(ground, items, bound, pairs=size.pairs)]


def _measured(ground: Ground, items: int, bound_seconds: float, *, pairs: int) -> list[Line]:
    board = _board(items)
    found = [_pair(ground, board) for _ in range(pairs)]
    first = Medians(middle(pair.first for pair in found), middle(pair.their_first for pair in found))
    unchanged = Medians(middle(pair.unchanged for pair in found), middle(pair.their_unchanged for pair in found))
    written = max(pair.written for pair in found)
    return [
        measure.duration(f"first tick, {items:,} items", first, bound_seconds=bound_seconds),
        measure.duration(f"unchanged tick, {items:,} items", unchanged, bound_seconds=bound_seconds),
        Line(
            f"rows it wrote, {items:,} items",
            f"{written}",
            bound=f"<= {_ALMOST_NOTHING}",
            is_held=written <= _ALMOST_NOTHING,
        ),
    ]


# Begin, extend and finish on the reconciler row, and the pulse: what says that a tick took place at all.
_ALMOST_NOTHING = 8


def _pair(ground: Ground, board: MemoryBoard) -> Pair:
    """Both, turn about, each in a database of its own."""
    database_url, their_url = ground.database_url(), ground.database_url()
    with psycopg.connect(grounds.address(their_url), autocommit=True) as theirs:
        theirs.execute(_THEIR_TABLE)
        doors = ports(database_url, ground.redis_url())
        _prepare(doors, board)
        first = tick(doors)
        their_first = measure.seconds(lambda: _sync(theirs, board))
        _admit(doors, database_url)
        tick(doors)  # sees them run
        before = _rows_written(doors, database_url)
        unchanged = tick(doors)
        written = _rows_written(doors, database_url) - before
        their_unchanged = measure.seconds(lambda: _sync(theirs, board))
    return Pair(first, unchanged, their_first, their_unchanged, written)


def _board(items: int) -> MemoryBoard:
    board = memory.board(f"tick-{items}")
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(items):
        created = start + timedelta(minutes=number)
        card = f"B-{number}"
        board.add(Item(card, card, f"Card {number}", "To Do", priority=number % 6, created_at=created))
    return board


def ports(database_url: str, redis_url: str) -> Ports:
    """The doors as a control worker has them; the board is the memory adapter's."""
    app = Celery("bench", broker=redis_url)
    return Ports(
        store=open_store(database_url),
        leases=leases.RedisLeases(redis_url),
        queue=queue.CeleryQueue(app.send_task, lambda: app.producer_pool.acquire(block=True)),
        clock=clock.SystemClock(),
        workflows=workflow.WorkflowFiles([], environment={}),
        workspaces=workspaces.GitWorkspaces(),
        prompts=prompts.LiquidPrompts(),
        hooks=hooks.SupervisedHooks({}),
        tracker=adapters.Trackers(dict),
        agent=adapters.Agents({}),
        supervisor=_no_supervisor,
    )


def _no_supervisor() -> NoReturn:
    raise AssertionError("a tick starts no agent")


def _prepare(ports: Ports, board: MemoryBoard) -> None:
    """Put the workflow in force."""
    put_in_force(ports, _WORKFLOW.format(board=board.key, cap=CAP))
    say_hello(ports)


def put_in_force(ports: Ports, body: str) -> None:
    """Put a workflow file of that text in force."""
    path = Path("/bench/WORKFLOW.md")
    file = WorkflowFile(path, body, "bench", ports.workflows.parse(body, path=path))
    publish.enforce(ports.store, [file], door=ports.workflows)


def say_hello(ports: Ports, *, slots: int = CAP) -> None:
    """A worker with so many slots is there; both pools have a connection, as in a process that has run for a while."""
    ports.store.workers.beat(WorkerRow(_WORKER, "bench", "bench", 1, slots, 0, ("turns",)))
    ports.store.workflows.all()


def tick(ports: Ports) -> float:
    """How long a full tick takes, once it may begin: two listings keep a small distance."""
    ports.store.reconciler.request(None, listing=True)
    while True:
        began = time.perf_counter()
        report = reconcile.ring(ports, full=False)
        if report is not None and report.listing:
            assert report.fault is None, report.fault
            return time.perf_counter() - began
        time.sleep(_LOOK_EVERY_SECONDS)


def _admit(ports: Ports, database_url: str) -> None:
    """Start what the first tick opened, as its worker would."""
    owner = Owner("bench", "bench", 1, _WORKER, _WORKER)
    with psycopg.connect(grounds.address(database_url)) as looking:
        queued = looking.execute("select id, fence from turn where status = 'queued'").fetchall()
    for turn_id, fence in queued:
        assert ports.store.turns.admit(turn_id, fence, owner, lease_seconds=_LEASE_SECONDS)


def _sync(theirs: psycopg.Connection[TupleRow], board: MemoryBoard) -> None:
    """What a user would write: read the same pages, put the board into a table."""
    items = [item for page in MemoryTracker(board).list_items(_ACTIVE) for item in page.items]
    columns = ([getattr(item, name) for item in items] for name in _THEIR_COLUMNS)
    theirs.execute(_THEIR_UPSERT, list(columns))


def _rows_written(ports: Ports, database_url: str) -> int:
    """By the server's own count, which is whole once those who wrote have left."""
    assert isinstance(ports.store, PostgresStore)
    ports.store.close()
    with psycopg.connect(grounds.address(database_url), autocommit=True) as looking:
        while _number(looking, _OTHERS):
            looking.execute("select pg_sleep(0.02)")
        written = _number(looking, _ROWS_WRITTEN)
    say_hello(ports)
    return written


def _number(looking: psycopg.Connection[TupleRow], sql: LiteralString) -> int:
    row = looking.execute(sql).fetchone()
    assert row is not None
    return int(row[0])
