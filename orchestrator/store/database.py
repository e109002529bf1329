"""A database with our statements on it: rows in, rows out, one commit a call.

`row`, `rows` and `change` are single statements in autocommit; `transaction` is for the few that need more than one.
Values are bound by name. What the driver raises because Postgres is silent, gone or in the way is StoreUnavailable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg
import sqlalchemy
from sqlalchemy import event
from sqlalchemy.pool import ConnectionPoolEntry

from orchestrator.ports.store import StoreUnavailable
from orchestrator.store import connections, rules

Row = sqlalchemy.Row[Any]

_SET_OFFSET = "select set_config('stationkeeper.clock_offset', %s, false)"


class RowLocked(StoreUnavailable):
    """Another client holds the row for longer than a transaction of ours lasts; nothing was written."""


class Session:
    """Our statements on one connection."""

    def __init__(self, connection: sqlalchemy.Connection, left_out: frozenset[str]) -> None:
        self._connection = connection
        self._left_out = left_out

    def rows(self, sql: str, **values: object) -> Sequence[Row]:
        """Every row that a statement answers with."""
        return self._connection.execute(rules.statement(sql, self._left_out), values).all()

    def row(self, sql: str, **values: object) -> Row | None:
        """The first row that a statement answers with, None for no row."""
        return self._connection.execute(rules.statement(sql, self._left_out), values).first()

    def change(self, sql: str, **values: object) -> int:
        """How many rows a statement wrote."""
        return self._connection.execute(rules.statement(sql, self._left_out), values).rowcount


class Database:
    """One engine, and the rules that are left out on it."""

    def __init__(self, engine: sqlalchemy.Engine, left_out: frozenset[str] = frozenset()) -> None:
        self._engine = engine
        self._left_out = rules.check(left_out)
        self._offset: str | None = None

    @property
    def engine(self) -> sqlalchemy.Engine:
        """The connections, for statements that go straight to the driver."""
        return self._engine

    @property
    def left_out(self) -> frozenset[str]:
        """The rules that are left out."""
        return self._left_out

    @contextmanager
    def session(self, **options: str | bool) -> Iterator[Session]:
        """A session in autocommit; with an `isolation_level` it commits at the end and rolls back on an exception."""
        try:
            with self._engine.connect() as plain:
                connection = plain.execution_options(**options) if options else plain
                with connection.begin():
                    yield Session(connection, self._left_out)
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise _translated(error) from error

    def rows(self, sql: str, **values: object) -> Sequence[Row]:
        """Every row of one statement, committed."""
        with self.session() as session:
            return session.rows(sql, **values)

    def row(self, sql: str, **values: object) -> Row | None:
        """The first row of one statement, committed; None for no row."""
        with self.session() as session:
            return session.row(sql, **values)

    def change(self, sql: str, **values: object) -> int:
        """How many rows one statement wrote, committed."""
        with self.session() as session:
            return session.change(sql, **values)

    def transaction(self) -> AbstractContextManager[Session]:
        """Several statements, one commit; an exception from inside means that nothing was written."""
        return self.session(isolation_level="READ COMMITTED")

    def snapshot(self) -> AbstractContextManager[Session]:
        """Several reads of one moment."""
        return self.session(isolation_level="REPEATABLE READ", postgresql_readonly=True)

    def set_offset(self, seconds: float) -> None:
        """Move the database's clock, as this engine sees it, by `seconds` from the real one; for tests."""
        if self._offset is None:
            event.listen(self._engine, "checkout", self._move_clock)
        self._offset = f"{seconds} seconds"

    def _move_clock(self, connection: psycopg.Connection[Any], record: ConnectionPoolEntry, _proxy: object) -> None:
        if record.info.get("offset") != self._offset:
            connection.execute(_SET_OFFSET, [self._offset])
            record.info["offset"] = self._offset

    def close(self) -> None:
        """Give every connection back to the server."""
        self._engine.dispose()


def _translated(error: sqlalchemy.exc.SQLAlchemyError) -> Exception:
    original = getattr(error, "orig", None)
    if isinstance(original, psycopg.errors.LockNotAvailable):
        return RowLocked(str(original).strip())
    return connections.unavailable(error) or error
