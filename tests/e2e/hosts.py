"""Hosts for a test: workers in pid, network and mount namespaces of their own, each with its own disk and state folder.

What they share is what real hosts share: Postgres and Redis, the board, and the remote repository.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tests.e2e.fleet import AGENT, Fleet
from tests.e2e.inside import lead, listen_on
from tests.waiting import until

UNSHARE = ("unshare", "--pid", "--net", "--mount", "--fork", "--kill-child", "--mount-proc")

# What an agent sees is written down before it works: its environment, and all that git would tell it.
CURIOUS = '{ env; git config --list; } > "$(dirname "$WITNESS")/seen-$STATIONKEEPER_FENCE"\n'


@dataclass(slots=True)
class Hosts:
    """The machines of a fleet. `serve` is called once: ticks, relay and beat run beside them, on no host of theirs."""

    fleet: Fleet
    remote: Path
    sockets: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="sk-")))
    listening: list[socket.socket] = field(default_factory=list)
    silence_seconds: int = 8

    def set_up(self, cards: int) -> None:
        """The board, the remote with the first commit, and a cable to each server."""
        self.fleet.set_up(cards)
        (self.fleet.folder / "agent.sh").write_text(CURIOUS + AGENT)
        git(self.fleet.folder, "clone", "-q", "--bare", "repo", str(self.remote))
        for port in self._ports():
            found = listen_on(socket.AF_UNIX, str(self.sockets / str(port)))
            self.listening.append(found)
            threading.Thread(target=lead, args=(found, socket.AF_INET, ("127.0.0.1", port)), daemon=True).start()

    def serve(self) -> None:
        """Start the control worker and beat, on the machine of the servers."""
        env = {"STATIONKEEPER_HOST_SILENCE_SECONDS": str(self.silence_seconds), "STATIONKEEPER_HOST": "desk"}
        self.fleet.worker("desk", "--queues=control,relay", **env)
        self.fleet.beat()

    def start(self, name: str, **env: str) -> Host:
        """A host with its own disk (made at the first start), and a worker for turns on it, which sees `env` too.

        Where the root is shared, the disk has only the state folder.
        """
        folder, disk = self.fleet.folder, self.fleet.folder / f"disk-{name}"
        parts = () if self.fleet.shared else ("workspaces", "repo")
        if parts and not disk.exists():
            (disk / "workspaces").mkdir(parents=True)
            (folder / "workspaces").mkdir(exist_ok=True)
            git(disk, "clone", "-q", str(self.remote), "repo")
            git(disk / "repo", "remote", "remove", "origin")
        binds = ",".join(f"{disk / part}={folder / part}" for part in parts)
        celery = [sys.executable, "-m", "celery", "-A", "orchestrator", "worker", f"--hostname={name}@%h"]
        inside = [sys.executable, "-m", "tests.e2e.inside", str(self.sockets), ",".join(map(str, self._ports())), binds]
        environment = self.fleet.environment(
            {
                "STATIONKEEPER_STATE": str(disk / "state"),
                "STATIONKEEPER_HOST": name,
                "STATIONKEEPER_HOST_SILENCE_SECONDS": str(self.silence_seconds),
                "PUSH_URL": str(self.remote),
                **env,
            }
        )
        with (folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [*UNSHARE, *inside, "--", *celery, "--queues=turns", "--loglevel=info"],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.fleet.processes[name] = process
        before = self.fleet.log(name).count("ready.")
        until(lambda: self.fleet.log(name).count("ready.") > before, timeout_seconds=60, what=f"{name} is ready")
        return Host(name, process)

    def pushed(self, branch: str) -> str:
        """The commit of a branch on the remote; empty for no such branch."""
        return git(self.remote, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")

    def close(self) -> None:
        """Every process and cable goes."""
        self.fleet.stop()
        for found in self.listening:
            with contextlib.suppress(OSError):
                found.shutdown(socket.SHUT_RDWR)
            found.close()
        shutil.rmtree(self.sockets, ignore_errors=True)

    def _ports(self) -> list[int]:
        return [urlsplit(url).port or 0 for url in (self.fleet.database_url, self.fleet.redis_url)]


@dataclass(frozen=True, slots=True)
class Host:
    """A running host: everything in its pid namespace."""

    name: str
    process: subprocess.Popen[bytes]

    @property
    def first(self) -> int:
        """Its pid 1, as numbered out here."""
        return int(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text())

    def pids(self) -> list[int]:
        """Every process of it, as numbered out here."""
        here = Path(f"/proc/{self.first}/ns/pid").readlink()
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and (entry / "ns" / "pid").readlink() == here:
                    found.append(int(entry.name))
        return found

    def freeze(self) -> None:
        """Stop everything at once, as a hypervisor does; again until nothing was born meanwhile."""
        stopped: set[int] = set()
        while new := set(self.pids()) - stopped:
            self._signal(new, signal.SIGSTOP)
            stopped |= new

    def thaw(self) -> None:
        """Let everything go on."""
        self._signal(set(self.pids()), signal.SIGCONT)

    def link(self, state: str) -> None:
        """Take its network `down` or `up`: everything on it runs on, and reaches nobody."""
        inside = [sys.executable, "-m", "tests.e2e.inside", "link", state]
        subprocess.run(
            ["nsenter", f"--net=/proc/{self.first}/ns/net", *inside], check=True, cwd=Path(__file__).parents[2]
        )

    def die(self) -> None:
        """The power is cut: nothing of it is left, and nobody says goodbye."""
        self.process.kill()
        self.process.wait()

    @staticmethod
    def _signal(pids: set[int], number: int) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def git(folder: Path, *words: str) -> str:
    """What git says there."""
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def why_not() -> str | None:
    """Why this user may not make such hosts, None when there is no reason."""
    try:
        tried = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "no unshare on this machine"
    return None if tried.returncode == 0 else f"this user may not make namespaces: {tried.stderr.strip()}"
