"""The schema's version: brought up to date once, and refused when it is another one."""

import subprocess
import sys

import psycopg
import pytest
import sqlalchemy

from orchestrator.ports.store import StoreUnavailable
from orchestrator.store import connections, migrate
from orchestrator.store.open import open_store
from tests.store.scene import plain


@pytest.fixture
def empty_url(database_url):
    """A database without a schema, which gives its name back to the fixtures."""
    with psycopg.connect(plain(database_url), autocommit=True) as connection:
        connection.execute("drop schema public cascade; create schema public")
    return database_url


def test_two_upgrades_at_once_are_one_after_the_other(empty_url):
    """The second waits for the first and finds nothing to do, as two launchers do that start together."""
    program = "import sys; from orchestrator.store import migrate; migrate.upgrade(sys.argv[1])"
    launchers = [subprocess.Popen([sys.executable, "-c", program, empty_url]) for _ in range(2)]
    assert [launcher.wait(timeout=60) for launcher in launchers] == [0, 0]
    found, wanted = migrate.revision_state(empty_url)
    assert found == wanted
    migrate.refuse_other_schema(empty_url)


def test_a_schema_that_is_behind_is_refused_with_the_command(empty_url):
    """A worker says what to run, and does not start."""
    with pytest.raises(migrate.SchemaMismatch, match=r"nothing yet.*run `orchestrator migrate`"):
        migrate.refuse_other_schema(empty_url)


def test_a_schema_that_is_ahead_is_refused_by_everybody(database_url):
    """An older program neither works on it nor migrates it."""
    with psycopg.connect(plain(database_url), autocommit=True) as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    for call in (migrate.refuse_other_schema, migrate.upgrade):
        with pytest.raises(migrate.SchemaMismatch, match="this program is older than the database"):
            call(database_url)


def test_an_upgrade_that_is_repeated_changes_nothing(database_url):
    """The installation keeps its id, which stands in our keys on cards."""
    before = open_store(database_url).installation
    migrate.upgrade(database_url)
    assert open_store(database_url).installation == before


def test_both_roles_keep_their_time_outs_in_the_database(empty_url):
    """So that a pooler between us and the server keeps them too."""
    assert migrate.upgrade(empty_url)
    first = sqlalchemy.make_url(empty_url)
    ours = (
        (first.username, "1800ms", "force_generic_plan", "off"),
        (f"{first.username}_slow", "30s", "auto", "on"),
    )
    for name, statement, plans, scans in ours:
        url = first.set(username=name).render_as_string(hide_password=False)
        with psycopg.connect(plain(url)) as connection:
            shown = [connection.execute(f"show {setting}").fetchone()[0] for setting in connections.HOT]
        assert shown == ["read committed", "1s", "5s", statement, plans, scans, scans, scans]


def test_a_store_without_the_second_role_sets_its_own_time_outs(database_url):
    """Where the role cannot be had, the slow rooms still wait long and hold no lock for long."""
    migrate.upgrade(database_url)
    store = open_store(database_url)
    store.hot.change("update installation set slow_role = 'nobody_is_called_so'")
    row = store.slow.row("select current_user as name, current_setting('statement_timeout') as timeout")
    assert (row.timeout, row.name) == ("30s", sqlalchemy.make_url(database_url).username)


def test_a_server_that_is_not_there_is_unavailable(database_url):
    """One line, and no traceback of a driver."""
    nowhere = sqlalchemy.make_url(database_url).set(port=1).render_as_string(hide_password=False)
    with pytest.raises(StoreUnavailable, match="refused"):
        migrate.upgrade(nowhere)


def test_a_user_that_may_make_no_roles_migrates_all_the_same(empty_url):
    """As on most hosted servers: the answer says that the second role is missing, and both engines work."""
    first = sqlalchemy.make_url(empty_url)
    plainly = first.set(username="tenant", password="secret").render_as_string(hide_password=False)
    with psycopg.connect(plain(empty_url), autocommit=True) as connection:
        connection.execute("create role tenant login password 'secret'")
        connection.execute("grant create, usage on schema public to tenant")
    try:
        assert not migrate.upgrade(plainly)
        store = open_store(plainly)
        timeouts = [engine.row("show statement_timeout").statement_timeout for engine in (store.hot, store.slow)]
        store.close()
    finally:
        with psycopg.connect(plain(empty_url), autocommit=True) as connection:
            connection.execute("drop owned by tenant cascade; drop role tenant")
    assert timeouts == ["1800ms", "30s"]
