"""Verbs for the store's tests: what happens to an item in one line, with the values that do not matter filled in."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import uuid4

import psycopg

from orchestrator.domain.hold import HoldScope
from orchestrator.domain.item import Item
from orchestrator.domain.records import ItemRecord, Records
from orchestrator.domain.turn import Conclusion, TurnLimits
from orchestrator.domain.writeback import Comment, Move, Role, Write, WriteKind
from orchestrator.ports.store import (
    Admitted,
    Opened,
    Opening,
    Owner,
    Refused,
    StepRecord,
    TickGrant,
    TurnRef,
    WorkerRow,
    WorkflowRow,
)
from orchestrator.store.open import PostgresStore

T = TypeVar("T")

LEASE_SECONDS = 30.0
STATES = ("Todo", "In Progress")


def item(item_id: str = "X-1", state: str = "Todo") -> Item:
    """A ticket as a tick read it."""
    return Item(id=item_id, identifier=item_id, title="a ticket", state=state)


def owner() -> Owner:
    """A worker that takes a turn, with a fresh run token."""
    return Owner("host-a", "boot-1", 4711, uuid4(), uuid4())


def handoff_move() -> Write:
    """The move that ends a successful turn."""
    return Write(WriteKind.TURN_ENDED, Move(Role.HANDOFF, STATES))


def started_move() -> Write:
    """The move that begins a turn."""
    return Write(WriteKind.STARTED, Move(Role.IN_PROGRESS, ("Todo",)))


def comment(body: str = "a word", key: str = "k:status") -> Write:
    """The status comment."""
    return Write(WriteKind.STARTED, Comment(key, body))


@dataclass(slots=True)
class Scene:
    """A store with one workflow and one worker; `url` is for looking past the store."""

    store: PostgresStore
    url: str
    workflow: WorkflowRow = field(init=False)

    def __post_init__(self) -> None:
        """Put the workflow in force and bring a worker."""
        written = WorkflowRow("demo", 0, "d1", "body one", "/demo/WORKFLOW.md", "board")
        self.workflow = self.store.workflows.publish(written, interval_ms=30_000)
        self.store.workers.beat(WorkerRow(uuid4(), "host-a", "boot-1", 4711, slots=10, busy=0, queues=("turns",)))

    def publish(self, *, body: str) -> None:
        """Another text of the workflow, in force from now on."""
        changed = replace(self.workflow, digest=body, body=body)
        self.workflow = self.store.workflows.publish(changed, interval_ms=30_000)

    def records(self) -> Records:
        """Our side as a tick would read it now."""
        return self.store.items.records(self.store.reconciler.peek(self.workflow.name))

    def record(self, item_id: str = "X-1") -> ItemRecord:
        """One item's record as a tick would read it now."""
        return self.records().items[item_id]

    def opening(
        self, found: Item | None = None, *, seen: int = 0, cap: int = 10, state_cap: int | None = None
    ) -> Opening:
        """A dispatch to be carried out."""
        return Opening(found or item(), seen, uuid4(), self.workflow, cap, state_cap)

    def open(self, item_id: str = "X-1", *, state: str = "Todo", cap: int = 100) -> Opened:
        """A turn of the item, opened as the records show it now."""
        record = self.records().items.get(item_id)
        seen = record.version if record is not None else 0
        opened = self.store.items.open_turns([self.opening(item(item_id, state), seen=seen, cap=cap)])[0]
        assert isinstance(opened, Opened), opened
        return opened

    def refused(self, opening: Opening) -> Refused:
        """The refusal that the dispatch meets."""
        answer = self.store.items.open_turns([opening])[0]
        assert isinstance(answer, Refused), answer
        return answer

    def admit(self, opened: Opened, *, lease_seconds: float = LEASE_SECONDS) -> Admitted:
        """The turn, started."""
        admitted = self.store.turns.admit(opened.turn_id, opened.fence, owner(), lease_seconds=lease_seconds)
        assert admitted is not None
        return admitted

    def run(self, item_id: str = "X-1", *, lease_seconds: float = LEASE_SECONDS) -> Admitted:
        """A running turn of the item."""
        return self.admit(self.open(item_id), lease_seconds=lease_seconds)

    def step(self, ref: TurnRef, ordinal: int = 1, *writes: Write) -> bool:
        """A checkpoint of the turn."""
        return self.store.turns.checkpoint(ref, StepRecord(ordinal, "step"), writes=writes, lease_seconds=LEASE_SECONDS)

    def conclude(self, ref: TurnRef, conclusion: Conclusion, *writes: Write) -> bool:
        """The turn's end."""
        return self.store.turns.conclude(ref, conclusion, summary="said", writes=writes)

    def one(self, sql: str, *values: object) -> Any:
        """The one value of a query, read past the store."""
        with psycopg.connect(plain(self.url), autocommit=True) as connection:
            row = connection.execute(sql, values or None).fetchone()
        return row[0] if row is not None else None

    def all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query, read past the store."""
        with psycopg.connect(plain(self.url), autocommit=True) as connection:
            return connection.execute(sql, values or None).fetchall()

    @contextmanager
    def client(self) -> Iterator[psycopg.Connection[Any]]:
        """Another client inside a transaction of its own, rolled back at the end unless it commits."""
        with psycopg.connect(plain(self.url)) as connection:
            yield connection
            connection.rollback()

    def blocked_by(self, client: psycopg.Connection[Any]) -> bool:
        """Whether some statement waits for a lock that this client holds: a place to wait for, never a time."""
        pid = client.info.backend_pid
        return bool(self.one("select exists (select from pg_stat_activity where %s = any(pg_blocking_pids(pid)))", pid))

    def elsewhere(self, ref: TurnRef, changed: str = "token") -> TurnRef:
        """The reference of somebody else's run: another token, another fence, or another turn."""
        other: dict[str, Any] = {"token": uuid4(), "fence": ref.fence + 1, "turn_id": uuid4()}
        return replace(ref, **{changed: other[changed]})

    def expire(self) -> None:
        """Let every lease run out."""
        self.change(
            "update turn set lease_until = stationkeeper_clock() - interval '1 second' where status = 'running'"
        )

    def hold(self, scope: HoldScope = HoldScope.ITEM, item_id: str = "X-1") -> None:
        """A person's hold on the item, its workflow or everything."""
        self.change(
            "insert into hold (scope, workflow, item_key, kind, lift, reason, owner)"
            " values (%s, %s, %s, 'operator', 'person', 'stop', 'me')",
            scope.value,
            self.workflow.name if scope is HoldScope.WORKFLOW else None,
            self.record(item_id).key if scope is HoldScope.ITEM else None,
        )

    def take_over(self, item_id: str = "X-1") -> None:
        """Let the lease of the item's turn run out, and the tick take the turn for lost; its task is due at once."""
        self.expire()
        assert self.store.items.lose(self.record(item_id), TurnLimits(), workflow=self.workflow.name)

    def tick(self) -> TickGrant:
        """A tick that does nothing."""
        grant = self.store.reconciler.begin(None)
        assert grant is not None
        self.store.reconciler.finish(grant, {})
        return grant

    def change(self, sql: str, *values: object) -> None:
        """Write past the store."""
        with psycopg.connect(plain(self.url), autocommit=True) as connection:
            connection.execute(sql, values or None)

    def now(self) -> datetime:
        """The database's clock."""
        return self.later_than_now(0)

    def later_than_now(self, seconds: float) -> datetime:
        """So many seconds after the database's clock."""
        found: datetime = self.one("select stationkeeper_clock()")
        return found + timedelta(seconds=seconds)

    @staticmethod
    def later(call: Callable[[], T]) -> Future[T]:
        """A call that is under way in a thread of its own."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 -- it is raised where the result is asked for
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future


def together(*calls: Callable[[], T]) -> list[T]:
    """What calls answer that begin at one moment, each in a thread of its own."""
    gate = threading.Barrier(len(calls))

    def begin(call: Callable[[], T]) -> T:
        gate.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(begin, calls))


def plain(url: str) -> str:
    """The URL as psycopg wants it."""
    return url.replace("postgresql+psycopg://", "postgresql://")
