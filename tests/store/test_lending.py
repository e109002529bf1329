"""Connections on loan: few, whole when they come back, and nobody's but the process's that made them."""

import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from orchestrator.ports.store import StoreUnavailable
from orchestrator.store import connections
from orchestrator.store.connections import Manner
from orchestrator.store.database import Database
from orchestrator.store.lending import Lender
from tests.store.test_interrupted_commit import is_interrupted

WHOSE = "select pg_backend_pid() as pid"


@pytest.fixture
def lender(url):
    """Two connections, and a short patience."""
    lender = Lender(connections.connector(url, Manner(connections.HOT, 3.0), lambda: None), 0.05, most=2)
    yield lender
    lender.forget_all()


@pytest.mark.proves("H32")
def test_one_thread_more_than_connections_waits_and_then_says_that_all_are_busy(lender):
    """No connection is made beyond the bound; one that comes back is the next one's."""
    first, second = lender.take(), lender.take()
    with pytest.raises(StoreUnavailable, match="every connection is busy"):
        lender.take()
    lender.give_back(second)
    assert lender.take() is second
    lender.give_back(first)
    lender.give_back(second)


def test_the_connection_used_last_is_lent_first(lender):
    """Its statements are prepared."""
    first, second = lender.take(), lender.take()
    lender.give_back(second)
    lender.give_back(first)
    assert lender.take() is first


def test_what_was_begun_and_not_committed_is_rolled_back_when_it_comes_back(lender):
    """Whoever has the connection next finds nothing begun on it."""
    lent = lender.take()
    lent.connection.execute("begin")
    lent.connection.execute("create table begun_only (n int)")
    lender.give_back(lent)
    assert lender.take() is lent
    assert lent.is_clean()
    assert lent.connection.execute("select to_regclass('begun_only')").fetchone() == (None,)


@pytest.mark.proves("F1")
def test_a_child_process_makes_connections_of_its_own(lender):
    """It would share its parent's socket; and its parent goes on with what it has."""
    database = Database(lender)
    mine = database.one(WHOSE).pid
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, str(database.one(WHOSE).pid).encode())
        finally:
            os._exit(0)
    os.close(writing)
    theirs = os.read(reading, 100)
    os.waitpid(child, 0)
    assert theirs
    assert int(theirs) != mine
    assert database.one(WHOSE).pid == mine


def test_threads_share_the_few_that_there_are(url):
    """Sixty threads, four connections: every answer is the asker's own."""
    lender = Lender(connections.connector(url, Manner(connections.HOT, 3.0), lambda: None), 10.0, most=4)
    database, together = Database(lender), threading.Barrier(20)

    def ask(number):
        if number < together.parties:
            together.wait()
        row = database.one("select cast(:number as int) as number, pg_backend_pid() as pid", number=number)
        return row.number, row.pid

    with ThreadPoolExecutor(together.parties) as threads:
        answers = list(threads.map(ask, range(60)))
    lender.forget_all()
    assert [number for number, _ in answers] == list(range(60))
    assert len({pid for _, pid in answers}) <= 4


def test_a_statement_outlives_a_migration_of_its_table(lender):
    """Prepared before, asked after: the new column is there, and nobody sees an error."""
    database = Database(lender)
    database.change("create table migrated (n int)")
    database.change("insert into migrated values (1)")
    assert database.one("select migrated.* from migrated")._fields == ("n",)
    database.change("alter table migrated add column m int")
    assert database.one("select migrated.* from migrated")._fields == ("n", "m")


def test_inside_a_transaction_a_migrated_table_fails_it_once(lender):
    """What was begun cannot go on; begun anew, it can."""
    database = Database(lender)
    database.change("create table begun (n int)")
    read = "select begun.* from begun"
    assert database.rows(read) == []
    database.change("alter table begun add column m int")
    with pytest.raises(psycopg.NotSupportedError), database.transaction() as session:
        session.rows(read)
    with database.transaction() as session:
        assert session.rows(read) == []


def test_what_was_rolled_back_leaves_the_prepared_statements(lender):
    """Also after statements that psycopg prepared in a pipeline, of which it would have the server forget all."""
    database = Database(lender)
    asked = "select cast(:n as int) as n"
    database.one(asked, n=1)
    with database.transaction() as session:
        assert [row.n for row in session.each([(asked, {"n": 2}), (asked, {"n": 3})])] == [2, 3]
    with pytest.raises(psycopg.errors.DivisionByZero), database.transaction() as session:
        session.row("select 1 / cast(:n as int) as n", n=0)
    with database.transaction() as session:
        assert session.each([(asked, {"n": 4})])[0].n == 4
        assert session.row(asked, n=5).n == 5


def test_a_server_that_was_told_to_forget_is_told_again(lender):
    """As a pooler between us and the server may do."""
    database = Database(lender)
    assert database.one("select cast(:n as int) as n", n=1).n == 1
    with database.session() as session:
        session._connection.execute("deallocate all")
    assert database.one("select cast(:n as int) as n", n=2).n == 2


@pytest.mark.proves("S1")
def test_a_signal_at_any_moment_costs_no_place(url):
    """Whoever is interrupted while it takes, asks or gives back leaves as many connections to be lent as there were."""
    lender = Lender(connections.connector(url, Manner(connections.HOT, 3.0), lambda: None), 0.5, most=2)
    database, chance = Database(lender), random.Random(11)
    began = time.perf_counter()
    for _ in range(20):
        database.one(WHOSE)
    typical = (time.perf_counter() - began) / 20
    interrupted = sum(
        is_interrupted(lambda: database.one(WHOSE), typical * chance.uniform(0.0, 1.5)) for _ in range(1_000)
    )
    both = [lender.take(), lender.take()]
    for lent in both:
        lender.give_back(lent)
    lender.forget_all()
    assert interrupted > 100
