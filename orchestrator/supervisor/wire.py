"""What worker and supervisor say to each other: one JSON object a line, over a pair of sockets.

A message is a frozen value; its `kind` names it on the wire. Both ends are of one version: the worker starts its own
supervisor.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

import pydantic

from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import TurnRef
from orchestrator.ports.supervisor import Exit, ProcessOrder, Refusal


@dataclass(frozen=True, slots=True)
class Beat:
    """Worker: my main loop turns. Supervisor, in answer: so does mine."""

    kind: Literal["beat"] = "beat"


@dataclass(frozen=True, slots=True)
class Adopt:
    """Worker: renew this turn from now on."""

    ref: TurnRef
    lease_key: str | None
    sent_at: float
    step_seconds: float | None
    kind: Literal["adopt"] = "adopt"


@dataclass(frozen=True, slots=True)
class BeginStep:
    """Worker: the turn begins a step that takes at most `seconds`."""

    turn_id: UUID
    seconds: float
    kind: Literal["step"] = "step"


@dataclass(frozen=True, slots=True)
class Release:
    """Worker: renew this turn no more."""

    turn_id: UUID
    kind: Literal["release"] = "release"


@dataclass(frozen=True, slots=True)
class Spawn:
    """Worker: start this program; I call it `number`."""

    number: int
    order: ProcessOrder
    kind: Literal["spawn"] = "spawn"


@dataclass(frozen=True, slots=True)
class Stop:
    """Worker: end this program; without a number, all of them, because I am stopping."""

    number: int | None
    kind: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class Ready:
    """Supervisor: I have swept, and I listen."""

    kind: Literal["ready"] = "ready"


@dataclass(frozen=True, slots=True)
class Started:
    """Supervisor: the program runs."""

    number: int
    pid: int
    kind: Literal["started"] = "started"


@dataclass(frozen=True, slots=True)
class Refused:
    """Supervisor: the program could not be started."""

    number: int
    refusal: Refusal
    detail: str
    kind: Literal["refused"] = "refused"


@dataclass(frozen=True, slots=True)
class Line:
    """Supervisor: the program wrote this line, which looks like a JSON object."""

    number: int
    line: bytes
    kind: Literal["line"] = "line"


@dataclass(frozen=True, slots=True)
class Ended:
    """Supervisor: the program and everything that it started are gone."""

    number: int
    exit: Exit
    kind: Literal["ended"] = "ended"


@dataclass(frozen=True, slots=True)
class TurnStops:
    """Supervisor: the turn is cancelled, or not ours any more."""

    ref: TurnRef
    reason: StopReason
    kind: Literal["turn_stops"] = "turn_stops"


Request = Beat | Adopt | BeginStep | Release | Spawn | Stop
Report = Beat | Ready | Started | Refused | Line | Ended | TurnStops

_BYTES = pydantic.ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
_REQUESTS: pydantic.TypeAdapter[Request] = pydantic.TypeAdapter(
    Annotated[Request, pydantic.Discriminator("kind")], config=_BYTES
)
_REPORTS: pydantic.TypeAdapter[Report] = pydantic.TypeAdapter(
    Annotated[Report, pydantic.Discriminator("kind")], config=_BYTES
)


def pack_request(message: Request) -> bytes:
    """A worker's message as its line."""
    return _REQUESTS.dump_json(message) + b"\n"


def pack_report(message: Report) -> bytes:
    """A supervisor's message as its line."""
    return _REPORTS.dump_json(message) + b"\n"


def read_request(line: bytes) -> Request:
    """The message of a worker's line."""
    return _REQUESTS.validate_json(line)


def read_report(line: bytes) -> Report:
    """The message of a supervisor's line."""
    return _REPORTS.validate_json(line)


class Lines:
    """Puts together lines that arrive in pieces. A line longer than `longest` bytes is dropped, whole."""

    def __init__(self, longest: int | None = None) -> None:
        self._longest = longest
        self._pieces = bytearray()
        self._skipping = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The lines that `piece` completes, without their ends."""
        *complete, rest = piece.split(b"\n")
        for part in complete:
            self._take(part)
            if not self._skipping:
                yield bytes(self._pieces)
            self._pieces.clear()
            self._skipping = False
        self._take(rest)

    def rest(self) -> bytes:
        """What came after the last end of line."""
        return bytes(self._pieces)

    def _take(self, part: bytes) -> None:
        self._pieces += part
        if self._longest is not None and len(self._pieces) > self._longest:
            self._skipping = True
        if self._skipping:
            self._pieces.clear()
