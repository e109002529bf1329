"""Starts a program for a turn: right folder, the workspace's lock in its hand, a session of its own, three pipes.

PR_SET_PDEATHSIG is not used: it fires when the *thread* that forked ends. What kills an agent whose worker is gone is
the supervisor, and the next supervisor's sweep.
"""

import contextlib
import fcntl
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from orchestrator.ports.supervisor import ProcessOrder, Refusal, SpawnFailed
from orchestrator.supervisor.host import MARKER_VARIABLE
from orchestrator.supervisor.marker import Marker
from orchestrator.supervisor.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Program:
    """A started program: its process, where its output is kept, and the lock that we hold with it."""

    process: subprocess.Popen[bytes]
    transcript: Transcript
    lock: int | None


def spawn(order: ProcessOrder, marker: Marker) -> Program:
    """Start the program.

    Raises:
        SpawnFailed: the folder is wrong, the workspace is busy, or there is no such program.
    """
    _check_folder(order.cwd)
    with contextlib.ExitStack() as undo:
        lock = _lock(order.lock_path) if order.lock_path else None
        if lock is not None:
            undo.callback(os.close, lock)
        transcript = _transcript(order)
        undo.callback(transcript.close)
        process = _start(order, marker, lock)
        undo.pop_all()
    return Program(process, transcript, lock)


def _check_folder(cwd: Path) -> None:
    """The agent works where the workspace was prepared: seen right before the start, no link may lead elsewhere."""
    if not cwd.is_absolute() or not cwd.is_dir():
        raise SpawnFailed(Refusal.INVALID_WORKSPACE_CWD, f"{cwd}: expected an existing folder by its whole path")
    if (real := cwd.resolve()) != cwd:
        raise SpawnFailed(Refusal.INVALID_WORKSPACE_CWD, f"{cwd}: leads to {real}; expected the workspace itself")


def _lock(path: Path) -> int:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise SpawnFailed(Refusal.INVALID_WORKSPACE_CWD, f"{path}: the lock cannot be opened ({error})") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        detail = f"{path}: a process of another turn holds the workspace; it is tried again later"
        raise SpawnFailed(Refusal.WORKSPACE_BUSY, detail) from error
    return handle


def _transcript(order: ProcessOrder) -> Transcript:
    try:
        return Transcript(order.transcript, limit=order.transcript_bytes)
    except OSError as error:
        detail = f"{order.transcript}: the transcript cannot be written ({error})"
        raise SpawnFailed(Refusal.INVALID_WORKSPACE_CWD, detail) from error


def _start(order: ProcessOrder, marker: Marker, lock: int | None) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(order.argv),
            cwd=order.cwd,
            env={**order.environment, MARKER_VARIABLE: str(marker)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=() if lock is None else (lock,),
            bufsize=0,
        )
    except (OSError, ValueError, IndexError) as error:
        name = order.argv[0] if order.argv else "(nothing)"
        raise SpawnFailed(Refusal.AGENT_NOT_FOUND, f"{name}: cannot be started ({error})") from error
