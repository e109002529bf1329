"""How a connection to Postgres is made: what it refuses, how long it waits, and for whom.

Hot connections (workers, supervisors) must know within one renewal that a statement is lost; slow ones (tick, relay,
commands) may read a large board. Both get their time-outs from their role; where a role or a fresh copy of a database
lacks them, the connection sets its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
import sqlalchemy
from psycopg.abc import PQGen

from orchestrator.ports.store import StoreUnavailable

T = TypeVar("T")

# What we test on; 14 is out of support.
OLDEST_SERVER = 150_000

# A transaction of ours lasts milliseconds: a lock that is held for a second is held by a frozen client.
_LOCK_TIMEOUT = "1s"
# Below the renewal (2 s), so that a supervisor's renewal has failed before the next is due.
_HOT_STATEMENT_TIMEOUT = "1800ms"
# The longest honest statement, the snapshot of a workflow with a hundred thousand items, takes about a second.
_SLOW_STATEMENT_TIMEOUT = "30s"
# Far below the lease (30 s): a client frozen inside a transaction lets go before anybody's lease runs out.
_IDLE_TIMEOUT = "5s"

_EVERYWHERE = {
    "default_transaction_isolation": "read committed",
    "lock_timeout": _LOCK_TIMEOUT,
    "idle_in_transaction_session_timeout": _IDLE_TIMEOUT,
}
HOT = {
    **_EVERYWHERE,
    "statement_timeout": _HOT_STATEMENT_TIMEOUT,
    # Few statements, all of them by a key: planning them anew for each of five first calls on each connection is waste.
    "plan_cache_mode": "force_generic_plan",
    # And a plan that was made while a table was small stays when it has grown: rows are looked up by their keys.
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
SLOW = {
    **_EVERYWHERE,
    "statement_timeout": _SLOW_STATEMENT_TIMEOUT,
    "plan_cache_mode": "auto",
    "enable_seqscan": "on",
    "enable_hashjoin": "on",
    "enable_mergejoin": "on",
}

# A server that stopped answering keeps its sockets open: nothing but our own patience ends the wait. A little more than
# the server's own time-outs, which come first when it is alive.
_HOT_PATIENCE_SECONDS = 3.0
_SLOW_PATIENCE_SECONDS = 35.0

# The network's part: a peer that vanished is noticed within ten seconds, also while nothing is being sent.
_NETWORK: Mapping[str, Any] = {
    "connect_timeout": 3,
    "keepalives": 1,
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}

_FOUND = """
    select current_setting('server_version_num')::int as version, current_setting('server_version') as shown,
        current_setting('default_transaction_isolation') as isolation, current_setting('synchronous_commit') as commits
"""
# What the role keeps already is not set again: behind a pooler a SET would stay with a connection of somebody else.
_SETTLE = """
    select set_config(name, value, false) from unnest(%s::text[], %s::text[]) as wanted (name, value)
    where current_setting(name) <> value
"""


class UnfitServer(Exception):
    """The Postgres that was found cannot keep our promises; the message says what it lacks and what to do."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a kind of connection behaves: its server-side time-outs, and how long the client waits for any answer."""

    settings: Mapping[str, str]
    patience_seconds: float


HOT_MANNER = Manner(HOT, _HOT_PATIENCE_SECONDS)
SLOW_MANNER = Manner(SLOW, _SLOW_PATIENCE_SECONDS)


class PatientConnection(psycopg.Connection[Any]):
    """A connection that gives up on a server which does not answer, and closes itself: what happened is unknown."""

    patience_seconds = _SLOW_PATIENCE_SECONDS

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Run one exchange with the server; raises psycopg.OperationalError after `patience_seconds` of silence."""
        try:
            return super().wait(gen, interval, self.patience_seconds if timeout is None else timeout)
        except psycopg.errors._WaitTimeout as silence:  # noqa: SLF001 -- psycopg asks callers to translate it
            self.pgconn.finish()
            raise psycopg.OperationalError(f"no answer within {self.patience_seconds:g} s") from silence


def connector(url: str, manner: Manner, user: Callable[[], str | None]) -> Callable[[], PatientConnection]:
    """What a lender calls for a new connection; `user` names another role to log in as, or None."""
    info = sqlalchemy.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)

    def connect() -> PatientConnection:
        try:
            return _fit(_open(info, user()), manner)
        except psycopg.OperationalError:
            if user() is None:
                raise
        return _fit(_open(info, None), manner)  # the second role is a convenience: without it we set our own time-outs

    return connect


def _open(info: str, user: str | None) -> PatientConnection:
    named: Mapping[str, Any] = {"user": user} if user is not None else {}
    return PatientConnection.connect(
        info,
        autocommit=True,
        prepare_threshold=1,  # we have a few dozen statements, and each comes again
        application_name="stationkeeper",
        **_NETWORK,
        **named,
    )


def _fit(connection: PatientConnection, manner: Manner) -> PatientConnection:
    """The connection, once its server has been found fit; closed when it is not. Raises UnfitServer."""
    try:
        connection.execute(_SETTLE, [list(manner.settings), list(manner.settings.values())])
        _check(connection)
        connection.patience_seconds = manner.patience_seconds
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: PatientConnection) -> None:
    row = connection.execute(_FOUND).fetchone()
    assert row is not None  # noqa: S101 -- it selects constants
    version, shown, isolation, commits = row
    if version < OLDEST_SERVER:
        raise UnfitServer(f"Postgres {shown} was found, 15 or newer is needed; let DATABASE_URL name a newer server")
    if isolation != "read committed":
        raise UnfitServer(f"default_transaction_isolation stays {isolation!r}; set it to 'read committed' for our role")
    if commits == "off":
        raise UnfitServer(
            "synchronous_commit is off: a crash would forget commits that were acknowledged; set it to on for our role"
        )


def unavailable(error: Exception) -> StoreUnavailable | None:
    """What an error of the driver means to callers; None when it is a mistake of ours, which must not be retried."""
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError)):
        return StoreUnavailable(str(error).strip())
    return None


def unfit(error: Exception) -> UnfitServer | None:
    """What it means that our role may not do something; None when that is not what happened."""
    original = getattr(error, "orig", error)
    if not isinstance(original, psycopg.errors.InsufficientPrivilege):
        return None
    found = str(original).strip().partition("\n")[0]
    remedy = "let DATABASE_URL name the role that owns our tables, or give them to its role: `reassign owned by`"
    return UnfitServer(f"the role of DATABASE_URL lacks a right ({found}); {remedy}")
