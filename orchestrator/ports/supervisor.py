"""The supervisor as a worker sees it: the process beside it that owns every agent and renews every lease."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol
from uuid import UUID

from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import TurnRef


class Refusal(Enum):
    """Why a program was not started."""

    AGENT_NOT_FOUND = "agent_not_found"  # there is no such program, or it may not be run
    INVALID_WORKSPACE_CWD = "invalid_workspace_cwd"  # the folder is not there, or is not the one that was prepared
    WORKSPACE_BUSY = "workspace_busy"  # a process of another turn still holds the workspace's lock
    MISSING_VARIABLE = "missing_variable"  # the workflow passes on a variable that the worker does not have
    NOT_ADOPTED = "not_adopted"  # the turn is not, or not any more, one that the supervisor renews
    SUPERVISOR_LOST = "supervisor_lost"  # the supervisor is being replaced; another try may succeed


class SpawnFailed(Exception):
    """A program could not be started; the message says which and why, `refusal` for whom code decides."""

    def __init__(self, refusal: Refusal, detail: str) -> None:
        super().__init__(f"{refusal.value}: {detail}")
        self.refusal, self.detail = refusal, detail


class EndedBy(Enum):
    """What ended a supervised process."""

    EXITED = "exited"  # by itself
    STALLED = "stalled"  # it said nothing for `stall_seconds`
    TIMED_OUT = "timed_out"  # it ran longer than `timeout_seconds`
    CANCELLED = "cancelled"  # the turn's cancel flag was seen, or the worker asked
    FENCE_LOST = "fence_lost"  # the turn is not ours any more
    FREEZE_LIMIT = "freeze_limit"  # nobody confirmed the fence for too long
    SHUTDOWN = "shutdown"  # the worker is stopping
    SUPERVISOR_LOST = "supervisor_lost"  # the supervisor died; the next one swept the process away


class Duty(Enum):
    """What a program is to its turn, and so what ends it."""

    WORK = "work"  # part of its work: a cancel, a stop or a lost fence ends it
    FAREWELL = "farewell"  # tidies up behind it: also after a cancel or during a stop, never once the fence is lost
    ERRAND = "errand"  # belongs to no turn: nothing is renewed for it; its time-out, a stop or its worker's end ends it


@dataclass(frozen=True, slots=True)
class ProcessOrder:
    """A process to start for a turn, in `cwd` (the workspace, canonical). `stdin` is written and closed.

    `environment` is all that the process gets, but for the marker that the supervisor adds to find it again. The
    supervisor takes the `flock` on `lock_path` and passes it on, so that the workspace's lock lives as long as the
    process does. All output goes to `transcript`, at most `transcript_bytes` of it, and resets the stall clock.
    """

    turn_id: UUID
    fence: int
    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    stdin: bytes
    transcript: Path
    timeout_seconds: float
    stall_seconds: float | None
    transcript_bytes: int = 10 * 1024 * 1024
    lock_path: Path | None = None
    duty: Duty = Duty.WORK


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: exit code (None when a signal ended it), signal, and what brought it about."""

    code: int | None
    signal: int | None
    ended_by: EndedBy


class Running(Protocol):
    """A supervised process."""

    @property
    def pid(self) -> int:
        """Its process id, which is also its group's and session's."""
        ...

    def lines(self) -> Iterator[bytes]:
        """Lines of standard output that look like JSON objects, as they come; ends with the process."""
        ...

    def wait(self) -> Exit:
        """Block until the process and every marked descendant is gone."""
        ...

    def stop(self) -> None:
        """Ask for its end (SIGINT, SIGTERM, SIGKILL, then every marked process). Does not wait."""
        ...


class Supervisor(Protocol):
    """The worker's side of the pipe."""

    def adopt(self, ref: TurnRef, *, lease_key: str | None, sent_at: float, step_seconds: float | None = None) -> None:
        """Renew this turn's lease from now on, and its Redis lease `lease_key`.

        `sent_at` is the boot clock's reading when its admission was *sent*. A first step may be announced with it.
        """
        ...

    def begin_step(self, turn_id: UUID, seconds: float) -> None:
        """Renew the turn for at most this long (and a grace) unless another step begins or a process of it ends.

        A spawned process is a step of its own, as long as its time-out. Between steps a gap of 60 s counts as one.
        """
        ...

    def release(self, turn_id: UUID) -> None:
        """Renew it no more: it is concluded, or not ours. A process that it still has is ended."""
        ...

    def spawn(self, order: ProcessOrder) -> Running:
        """Start a process of an adopted turn; raises SpawnFailed."""
        ...

    def cancelled(self, turn_id: UUID) -> StopReason | None:
        """The stop reason when the turn's cancel flag or the loss of its fence (LOST_WORKER) was seen, else None."""
        ...

    def has_processes(self, turn_id: UUID) -> bool:
        """Whether any process of the turn may still run on this host; True where nobody can tell."""
        ...

    def beat(self) -> None:
        """Say that the worker's main loop turns; called from it each second. Never blocks."""
        ...

    def stop_all(self) -> None:
        """Stop every process with EndedBy.SHUTDOWN: the worker hands its turns back. Does not wait."""
        ...
