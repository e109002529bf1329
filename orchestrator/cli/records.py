"""Our own records, open for reading: what `status`, `explain` and `history` answer from. Never asks the tracker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import orchestrator.store.migrate as schema
from orchestrator import settings
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.store.open import PostgresStore, open_store
from orchestrator.store.queries import Queries


@contextmanager
def store() -> Iterator[PostgresStore]:
    """The store of this folder's system. Raises settings.NotConfigured, SchemaMismatch, StoreUnavailable."""
    found = settings.load()
    schema.refuse_other_schema(found.database_url)
    opened = open_store(found.database_url, lease_seconds=found.lease_seconds, witness=found.state_dir / "witness")
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def reading() -> Iterator[Queries]:
    """The queries of this folder's system; raises what `store` does."""
    with store() as opened:
        yield opened.queries


def unknown(key: str) -> Trouble:
    """What to say of a key that no record bears."""
    expected = "the identifier or id of a card that a tick has seen"
    return Trouble(Exit.BROKEN, f"{key}: no record of it; expected {expected}: see `orchestrator plan` and `status`")
