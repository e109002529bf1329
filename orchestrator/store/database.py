"""A database with our statements on it: rows in, rows out, one commit a call.

`row`, `rows` and `change` are single statements in autocommit; `transaction` is for the few that need more than one.
Values are bound by name. The driver is used plainly: building an expression and wrapping a result cost more than most
of our statements. What it raises because Postgres is silent, gone or in the way is StoreUnavailable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.rows import namedtuple_row

from orchestrator import telemetry
from orchestrator.ports.store import StoreUnavailable
from orchestrator.store import connections, rules
from orchestrator.store.lending import Lender, Lent
from orchestrator.store.witness import Mark, Witness

T = TypeVar("T")

# A named tuple, by the columns of its statement.
Row = Any

_SET_OFFSET = "select set_config('stationkeeper.clock_offset', %s, false)"
_RECOGNISE = "select stationkeeper_recognise(%s, %s)"
_BEGIN, _COMMIT = "begin", "commit"
_BEGIN_SNAPSHOT = "begin isolation level repeatable read read only"


class RowLocked(StoreUnavailable):
    """Another client holds the row for longer than a transaction of ours lasts; nothing was written."""


class Session:
    """Our statements on one connection."""

    def __init__(self, lent: Lent, left_out: frozenset[str]) -> None:
        self._connection = lent.connection
        self._exchange = lent.exchange
        self._left_out = left_out

    def rows(self, sql: str, **values: object) -> Sequence[Row]:
        """Every row that a statement answers with."""
        return self._exchange.rows(rules.numbered(sql, self._left_out), values)

    def row(self, sql: str, **values: object) -> Row | None:
        """The first row that a statement answers with, None for no row."""
        return self._exchange.row(rules.numbered(sql, self._left_out), values)

    def each(self, statements: Sequence[tuple[str, Mapping[str, object]]]) -> Sequence[Row | None]:
        """The first row of each statement, None for no row; in their order, sent in one go."""
        with self._connection.pipeline():
            cursors = [self._send(sql, values) for sql, values in statements]
            return [cursor.fetchone() for cursor in cursors]

    def rows_under(self, lock: str, sql: str, **values: object) -> Sequence[Row]:
        """Every row that a statement answers with once another one has its locks; sent in one go, in one commit."""
        with self._connection.pipeline():
            self._send(lock, values)
            return self._send(sql, values).fetchall()

    def change(self, sql: str, **values: object) -> int:
        """How many rows a statement wrote."""
        return self._exchange.change(rules.numbered(sql, self._left_out), values)

    def recognise(self, mark: Mark | None) -> None:
        """Let the database say whether it is the one that was known; it holds the fleet if it is not."""
        asked = [mark.installation, mark.at] if mark is not None else [None, None]
        row = self._connection.execute(_RECOGNISE, asked).fetchone()
        if row is not None and row[0] == "held":
            telemetry.database_changed()

    def _send(self, sql: str, values: Mapping[str, object]) -> psycopg.Cursor[Any]:
        cursor = self._connection.cursor(row_factory=namedtuple_row)
        return cursor.execute(rules.statement(sql, self._left_out), values)


class Database:
    """One lender of connections, and the rules that are left out on them.

    Each new connection is asked whether its database is the one that `witness` knew; one that is not holds the fleet
    before any statement of ours is made.
    """

    def __init__(
        self, lender: Lender, left_out: frozenset[str] = frozenset(), *, witness: Witness | None = None
    ) -> None:
        self._lender = lender
        self.witness = witness or Witness()
        self._left_out = rules.check(left_out)
        self._offset: str | None = None

    def rows(self, sql: str, **values: object) -> Sequence[Row]:
        """Every row of one statement, committed."""
        return self._on_one(lambda lent: lent.exchange.rows(rules.numbered(sql, self._left_out), values))

    def row(self, sql: str, **values: object) -> Row | None:
        """The first row of one statement, committed; None for no row."""
        return self._on_one(lambda lent: lent.exchange.row(rules.numbered(sql, self._left_out), values))

    def rows_under(self, lock: str, sql: str, **values: object) -> Sequence[Row]:
        """Every row of one statement that begins when another one has its locks; both in one commit."""
        with self.session() as session:
            return session.rows_under(lock, sql, **values)

    def one(self, sql: str, **values: object) -> Row:
        """The row of a statement that always answers with one, committed."""
        row = self.row(sql, **values)
        assert row is not None  # noqa: S101 -- what the statement selects from is there whatever else is not
        return row

    def change(self, sql: str, **values: object) -> int:
        """How many rows one statement wrote, committed."""
        return self._on_one(lambda lent: lent.exchange.change(rules.numbered(sql, self._left_out), values))

    @contextmanager
    def session(self, begin: str | None = None) -> Iterator[Session]:
        """A session in autocommit; with `begin` it commits at the end and rolls back on an exception."""
        lent = self._take()
        try:
            self._fit(lent)
            if begin is not None:
                lent.exchange.tell(begin)
            yield Session(lent, self._left_out)
            if begin is not None:
                lent.exchange.tell(_COMMIT)
        except BaseException as stop:
            self._look_after(lent, stop)
            raise
        finally:
            self._lender.give_back(lent)

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
        """Move the database's clock, as this database's sessions see it, by `seconds` from the real one; for tests."""
        self._offset = f"{seconds} seconds"

    def close(self) -> None:
        """Give every connection back to the server."""
        self._lender.forget_all()

    def _on_one(self, ask: Callable[[Lent], T]) -> T:
        """One statement on a connection that is nobody else's meanwhile."""
        lent = self._take()
        try:
            self._fit(lent)
            return ask(lent)
        except BaseException as stop:
            self._look_after(lent, stop)
            raise
        finally:
            self._lender.give_back(lent)

    def _take(self) -> Lent:
        try:
            return self._lender.take()
        except psycopg.Error as error:
            raise _translated(error) from error

    def _fit(self, lent: Lent) -> None:
        """What a connection has to be told once, before any statement of ours."""
        if lent.offset != self._offset:
            lent.connection.execute(_SET_OFFSET, [self._offset])
            lent.offset = self._offset
        if not lent.recognised:
            Session(lent, self._left_out).recognise(self.witness.mark)
            lent.recognised = True

    def _look_after(self, lent: Lent, stop: BaseException) -> None:
        """What an exception says about the connection. Raises what it means to callers, if that is something else."""
        if not isinstance(stop, Exception):
            self._lender.drop(lent)  # a signal in mid-exchange: what the connection will say next is unknown
        if not isinstance(stop, psycopg.Error):
            return
        if lent.connection.closed:
            self._lender.forget_all()  # one that died with its server is not alone: the others would fail a call each
        meant = _translated(stop)
        if meant is not stop:
            raise meant from stop


def _translated(error: Exception) -> Exception:
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return RowLocked(str(error).strip())
    return connections.unavailable(error) or connections.unfit(error) or error
