"""Statements of a turn's hot path, straight through the driver: prepared, in autocommit, one round trip and one commit.

No expression is built and no result object made: on the path of a step that work would cost as much as the statement.
Connections come from the same engine, so what they refuse and how long they wait is the same.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

import psycopg
import sqlalchemy
from psycopg.rows import namedtuple_row

from orchestrator.ports.store import StoreUnavailable
from orchestrator.store import connections, rules
from orchestrator.store.database import Database

_NAME = re.compile(r"(?<![:\w]):([a-z_]+)")


class Direct:
    """The hot engine's connections, without what stands between them and a statement."""

    def __init__(self, database: Database) -> None:
        self._engine, self._left_out = database.engine, database.left_out

    def row(self, sql: str, values: Mapping[str, object]) -> Any:  # noqa: ANN401 -- a row has its statement's columns
        """The one row that a statement answers with, None for no row. Raises StoreUnavailable: it may have happened."""
        try:
            borrowed = self._engine.raw_connection()
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise connections.unavailable(error) or error from error
        try:
            driver = borrowed.driver_connection
            assert driver is not None  # noqa: S101 -- it was checked out just now
            with driver.cursor(row_factory=namedtuple_row) as cursor:
                return cursor.execute(_text(sql, self._left_out), values, prepare=True).fetchone()
        except (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError) as error:
            borrowed.invalidate()
            raise StoreUnavailable(str(error).strip()) from error
        except BaseException:
            borrowed.invalidate()  # a signal in the middle of an exchange: what the connection will say next is unknown
            raise
        finally:
            borrowed.close()


@functools.cache
def _text(sql: str, left_out: frozenset[str]) -> bytes:
    """The statement as the driver wants it, made once, without the lines of the rules left out."""
    kept = "\n".join(line for line in sql.splitlines() if rules.rule_of(line) not in left_out)
    return _NAME.sub(r"%(\1)s", kept).encode()
