"""Child processes of a launcher: started, watched, stopped together, and gone when the launcher is.

The kernel kills a child when the *thread* that forked it ends, so a crew is used from the main thread only. Each child
is a session of its own: Ctrl-C on the terminal reaches the launcher, which then stops them in order.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PR_SET_PDEATHSIG = 1  # from linux/prctl.h

# A worker hands its turns back within two seconds of SIGTERM. An agent that heeds neither SIGINT nor SIGTERM has five
# seconds for each, and `after_run` behind it five more: a worker that is killed sooner loses the turn.
STOP_SECONDS = 20.0

# A program that dies this often in a row cannot run here; one that lasted a minute has earned a fresh count.
MAX_RESTARTS, EARNED_SECONDS = 5, 60.0


@dataclass(frozen=True, slots=True)
class Program:
    """What to run, under which name for people."""

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Child:
    program: Program
    process: subprocess.Popen[bytes]
    started_at: float
    restarts: int = 0


class Crew:
    """The children of one launcher. `environment` is given to all of them, `logs` keeps what each prints."""

    def __init__(self, folder: Path, logs: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._logs = logs
        self._environment = environment
        self._children: dict[str, _Child] = {}
        logs.mkdir(parents=True, exist_ok=True)

    def start(self, program: Program) -> int:
        """Start a program, or start it again after its end; its process id."""
        child = _Child(program, self._spawn(program), time.monotonic())
        self._children[program.name] = child
        return child.process.pid

    def pid(self, name: str) -> int:
        """The process id of a child."""
        return self._children[name].process.pid

    def log(self, name: str) -> Path:
        """The file that keeps what a child prints."""
        return self._logs / f"{name}.log"

    def kill(self, name: str) -> None:
        """SIGKILL one child and wait for its end; it is not started again by `revive`."""
        child = self._children.pop(name)
        child.process.kill()
        child.process.wait()

    def revive(self) -> list[str]:
        """Start again what has died, a bounded number of times; one sentence for each death."""
        return [self._revive(child) for child in list(self._children.values()) if child.process.poll() is not None]

    def stop(self) -> list[str]:
        """Ask every child to end, kill those that do not within `STOP_SECONDS`; the names of the killed."""
        for child in self._children.values():
            child.process.send_signal(signal.SIGTERM)
        until = time.monotonic() + STOP_SECONDS
        killed = [name for name, child in self._children.items() if not _ended(child.process, until)]
        self._children.clear()
        return killed

    def _revive(self, child: _Child) -> str:
        name, died = child.program.name, _ending(child.process.returncode)
        lasted = time.monotonic() - child.started_at
        restarts = 0 if lasted > EARNED_SECONDS else child.restarts
        if restarts >= MAX_RESTARTS:
            del self._children[name]
            return f"{name} {died} again and is not started any more; {self.log(name)} says why"
        again = _Child(child.program, self._spawn(child.program), time.monotonic(), restarts + 1)
        self._children[name] = again
        return f"{name} {died} after {lasted:.0f} s; started again, pid {again.process.pid}"

    def _spawn(self, program: Program) -> subprocess.Popen[bytes]:
        log = os.open(self.log(program.name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(log, "ab") as output:
            return subprocess.Popen(
                program.argv,
                cwd=self._folder,
                env={**self._environment, **program.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=_die_with_parent(),  # noqa: PLW1509 - one system call, resolved before the fork
            )


def _ended(process: subprocess.Popen[bytes], until: float) -> bool:
    """Whether it ended by itself before `until`; it has ended in any case afterwards."""
    try:
        process.wait(max(until - time.monotonic(), 0.05))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False
    return True


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"exited with {code}"


def _die_with_parent() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def in_child() -> None:
        prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if os.getppid() != parent:  # it ended between the fork and the call above
            os._exit(1)

    return in_child
