"""A server process that cannot outlive the process that started it.

On Linux the kernel sends the child its farewell signal when the *thread* that forked it ends, so servers are started
from a thread that lasts as long as they should. Each child is a session of its own: Ctrl-C on the terminal reaches us,
not it.
"""

import contextlib
import ctypes
import os
import pwd
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

PR_SET_PDEATHSIG = 1  # from linux/prctl.h

# Below the range from which the kernel hands out ports to clients (32768 on Linux): a client that keeps knocking at a
# stopped server's port inside that range can be given the same port and ends up connected to itself.
SERVER_PORTS = range(20_000, 32_000)

# A fast shutdown of a small Postgres takes 0.2 s; past this it hangs, and SIGKILL loses no commit.
STOP_SECONDS = 15.0

# An earlier launcher's servers were gone within 2 s of its SIGKILL (tried).
OUTLIVED_SECONDS = 15.0

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8" if sys.platform == "linux" else "C", "TZ": "UTC"}


class Unavailable(Exception):
    """An embedded server cannot be had; the message says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The user that a server runs as, where that is not the user who starts it."""

    uid: int
    gid: int


class Identity(TypedDict, total=False):
    """What `subprocess` needs to start a program as an `Owner`; empty where nothing changes."""

    user: int
    group: int
    extra_groups: list[int]


def unprivileged() -> Owner | None:
    """Whom a server that refuses root runs as: nobody when we are root, else `None` (ourselves)."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    return Owner(nobody.pw_uid, nobody.pw_gid)


def identity(owner: Owner | None) -> Identity:
    """The `subprocess` arguments that start a program as `owner`."""
    return Identity(user=owner.uid, group=owner.gid, extra_groups=[]) if owner else Identity()


def start(
    argv: list[str], *, folder: Path, log: Path, owner: Owner | None, farewell: signal.Signals
) -> subprocess.Popen[bytes]:
    """Start `argv` in `folder`, appending its output to `log`; it gets `farewell` when our thread ends."""
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as output:
        return subprocess.Popen(
            argv,
            cwd=folder,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=_die_with_parent(farewell),  # noqa: PLW1509 - one system call, resolved before the fork
            **identity(owner),
        )


def stop(process: subprocess.Popen[bytes], farewell: signal.Signals) -> None:
    """Ask a child to end, also when it is frozen, and kill it when it does not within `STOP_SECONDS`."""
    process.send_signal(farewell)
    process.send_signal(signal.SIGCONT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def await_outlived(pid_file: Path, program: str) -> None:
    """Wait until the server that an earlier launcher left behind is gone.

    Only `/proc` can tell that the recorded pid is still that program; without it the server's own lock decides.
    """
    with contextlib.suppress(OSError, ValueError):
        name = Path(f"/proc/{int(pid_file.read_text().split()[0])}/comm")
        pause = threading.Event()
        for _ in range(int(OUTLIVED_SECONDS / 0.05)):
            if name.read_text().strip() != program:
                return
            pause.wait(0.05)


def free_port() -> int:
    """A port on 127.0.0.1 that nobody listens on at this moment."""
    for port in random.sample(SERVER_PORTS, k=200):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise Unavailable(f"no free port on 127.0.0.1 between {SERVER_PORTS.start} and {SERVER_PORTS.stop}")


def last_lines(log: Path) -> str:
    """The end of a server's log, for the message that says why it did not start."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-8:])


def _die_with_parent(farewell: signal.Signals) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def in_child() -> None:
        prctl(PR_SET_PDEATHSIG, int(farewell))
        if os.getppid() != parent:  # it ended between the fork and the call above
            os._exit(1)

    return in_child
