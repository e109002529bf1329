"""The schema's version: brings it up to date, and refuses to work on any other.

Migrations run in one transaction under an advisory lock, so that two that start at once are one after the other and
the second finds nothing to do.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from orchestrator.ports.store import StoreUnavailable
from orchestrator.store import connections, roles

# Any number will do, as long as it is ours: "stat" in ASCII.
_LOCK = 0x73746174
# A migration may have to wait for another one, and for every open statement on a table that it changes.
_PATIENCE = connections.Manner({**connections.SLOW, "lock_timeout": "30s", "statement_timeout": "10min"}, 700.0)


class SchemaMismatch(Exception):
    """The database's schema is not the one that this program was written for; the message says what to do."""


def upgrade(database_url: str) -> bool:
    """Bring the schema up to date and give our roles their time-outs; False when the second role could not be made.

    Raises SchemaMismatch (the database is ahead), connections.UnfitServer, StoreUnavailable.
    """
    url = sqlalchemy.make_url(database_url)
    with _connected(database_url) as connection, connection.begin():
        for name, value in _PATIENCE.settings.items():
            connection.execute(
                sqlalchemy.text("select set_config(:name, :value, true)"), {"name": name, "value": value}
            )
        connection.execute(sqlalchemy.text("select pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        _refuse_newer(_found(connection))
        command.upgrade(_config(connection), "head")
        driver = connection.connection.driver_connection
        assert driver is not None  # noqa: S101 -- it is open
        second = roles.settle(driver, url.password)
        connection.execute(sqlalchemy.text("update installation set slow_role = :role"), {"role": second})
    return second is not None


def revision_state(database_url: str) -> tuple[str | None, str]:
    """The schema's revision that is found, None for an empty database, and the one that this program wants."""
    with _connected(database_url) as connection:
        return _found(connection), _wanted()


def refuse_other_schema(database_url: str) -> None:
    """Return when the schema is the one that this program wants. Raises SchemaMismatch, StoreUnavailable."""
    found, wanted = revision_state(database_url)
    _refuse_newer(found)
    if found != wanted:
        raise SchemaMismatch(
            f"the database's schema is at {found or 'nothing yet'}, this program needs {wanted}: "
            "run `orchestrator migrate`"
        )


def _refuse_newer(found: str | None) -> None:
    if found is not None and found not in _known():
        raise SchemaMismatch(
            f"this program is older than the database: it knows the schema up to {_wanted()} and found {found}; "
            "deploy the version that migrated it, or a newer one"
        )


def _found(connection: sqlalchemy.Connection) -> str | None:
    try:
        return MigrationContext.configure(connection).get_current_revision()
    except sqlalchemy.exc.ProgrammingError as error:
        raise connections.unfit(error) or error from error


def _wanted() -> str:
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None  # noqa: S101 -- there is a first revision
    return head


def _known() -> frozenset[str]:
    return frozenset(script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions())


def _config(connection: sqlalchemy.Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _connected(database_url: str) -> sqlalchemy.Connection:
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://",
        creator=connections.connector(database_url, _PATIENCE, lambda: None),
        isolation_level="READ COMMITTED",
        poolclass=sqlalchemy.NullPool,
        use_native_hstore=False,
    )
    try:
        return engine.connect()
    except sqlalchemy.exc.OperationalError as error:
        raise connections.unavailable(error) or StoreUnavailable(str(error)) from error
