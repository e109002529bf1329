"""Both embedded servers, as one thing that is entered and left.

One launcher a state folder: a lock on a file in it says so, and the kernel drops the lock with the launcher. A second
start on the same folder finds its data and its passwords again; only the ports differ.
"""

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from orchestrator.embedded import programs
from orchestrator.embedded.child import Unavailable
from orchestrator.embedded.postgres import Cluster, Postgres
from orchestrator.embedded.programs import Programs
from orchestrator.embedded.valkey import Valkey

LOOK_FOR_THEM = Programs()


@dataclass(frozen=True, slots=True)
class Passwords:
    """The generated passwords of a state folder, kept in its `embedded.json` (mode 0600)."""

    postgres: str
    redis: str


class Embedded:
    """Postgres and Redis below `state`, running while the `with` block does.

    Enter it from a thread that lasts as long as the servers should: they end when that thread does. With `durable` off
    a commit does not wait for the disk, which is for tests.
    """

    def __init__(self, state: Path, *, durable: bool = True, chosen: Programs = LOOK_FOR_THEM) -> None:
        self._state = state.resolve()
        self._durable = durable
        self._chosen = chosen
        self._leaving = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Start both servers and wait until they answer.

        Raises:
            Unavailable: a program is missing, a server does not start, or another launcher runs on this folder.
        """
        with contextlib.ExitStack() as leaving, _foreign_folder_explained():
            self._state.mkdir(parents=True, exist_ok=True)
            leaving.enter_context(_only_launcher(self._state))
            passwords = _passwords(self._state)
            folder = programs.postgres_folder(self._chosen.postgres_folder)
            programs.postgres_major(folder)
            cluster = Cluster(folder, self._state / "postgres", passwords.postgres, self._durable)
            self._postgres = Postgres(cluster)
            self._redis = Valkey(
                programs.redis_server(self._chosen.redis_server),
                data=self._state / "redis",
                password=passwords.redis,
                durable=self._durable,
            )
            leaving.callback(self._postgres.stop)
            self._postgres.start()
            leaving.callback(self._redis.stop)
            self._redis.start()
            self._leaving = leaving.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop both servers and give the folder free."""
        self._leaving.close()

    @property
    def database_url(self) -> str:
        """The database's address for SQLAlchemy (`postgresql+psycopg://…`), password included."""
        return self._postgres.url

    @property
    def redis_url(self) -> str:
        """The address of Redis database 0, password included."""
        return self._redis.url

    @property
    def postgres_pid(self) -> int:
        """The Postgres server's process id."""
        return self._postgres.pid

    @property
    def redis_pid(self) -> int:
        """The Redis server's process id."""
        return self._redis.pid

    def stop_postgres(self) -> None:
        """Shut Postgres down; its URL stays true for the next `start_postgres`."""
        self._postgres.stop()

    def start_postgres(self) -> None:
        """Start a stopped Postgres again, on the same port and data."""
        self._postgres.start()

    def stop_redis(self) -> None:
        """Shut Redis down; its URL stays true for the next `start_redis`."""
        self._redis.stop()

    def start_redis(self) -> None:
        """Start a stopped Redis again, on the same port and data."""
        self._redis.start()


@contextlib.contextmanager
def _foreign_folder_explained() -> Iterator[None]:
    try:
        yield
    except PermissionError as error:
        raise Unavailable(
            f"{error.filename}: belongs to another user; "
            "start as the user who made it, or choose another folder with STATIONKEEPER_STATE"
        ) from error


@contextlib.contextmanager
def _only_launcher(state: Path) -> Iterator[None]:
    with (state / "embedded.lock").open("a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Unavailable(
                f"{state}: its Postgres and Redis are already run by another process; "
                "stop that one, or choose another folder with STATIONKEEPER_STATE"
            ) from error
        yield


def _passwords(state: Path) -> Passwords:
    """Those of an earlier start, else new ones, written before any server can know them."""
    path = state / "embedded.json"
    if not path.exists():
        fresh = Passwords(postgres=secrets.token_urlsafe(24), redis=secrets.token_urlsafe(24))
        draft = path.with_suffix(".draft")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(asdict(fresh), file)
        draft.rename(path)
    try:
        return Passwords(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise Unavailable(
            f"{path}: expected the servers' generated passwords, found {error}; remove {state}"
        ) from error
