"""The whole system as processes of one launcher: servers, schema, run file, workers, beat, Flower.

Order: the folder's lock, the servers, the migrations, the run file by which every command finds them, then the Celery
processes. Leaving stops them the other way round, and takes the run file away.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import socket
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator import run_file, settings
from orchestrator.cli import judge, servers
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.cli.processes import Crew, Program
from orchestrator.ports.store import StoreUnavailable
from orchestrator.settings import Launch

CONTROL, TURNS, BEAT, FLOWER = "control", "turns", "beat", "flower"

FLOWER_PORT = 5555  # Flower's own default, so that people and their bookmarks find it
_PORTS_TRIED = 50
_LOCK = "launcher.lock"  # in the folder of our state


@dataclass(frozen=True, slots=True)
class Order:
    """What to launch: the workflow files, how many turn workers, and settings (by field name) unlike the default.

    `flower` is False where nobody is going to look. `folder` is the working directory of every process.
    """

    folder: Path
    workflows: tuple[Path, ...]
    workers: int = 1
    flower: bool = True
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class System:
    """The running system: its processes, its servers, and where Flower is (None: not started).

    `others` are the workflows in force that none of its files is, with the place where each was read.
    """

    crew: Crew
    servers: servers.Servers
    state_dir: Path
    flower: str | None
    turn_workers: tuple[Program, ...]
    others: Mapping[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def system(order: Order, launch: Launch) -> Iterator[System]:
    """Launch everything, and stop it when the block is left; enter it from the main thread.

    Raises:
        Trouble: another launcher runs in this folder, or a server is not to be had.
    """
    with contextlib.ExitStack() as leaving:
        leaving.enter_context(_only_launcher(launch.state_dir))
        found = leaving.enter_context(servers.running(launch))
        _migrate(found.database_url)
        others = _enforce(order, found)
        port, password = (_free_port(FLOWER_PORT), secrets.token_urlsafe(18)) if order.flower else (None, "")
        run_file.write(launch.state_dir, _run_values(order, found))
        leaving.callback(run_file.remove, launch.state_dir)
        crew = Crew(order.folder, launch.state_dir / "logs", _environment(launch))
        leaving.callback(crew.stop)
        turn_workers = tuple(_worker(f"{TURNS}-{number}", TURNS) for number in range(1, order.workers + 1))
        for program in (_worker(CONTROL, "control,relay"), *turn_workers, _celery(BEAT, "beat", "--loglevel=info")):
            crew.start(program)
        if port is not None:
            crew.start(_flower(port, password))
        where = f"http://127.0.0.1:{port} (user stationkeeper, password {password})" if port else None
        yield System(crew, found, launch.state_dir, where, turn_workers, others)


@contextlib.contextmanager
def _only_launcher(state_dir: Path) -> Iterator[None]:
    """The kernel drops the lock with the launcher, however it ends."""
    state_dir.mkdir(parents=True, exist_ok=True)
    _keep_out_of_git(state_dir)
    path = state_dir / _LOCK
    with path.open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            pid = lock.read().strip() or "unknown"
            message = (
                f"{state_dir}: the system already runs here (launcher pid {pid}); use it, stop it with Ctrl-C there"
            )
            raise Trouble(Exit.REFUSED, f"{message}, or choose another folder with {settings.STATE_VARIABLE}") from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def is_running(state_dir: Path) -> bool:
    """Whether a launcher of this folder lives; its workers may still be starting."""
    try:
        with (state_dir / _LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _keep_out_of_git(state_dir: Path) -> None:
    """A folder of ours in somebody's repository is nothing to commit; one that a person named is theirs to judge."""
    ignore = state_dir / ".gitignore"
    if state_dir.name == settings.STATE_FOLDER and not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


def _migrate(database_url: str) -> None:
    """Bring the schema up to date; the first that talks to Postgres, so it says where a silent one was looked for."""
    from orchestrator.store import migrate

    try:
        migrate.upgrade(database_url)
    except StoreUnavailable as error:
        place = f"DATABASE_URL ({servers.place(database_url)})"
        raise Trouble(Exit.UNREACHABLE, f"{place}: expected a Postgres that answers, found: {error}") from error


def _enforce(order: Order, found: servers.Servers) -> dict[str, str]:
    """Put the files in force: who starts the system with them means them. Raises WorkflowInvalid.

    Returns what else is in force: maybe served from another folder or host, maybe left behind.
    """
    from orchestrator.engine import publish
    from orchestrator.engine.flows import manifest
    from orchestrator.flows.loading import FlowFiles
    from orchestrator.store.open import open_store

    store = open_store(found.database_url)
    files = judge.door([path.resolve() for path in order.workflows])
    try:
        manifest.put_in_force(store, FlowFiles(settings.named_flows()))
        meant = [files.read(path) for path in files.files()]
        publish.enforce(store, meant, door=files, alone=found.own)
        ours = {file.workflow.name for file in meant}
        return {row.name: row.path for row in store.workflows.all() if row.name not in ours}
    finally:
        store.close()


def _run_values(order: Order, found: servers.Servers) -> dict[str, str]:
    return {
        "database_url": found.database_url,
        "redis_url": found.redis_url,
        "workflows": os.pathsep.join(str(path.resolve()) for path in order.workflows),
        **order.values,
    }


def _environment(launch: Launch) -> dict[str, str]:
    """Ours without the settings: those stand in the run file, for the children as for every other command."""
    ours = {name: value for name, value in settings.inherited().items() if name not in settings.VARIABLES.values()}
    return {**ours, settings.STATE_VARIABLE: str(launch.state_dir)}


def _worker(name: str, queues: str) -> Program:
    return _celery(name, "worker", f"--hostname={name}@%h", f"--queues={queues}", "--loglevel=info")


def _celery(name: str, *words: str) -> Program:
    return Program(name, [sys.executable, "-m", "celery", "-A", "orchestrator", *words])


def _flower(port: int, password: str) -> Program:
    """The password goes by the environment: a command line is there for every user to read."""
    program = _celery(FLOWER, "flower", "--address=127.0.0.1", f"--port={port}", "--read-only")
    return Program(program.name, program.argv, {"FLOWER_BASIC_AUTH": f"stationkeeper:{password}"})


def _free_port(first: int) -> int:
    for port in range(first, first + _PORTS_TRIED):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port
    raise Trouble(Exit.UNREACHABLE, f"no free port for Flower on 127.0.0.1 from {first} to {first + _PORTS_TRIED - 1}")
