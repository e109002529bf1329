"""One Valkey (or Redis) server below a state folder, run as a child of this process.

Its configuration is a file of mode 0600, never the command line: the password would be there for every user to read. It
carries hints only, so its file may lose the last second; it never evicts.
"""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import redis

from orchestrator.embedded import child

# A start takes 0.05 s; reading a large append-only file back is what could take longer.
START_SECONDS = 30.0


class Valkey:
    """A server with its data in one folder; it keeps its port over `stop` and `start`."""

    def __init__(self, program: Path, *, data: Path, password: str, durable: bool) -> None:
        self._program = program
        self._data = data
        self._password = password
        self._fsync = "everysec" if durable else "no"
        self._log = data.with_name("redis.log")
        self._port = child.free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The server's address, password and database 0 included."""
        return f"redis://:{self._password}@127.0.0.1:{self._port}/0"

    @property
    def pid(self) -> int:
        """The server's process id.

        Raises:
            Unavailable: it was never started.
        """
        if self._process is None:
            raise child.Unavailable("the embedded Redis was not started")
        return self._process.pid

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises:
            Unavailable: it ended instead, or does not answer.
        """
        self._data.mkdir(mode=0o700, parents=True, exist_ok=True)
        pid_file = self._data / "server.pid"
        child.await_outlived(pid_file, self._program.name)
        self._process = child.start(
            [str(self._program), str(self._write_configuration(pid_file))],
            folder=self._data,
            log=self._log,
            owner=None,
            farewell=signal.SIGTERM,
        )
        self._await_answer(self._process)

    def stop(self) -> None:
        """End the server; a server that is not running stays so."""
        if self._process is not None:
            child.stop(self._process, signal.SIGTERM)

    def _write_configuration(self, pid_file: Path) -> Path:
        settings = {
            "bind": "127.0.0.1",
            "port": str(self._port),
            "dir": str(self._data),
            "pidfile": str(pid_file),
            "requirepass": self._password,
            "appendonly": "yes",
            "appendfsync": self._fsync,
            "save": "",
            "maxmemory-policy": "noeviction",
        }
        path = self._data / "server.conf"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.writelines(f"{name} {json.dumps(value, ensure_ascii=False)}\n" for name, value in settings.items())
        return path

    def _await_answer(self, process: subprocess.Popen[bytes]) -> None:
        until, pause = time.monotonic() + START_SECONDS, threading.Event()
        with redis.Redis.from_url(self.url, socket_timeout=2) as client:
            while process.poll() is None and time.monotonic() < until:
                try:
                    client.ping()
                except (redis.ConnectionError, redis.TimeoutError):
                    pause.wait(0.01)
                else:
                    return
        self.stop()
        raise child.Unavailable(f"the embedded Redis did not start; {self._log} ends:\n{child.last_lines(self._log)}")
