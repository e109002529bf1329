"""One Postgres cluster below a state folder, run as a child of this process.

Postgres refuses to run as root, so root's server runs as nobody, with the data folder handed to that user and nothing
else changed: no parent folder is opened to others, no user is made. TCP on 127.0.0.1 with a password is the only way
in.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg

from orchestrator.embedded import child, programs

# Our user and our database in the cluster.
NAME = "stationkeeper"

# Root's copy of programs that nobody cannot reach. Only root can write here.
CACHE = Path("/var/cache/stationkeeper")

# The folder of a server that cannot walk to its data: the kernel resolves this link without asking the parents' modes.
# Postgres before 16 leaves its working folder while it starts, so it cannot be told this.
OWN_FOLDER, OWN_FOLDER_SINCE = "/proc/self/cwd", 16

# initdb takes about a second and a start 0.2 s; a small machine under full load has needed ten times that.
START_SECONDS = 60.0

# Two workers with their threads, relay, ticks, supervisors, commands and tests stay below a hundred; twice that.
MAX_CONNECTIONS = 200

FSYNC_OFF = ["-c", "fsync=off", "-c", "full_page_writes=off"]


@dataclass(frozen=True, slots=True)
class Cluster:
    """What a server is started from: its programs, its data, its password, and whether a commit reaches the disk."""

    programs: Path
    data: Path
    password: str
    durable: bool


class Postgres:
    """A server on one cluster; it keeps its port over `stop` and `start`."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._owner = child.unprivileged()
        self._log = cluster.data.with_name("postgres.log")
        self._bin = programs.readable_copy(cluster.programs, CACHE) if self._owner else cluster.programs
        self._port = child.free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The database's address for SQLAlchemy, password included."""
        return f"postgresql+psycopg://{NAME}:{self._cluster.password}@127.0.0.1:{self._port}/{NAME}"

    @property
    def pid(self) -> int:
        """The server's process id.

        Raises:
            Unavailable: it was never started.
        """
        if self._process is None:
            raise child.Unavailable("the embedded Postgres was not started")
        return self._process.pid

    def start(self) -> None:
        """Start the server, making the cluster and the database where they are missing, and wait until it answers.

        Raises:
            Unavailable: it ended instead, does not answer, or the data belongs to another user or release.
        """
        data = self._cluster.data
        if not data.exists():
            self._make_cluster()
        self._refuse_foreign_data()
        child.await_outlived(data / "postmaster.pid", "postgres")
        self._process = child.start(
            [str(self._bin / "postgres"), "-D", self._data_argument(data), *self._options()],
            folder=data,
            log=self._log,
            owner=self._owner,
            farewell=signal.SIGINT,
        )
        self._await_answer(self._process)
        self._make_database()

    def stop(self) -> None:
        """End the server by a fast shutdown; a server that is not running stays so."""
        if self._process is not None:
            child.stop(self._process, signal.SIGINT)

    def _options(self) -> list[str]:
        """Settings go on the command line: the cluster's own files stay as initdb wrote them."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self._port),
            "unix_socket_directories": "",  # a socket's path is limited to 107 bytes, a state folder's is not
            "max_connections": str(MAX_CONNECTIONS),
            "logging_collector": "off",
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return options if self._cluster.durable else [*options, *FSYNC_OFF]

    def _make_cluster(self) -> None:
        """Run initdb beside the data folder's place and rename: a cluster is whole or absent."""
        draft = self._cluster.data.with_name("postgres.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700, parents=True)
        self._hand_over(draft)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as secret:
            secret.write(self._cluster.password)
            secret.flush()
            self._hand_over(Path(secret.name))
            self._run_initdb(draft, Path(secret.name))
        draft.rename(self._cluster.data)

    def _run_initdb(self, draft: Path, secret: Path) -> None:
        words = [str(self._bin / "initdb"), "-D", self._data_argument(draft), "-U", NAME]
        words += ["-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8", "--no-sync", "--no-instructions"]
        words += ["--locale=C.UTF-8" if sys.platform == "linux" else "--no-locale"]
        ran = subprocess.run(
            words,
            cwd=draft,
            env=child.ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
            **child.identity(self._owner),
        )
        if ran.returncode != 0:
            raise child.Unavailable(f"the embedded Postgres could not make {draft}:\n{ran.stderr.strip()}")

    def _data_argument(self, folder: Path) -> str:
        """How the server names its data folder: by path, or as "where I stand" when it may not walk there."""
        if self._owner is None or programs.enterable(folder.parent):
            return str(folder)
        if not Path(OWN_FOLDER).exists() or programs.postgres_major(self._bin) < OWN_FOLDER_SINCE:
            raise child.Unavailable(
                f"{folder.parent}: Postgres cannot run as root, and the user nobody cannot enter this folder; "
                "choose another with STATIONKEEPER_STATE, or start as an ordinary user"
            )
        return OWN_FOLDER

    def _hand_over(self, path: Path) -> None:
        if self._owner is not None:
            os.chown(path, self._owner.uid, self._owner.gid)

    def _refuse_foreign_data(self) -> None:
        data, expected = self._cluster.data, self._owner.uid if self._owner else os.geteuid()
        found = data.stat().st_uid
        if found != expected:
            raise child.Unavailable(
                f"{data}: belongs to uid {found}, and the server would run as uid {expected}; "
                "start as the user who made it, or choose another folder with STATIONKEEPER_STATE"
            )
        written, running = int((data / "PG_VERSION").read_text()), programs.postgres_major(self._bin)
        if written != running:
            raise child.Unavailable(
                f"{data}: written by Postgres {written}, found Postgres {running} in {self._bin}; "
                "name the right one with STATIONKEEPER_POSTGRES_BIN, or choose another folder with STATIONKEEPER_STATE"
            )

    def _await_answer(self, process: subprocess.Popen[bytes]) -> None:
        until, pause = time.monotonic() + START_SECONDS, threading.Event()
        while process.poll() is None and time.monotonic() < until:
            try:
                self._connect("postgres").close()
            except psycopg.OperationalError as error:
                if "password authentication failed" in str(error):
                    self.stop()
                    raise child.Unavailable(
                        f"{self._cluster.data}: its password is not the one in embedded.json beside it; "
                        "put the right file back, or remove both to begin anew"
                    ) from error
                pause.wait(0.02)
            else:
                return
        self.stop()
        raise child.Unavailable(
            f"the embedded Postgres did not start; {self._log} ends:\n{child.last_lines(self._log)}"
        )

    def _make_database(self) -> None:
        with self._connect("postgres") as connection:
            connection.autocommit = True
            if not connection.execute("select 1 from pg_database where datname = %s", [NAME]).fetchone():
                connection.execute(f"create database {NAME}")

    def _connect(self, database: str) -> psycopg.Connection:
        return psycopg.connect(
            host="127.0.0.1",
            port=self._port,
            user=NAME,
            password=self._cluster.password,
            dbname=database,
            connect_timeout=2,
        )
