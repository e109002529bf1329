"""Runs git: without a terminal, in plain English, and blind to any repository that our own process may stand in."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from orchestrator.ports.workspaces import WorkspaceFailed

# A checkout of a large repository on a slow disk takes minutes; a git that waits for something never ends.
TIMEOUT_SECONDS = 600

# A worker that was started from a git hook has these, and git would follow them instead of the folder it is given.
_MISLEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")
_ENV = [
    "env",
    *(word for name in _MISLEADING for word in ("-u", name)),
    "LC_ALL=C",
    "GIT_TERMINAL_PROMPT=0",
    "GIT_OPTIONAL_LOCKS=0",
]
# The repository may belong to another user than ours (a container, a shared checkout): whoever wrote the workflow
# chose it.
_GIT = ["git", "-c", "safe.directory=*", "-c", "core.quotepath=off"]

_TAIL_LINES = 3
_NONE: Mapping[str, str] = MappingProxyType({})
# What `env` exits with when it cannot find what it is to run.
_NO_SUCH_PROGRAM = 127


def run(folder: Path, *arguments: str, index: Path | None = None) -> str:
    """What git said, without the last line break. Raises WorkspaceFailed with the end of what it complained of.

    `index` is a file to use in place of the folder's own index.
    """
    found = attempt(folder, *arguments, variables={"GIT_INDEX_FILE": str(index)} if index else {})
    if found.returncode != 0:
        command = " ".join(arguments[:2])
        raise WorkspaceFailed(f"{folder}: 'git {command}' failed: {tail(found.stderr)}")
    return found.stdout.decode(errors="surrogateescape").rstrip("\n")


def ask(folder: Path, *arguments: str) -> str | None:
    """The same where a refusal is an answer: None."""
    found = attempt(folder, *arguments)
    return found.stdout.decode(errors="surrogateescape").rstrip("\n") if found.returncode == 0 else None


def tail(complaint: bytes) -> str:
    """The last lines of what a program complained of, as one."""
    lines = [line.strip() for line in complaint.decode(errors="replace").splitlines() if line.strip()]
    return " / ".join(lines[-_TAIL_LINES:]) or "it gave no reason"


def attempt(
    folder: Path, *arguments: str, variables: Mapping[str, str] = _NONE, seconds: float = TIMEOUT_SECONDS
) -> subprocess.CompletedProcess[bytes]:
    """How it ended, and all it said. Raises WorkspaceFailed when it could not be started or did not end in time.

    What it started itself goes with it: a program that talks to a remote would go on talking.
    """
    command = [*_ENV, *(f"{name}={value}" for name, value in variables.items()), *_GIT, *arguments]
    try:
        done = _ended(command, folder, seconds)
    except subprocess.TimeoutExpired as error:
        message = f"{folder}: 'git {arguments[0]}' did not end within {seconds:g} s; look what it waits for"
        raise WorkspaceFailed(message) from error
    except OSError as error:
        raise WorkspaceFailed(f"{folder}: git could not be started in it ({error.strerror})") from error
    if done.returncode == _NO_SUCH_PROGRAM:
        raise WorkspaceFailed(f"{folder}: git could not be started; install it, or put it on the worker's PATH")
    return done


def _ended(command: Sequence[str], folder: Path, seconds: float) -> subprocess.CompletedProcess[bytes]:
    """Run it in a session of its own. Raises OSError and subprocess.TimeoutExpired."""
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=folder, stdin=nothing, stdout=pipe, stderr=pipe, start_new_session=True
    ) as process:
        try:
            said, complained = process.communicate(timeout=seconds)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # not reaped yet, so the number is its own
            raise
    return subprocess.CompletedProcess(command, process.returncode, said, complained)
