"""A database with our statements on it: rows in, rows out, one commit a call.

`row`, `rows` and `change` are single statements in autocommit; `transaction` is for the few that need more than one.
Values are bound by name. The driver is used plainly, with nothing but the pool before it: building an expression and
wrapping a result cost more than most of our statements. What it raises because Postgres is silent, gone or in the way
is StoreUnavailable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

import psycopg
import sqlalchemy
from psycopg.rows import namedtuple_row
from sqlalchemy.pool import Pool, PoolProxiedConnection

from orchestrator import telemetry
from orchestrator.ports.store import StoreUnavailable
from orchestrator.store import connections, rules
from orchestrator.store.witness import Mark, Witness

# A named tuple, by the columns of its statement.
Row = Any

_SET_OFFSET = "select set_config('stationkeeper.clock_offset', %s, false)"
_RECOGNISE = "select stationkeeper_recognise(%s, %s)"
_BEGIN = "begin"
_BEGIN_SNAPSHOT = "begin isolation level repeatable read read only"


class RowLocked(StoreUnavailable):
    """Another client holds the row for longer than a transaction of ours lasts; nothing was written."""


class Session:
    """Our statements on one connection."""

    def __init__(self, connection: psycopg.Connection[Any], left_out: frozenset[str]) -> None:
        self._connection = connection
        self._left_out = left_out

    def rows(self, sql: str, **values: object) -> Sequence[Row]:
        """Every row that a statement answers with."""
        return self._execute(sql, values).fetchall()

    def row(self, sql: str, **values: object) -> Row | None:
        """The first row that a statement answers with, None for no row."""
        return self._execute(sql, values).fetchone()

    def each(self, statements: Sequence[tuple[str, Mapping[str, object]]]) -> Sequence[Row | None]:
        """The first row of each statement, None for no row; in their order, sent in one go."""
        with self._connection.pipeline():
            cursors = [self._execute(sql, values) for sql, values in statements]
            return [cursor.fetchone() for cursor in cursors]

    def change(self, sql: str, **values: object) -> int:
        """How many rows a statement wrote."""
        return self._execute(sql, values).rowcount

    def recognise(self, mark: Mark | None) -> None:
        """Let the database say whether it is the one that was known; it holds the fleet if it is not."""
        asked = [mark.installation, mark.at] if mark is not None else [None, None]
        row = self._connection.execute(_RECOGNISE, asked).fetchone()
        if row is not None and row[0] == "held":
            telemetry.database_changed()

    def _execute(self, sql: str, values: Mapping[str, object]) -> psycopg.Cursor[Any]:
        cursor = self._connection.cursor(row_factory=namedtuple_row)
        return cursor.execute(rules.statement(sql, self._left_out), values)


class Database:
    """One pool of connections, and the rules that are left out on it.

    Each new connection is asked whether its database is the one that `witness` knew; one that is not holds the fleet
    before any statement of ours is made.
    """

    def __init__(self, pool: Pool, left_out: frozenset[str] = frozenset(), *, witness: Witness | None = None) -> None:
        self._pool = pool
        self.witness = witness or Witness()
        self._left_out = rules.check(left_out)
        self._offset: str | None = None

    @contextmanager
    def session(self, begin: str | None = None) -> Iterator[Session]:
        """A session in autocommit; with `begin` it commits at the end and rolls back on an exception."""
        pool = self._pool
        try:
            lent = pool.connect()
        except (psycopg.Error, sqlalchemy.exc.TimeoutError) as error:
            raise _translated(error) from error
        try:
            connection = self._fit(lent)
            if "recognised" not in lent.info:
                Session(connection, self._left_out).recognise(self.witness.mark)
                lent.info["recognised"] = True
            if begin is None:
                yield Session(connection, self._left_out)
            else:
                connection.execute(begin, prepare=False)
                yield Session(connection, self._left_out)
                connection.commit()
        except psycopg.Error as error:
            self._drop_if_gone(pool, lent)
            raise _translated(error) from error
        except BaseException as stop:
            if not isinstance(stop, Exception):
                lent.invalidate()  # a signal in mid-exchange: what the connection will say next is unknown
            raise
        finally:
            lent.close()  # the pool rolls back what was begun and not committed

    def rows(self, sql: str, **values: object) -> Sequence[Row]:
        """Every row of one statement, committed."""
        with self.session() as session:
            return session.rows(sql, **values)

    def row(self, sql: str, **values: object) -> Row | None:
        """The first row of one statement, committed; None for no row."""
        with self.session() as session:
            return session.row(sql, **values)

    def one(self, sql: str, **values: object) -> Row:
        """The row of a statement that always answers with one, committed."""
        row = self.row(sql, **values)
        assert row is not None  # noqa: S101 -- what the statement selects from is there whatever else is not
        return row

    def change(self, sql: str, **values: object) -> int:
        """How many rows one statement wrote, committed."""
        with self.session() as session:
            return session.change(sql, **values)

    def transaction(self) -> AbstractContextManager[Session]:
        """Several statements, one commit; an exception from inside means that nothing was written."""
        return self.session(_BEGIN)

    def snapshot(self) -> AbstractContextManager[Session]:
        """Several reads of one moment."""
        return self.session(_BEGIN_SNAPSHOT)

    def recognise(self) -> None:
        """Ask again whether this is the database that was known: its rows may change without a new connection."""
        with self.session() as session:
            session.recognise(self.witness.mark)

    def set_offset(self, seconds: float) -> None:
        """Move the database's clock, as this pool sees it, by `seconds` from the real one; for tests."""
        self._offset = f"{seconds} seconds"

    def close(self) -> None:
        """Give every connection back to the server."""
        self._pool.dispose()

    def _fit(self, lent: PoolProxiedConnection) -> psycopg.Connection[Any]:
        connection = _driver(lent)
        if lent.info.get("offset") != self._offset:
            connection.execute(_SET_OFFSET, [self._offset])
            lent.info["offset"] = self._offset
        return connection

    def _drop_if_gone(self, pool: Pool, lent: PoolProxiedConnection) -> None:
        """One that died with its server is not alone: the others would fail one call each."""
        if not _driver(lent).closed:
            return
        lent.invalidate()
        if self._pool is pool:
            self._pool = pool.recreate()
            pool.dispose()


def _driver(lent: PoolProxiedConnection) -> psycopg.Connection[Any]:
    """The pool knows nothing of the driver that it keeps."""
    return cast("psycopg.Connection[Any]", lent.driver_connection)


def _translated(error: Exception) -> Exception:
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return RowLocked(str(error).strip())
    return connections.unavailable(error) or connections.unfit(error) or error
