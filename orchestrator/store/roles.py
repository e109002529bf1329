"""The time-outs of our two roles, kept by the server, so that poolers keep them too.

The role of DATABASE_URL is the hot one. The other is made where that role may make roles; where it may not, slow
connections set their own time-outs, and only a pooler in transaction mode would miss them.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from orchestrator.store import connections

_MAY_MAKE_ROLES = "select rolsuper or rolcreaterole from pg_roles where rolname = current_user"
_EXISTS = "select 1 from pg_roles where rolname = %s"


def settle(connection: psycopg.Connection[Any], password: str | None) -> str | None:
    """Give both roles their time-outs in this database; returns the second role's name, None when it could not be had.

    `password` is the first role's, and becomes the second's. Run it again after the password was changed.
    """
    first = connection.info.user
    _keep(connection, first, connections.HOT)
    second = f"{first}_slow"
    try:
        with connection.transaction():
            _make(connection, second, first=first, password=password)
            _keep(connection, second, connections.SLOW)
    except psycopg.Error:
        return None
    return second


def _make(connection: psycopg.Connection[Any], second: str, *, first: str, password: str | None) -> None:
    found = connection.execute(_MAY_MAKE_ROLES).fetchone()
    if found is None or not found[0]:
        raise psycopg.errors.InsufficientPrivilege(f"{first} may not make roles")
    if connection.execute(_EXISTS, [second]).fetchone() is None:
        connection.execute(sql.SQL("create role {} login").format(sql.Identifier(second)))
    connection.execute(sql.SQL("grant {} to {}").format(sql.Identifier(first), sql.Identifier(second)))
    if password:
        secret = connection.pgconn.encrypt_password(password.encode(), second.encode(), b"scram-sha-256").decode()
        connection.execute(sql.SQL("alter role {} password {}").format(sql.Identifier(second), sql.Literal(secret)))


def _keep(connection: psycopg.Connection[Any], role: str, settings: dict[str, str]) -> None:
    database = sql.Identifier(connection.info.dbname)
    for name, value in settings.items():
        connection.execute(
            sql.SQL("alter role {} in database {} set {} = {}").format(
                sql.Identifier(role), database, sql.Identifier(name), sql.Literal(value)
            )
        )
