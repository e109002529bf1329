"""Opens the store: the rooms, on a hot pool for workers and a slow one for tick, relay and commands."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from orchestrator.domain.serving import SERVED_SECONDS
from orchestrator.store import connections, rules
from orchestrator.store.connections import Manner
from orchestrator.store.database import Database
from orchestrator.store.flows.room import FlowTasks
from orchestrator.store.items import Items
from orchestrator.store.lending import Lender
from orchestrator.store.operating import Operators
from orchestrator.store.outbox import Outbox
from orchestrator.store.queries import Queries
from orchestrator.store.reconciler import Reconciler
from orchestrator.store.records import HOST_SILENCE_SECONDS, Bounds
from orchestrator.store.recovering import Recovery
from orchestrator.store.turns import Turns
from orchestrator.store.witness import Witness
from orchestrator.store.workers import Workers
from orchestrator.store.workflows import Workflows
from orchestrator.store.workspaces import WorkspaceRoom

_INSTALLATION = "select id, slow_role from installation"


class PostgresStore:
    """Everything durable, by room. Nothing is connected before the first call; threads share it, processes do not."""

    def __init__(
        self, hot: Database, slow: Database, *, lease_seconds: float, requeue_seconds: float, bounds: Bounds
    ) -> None:
        self.hot = hot
        self.slow = slow
        self.reconciler = Reconciler(slow, lease_seconds=lease_seconds, requeue_seconds=requeue_seconds)
        self.workflows = Workflows(slow)
        self.items = Items(slow, requeue_seconds=requeue_seconds, bounds=bounds)
        self.turns = Turns(hot)
        self.flows = FlowTasks(slow, hot, requeue_seconds=requeue_seconds, max_turns=bounds.max_turns)
        self.outbox = Outbox(slow, served_seconds=bounds.served_seconds)
        self.workers = Workers(hot)
        self.operators = Operators(slow)
        self.recovery = Recovery(slow, lease_seconds=lease_seconds)
        self.workspaces = WorkspaceRoom(slow)
        self.queries = Queries(slow)

    @functools.cached_property
    def installation(self) -> str:
        """This installation's id: short, stable, the same for every process."""
        row = self.hot.row(_INSTALLATION)
        assert row is not None  # noqa: S101 -- the first migration puts it there
        return str(row.id)

    def set_offset(self, seconds: float) -> None:
        """Move the database's clock, as this store sees it, by `seconds` from the real one; for tests."""
        self.hot.set_offset(seconds)
        self.slow.set_offset(seconds)

    def close(self) -> None:
        """Give every connection back to the server."""
        self.hot.close()
        self.slow.close()


def open_store(  # noqa: PLR0913 -- each a setting of its own
    database_url: str,
    *,
    left_out: frozenset[str] = frozenset(),
    lease_seconds: float = 30.0,
    requeue_seconds: float = 10.0,
    max_turns: int | None = None,
    host_silence_seconds: float = HOST_SILENCE_SECONDS,
    served_seconds: float = SERVED_SECONDS,
    witness: Path | None = None,
) -> PostgresStore:
    """The store behind `database_url`; `left_out` names rules that a demonstration switches off. Raises UnknownRule.

    `lease_seconds` is how long nothing is taken over after a blind spell, `requeue_seconds` when a message is stale,
    `max_turns` how many turns may be open over all workflows (None: as many as their own caps and the workers allow),
    `host_silence_seconds` how long a host's workers may be silent before it is taken for gone,
    `served_seconds` how long a mark on a card counts that stands unchanged.
    `witness` is the file in which processes of a host remember the database, by which one that went back is known.
    """
    rules.check(left_out)
    seen = Witness(witness)
    hot = Database(_lender(database_url, connections.HOT_MANNER), left_out, witness=seen)

    @functools.cache
    def slow_role() -> str | None:
        row = hot.row(_INSTALLATION)
        return str(row.slow_role) if row is not None and row.slow_role is not None else None

    slow = Database(_lender(database_url, connections.SLOW_MANNER, slow_role), left_out, witness=seen)
    bounds = Bounds(max_turns, host_silence_seconds, served_seconds)
    return PostgresStore(hot, slow, lease_seconds=lease_seconds, requeue_seconds=requeue_seconds, bounds=bounds)


def _lender(url: str, manner: Manner, user: Callable[[], str | None] = lambda: None) -> Lender:
    return Lender(connections.connector(url, manner, user), manner.patience_seconds)
