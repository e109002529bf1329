"""Connections: what they refuse, and how long they wait for a server or a client that has stopped moving."""

import os
import signal
from contextlib import contextmanager

import psycopg
import pytest

from orchestrator.ports.store import StoreUnavailable
from orchestrator.store import connections
from orchestrator.store.database import RowLocked
from orchestrator.store.open import open_store
from tests.store.scene import plain
from tests.waiting import until


@pytest.fixture
def url(database_url):
    """A database of each test's own: the tests change its settings."""
    return database_url


@contextmanager
def stopped(pid):
    """A process that is frozen, and goes on afterwards."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.proves("H25")
def test_a_frozen_server_is_noticed_within_seconds(scene):
    """Its sockets stay open and its time-outs do not run: our own patience ends the wait, and the next call works."""
    turns = scene.store.turns
    ref = scene.run().ref
    pid = scene.store.hot.row("select pg_backend_pid() as pid").pid
    with stopped(pid), pytest.raises(StoreUnavailable, match="no answer within 3 s"):
        turns.renew([ref], lease_seconds=30)
    assert turns.renew([ref], lease_seconds=30)[ref.turn_id].ours


@pytest.mark.proves("H25")
def test_a_frozen_client_blocks_nobody_longer_than_the_lock_time_out(scene):
    """Whoever waits for its row is told after a second that it is locked, and nothing was written."""
    ref = scene.run().ref
    with scene.client() as frozen:
        frozen.execute("select 1 from turn for update")
        waiting = scene.later(lambda: scene.step(ref, 1))
        until(lambda: scene.blocked_by(frozen))
        with pytest.raises(RowLocked):
            waiting.result()
    assert scene.step(ref, 1)


@pytest.mark.proves("H25")
def test_a_client_frozen_inside_a_transaction_is_let_go_by_the_server(scene):
    """Far below a lease, so that no item waits for the end of the freeze."""
    scene.run()

    def freeze() -> None:
        with scene.store.hot.transaction() as session:
            session.change("set local idle_in_transaction_session_timeout = '50ms'")
            pid = session.row("select pg_backend_pid() as pid from item for update").pid
            until(lambda: scene.one("select not exists (select from pg_stat_activity where pid = %s)", pid))
            session.row("select 1 from item")

    with pytest.raises(StoreUnavailable):
        freeze()
    assert scene.one("select version from item for update nowait") == 1


def test_a_server_that_forgets_acknowledged_commits_is_refused(scene, url):
    """`synchronous_commit = off` breaks every promise at the first crash."""
    role = psycopg.conninfo.conninfo_to_dict(plain(url))["user"]
    database = url.rpartition("/")[2]
    scene.change(f"alter role {role} in database {database} set synchronous_commit = off")
    with pytest.raises(connections.UnfitServer, match="synchronous_commit is off"):
        open_store(url).installation  # noqa: B018 -- the first call connects


def test_a_site_that_defaults_to_another_isolation_gets_ours(scene, url):
    """REPEATABLE READ would make a checkpoint fail beside a renewal."""
    database = url.rpartition("/")[2]
    scene.change(f"alter database {database} set default_transaction_isolation = 'repeatable read'")
    row = open_store(url).hot.row("select current_setting('transaction_isolation') as isolation")
    assert row.isolation == "read committed"


def test_a_server_that_is_too_old_is_named(monkeypatch, url):
    """With what was found and what is needed."""
    monkeypatch.setattr(connections, "OLDEST_SERVER", 990_000)
    with pytest.raises(connections.UnfitServer, match="15 or newer is needed"):
        open_store(url).installation  # noqa: B018 -- the first call connects


def test_a_connection_that_died_with_the_server_is_replaced(scene):
    """One call fails as unavailable, since its outcome is unknown; the next one gets a new connection."""
    turns = scene.store.turns
    ref = scene.run().ref
    scene.one(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity"
        " where pid <> pg_backend_pid() and datname = current_database()"
    )
    with pytest.raises(StoreUnavailable):
        turns.renew([ref], lease_seconds=30)
    assert turns.renew([ref], lease_seconds=30)[ref.turn_id].ours
