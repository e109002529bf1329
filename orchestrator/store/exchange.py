"""One statement, one exchange with the server: prepared once a connection, its values and rows adapted by psycopg.

This is what a cursor of psycopg does, less what a cursor offers beside it: half of a fenced step's own cost was the
cursor. Waiting, its patience and its interrupts stay the connection's.
"""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import psycopg
from psycopg import errors, generators
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from orchestrator.store.rules import Numbered

# A named tuple, by the columns of its statement.
Row = Any

_Key = tuple[bytes, tuple[int, ...]]
_AS_PSYCOPG_SEES_FIT = (PyFormat.AUTO,)
_named: Any = namedtuple  # noqa: PYI024 -- a statement's columns are known when it was answered


class Exchange:
    """The statements of one connection, which belongs to one thread at a time."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        """Asks nothing yet."""
        self._connection = connection
        self._adapt = Transformer(connection)
        self._numbers = itertools.count(1)
        self._prepared: dict[_Key, bytes] = {}
        self._makers: dict[bytes, Callable[[Sequence[Any]], Row]] = {}

    def rows(self, statement: Numbered, values: Mapping[str, object]) -> Sequence[Row]:
        """Every row that the statement answers with."""
        result, name = self._ask(statement, values)
        self._adapt.set_pgresult(result)
        return self._adapt.load_rows(0, result.ntuples, self._maker(result, name))

    def row(self, statement: Numbered, values: Mapping[str, object]) -> Row | None:
        """The first row that the statement answers with, None for no row."""
        result, name = self._ask(statement, values)
        if not result.ntuples:
            return None
        self._adapt.set_pgresult(result)
        return self._adapt.load_row(0, self._maker(result, name))

    def change(self, statement: Numbered, values: Mapping[str, object]) -> int:
        """How many rows the statement wrote."""
        result, _ = self._ask(statement, values)
        return result.command_tuples or 0

    def tell(self, command: str) -> None:
        """Begin, commit or roll back. Psycopg's own rollback has the server forget what is prepared, also by us."""
        self._connection.pgconn.send_query(command.encode())
        self._answer()

    def _ask(self, statement: Numbered, values: Mapping[str, object]) -> tuple[PGresult, bytes]:
        adapt, server = self._adapt, self._connection.pgconn
        ordered = [values[name] for name in statement.names]
        given = adapt.dump_sequence(ordered, _AS_PSYCOPG_SEES_FIT * len(ordered))
        key = (statement.text, adapt.types or ())
        name = self._prepared.get(key) or self._prepare(key)
        server.send_query_prepared(name, given, param_formats=adapt.formats)
        try:
            return self._answer(), name
        except (errors.FeatureNotSupported, errors.InvalidSqlStatementName):
            # A migration gave its table another column, or the server was told to forget: prepared anew, it serves.
            del self._prepared[key]
            if server.transaction_status != TransactionStatus.IDLE:
                raise
            return self._ask(statement, values)

    def _prepare(self, key: _Key) -> bytes:
        """A statement is prepared for the types of its values: a null has none."""
        name = b"s%d" % next(self._numbers)
        self._connection.pgconn.send_prepare(name, key[0], key[1])
        self._answer()
        self._prepared[key] = name
        return name

    def _answer(self) -> PGresult:
        result = cast("PGresult", self._connection.wait(generators.execute(self._connection.pgconn))[-1])
        if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
            raise errors.error_from_result(result, encoding=self._adapt.encoding)
        return result

    def _maker(self, result: PGresult, name: bytes) -> Callable[[Sequence[Any]], Row]:
        maker = self._makers.get(name)
        if maker is None:
            columns = [(result.fname(number) or b"").decode() for number in range(result.nfields)]
            maker = self._makers[name] = _named("Row", columns, rename=True)._make
        return maker
