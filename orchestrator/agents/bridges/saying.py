"""What a bridge is given and what it says: one JSON order in, the lines that `agents.command` reads out.

The kinds of failure are those of the peers' specifications (`docs/decisions/0028`); each has one outcome.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from typing import IO

# What a board's comment and a terminal can show of it; a report's reader cuts there too.
LONGEST_TEXT = 4_000

LONGEST_NAME = 100

# A provider that names no time is asked again after what a workflow rests at first (`domain/rest.py`).
WAIT_SECONDS = 60.0
# A day: no rate limit is longer, and a reader takes no more.
LONGEST_WAIT_SECONDS = 86_400.0


class Fault(Enum):
    """How a turn failed; set by a bridge, ended with the turn. The value begins the reason that people read."""

    AGENT_NOT_FOUND = "agent_not_found"  # the shell found no such program, or may not run it
    AUTH = "auth"  # the provider refuses who asks: nobody is logged in, a key is wrong, nothing is paid
    INPUT_REQUIRED = "turn_input_required"  # the agent asks a person
    RATE_LIMITED = "rate_limited"  # the provider asks to wait
    RESPONSE_TIMEOUT = "response_timeout"  # an answer that the program owed did not come
    RESPONSE_ERROR = "response_error"  # it answered a request of ours with an error
    TURN_FAILED = "turn_failed"  # the protocol's last word is a failure
    TURN_CANCELLED = "turn_cancelled"  # somebody else interrupted the turn
    PORT_EXIT = "port_exit"  # the program ended without a last word
    SESSION_NOT_FOUND = "session_not_found"  # the conversation is not there any more; begun anew in the same turn


# Another try meets the same until a person has done something (AE-02).
FOR_A_PERSON = frozenset({Fault.AGENT_NOT_FOUND, Fault.AUTH, Fault.INPUT_REQUIRED})


@dataclass(frozen=True, slots=True)
class Order:
    """One turn: the vendor's command, the prompt, the session to go on with, the kind's own settings.

    `read_seconds` is how long an answer may be owed.
    """

    command: str
    prompt: str
    session: str | None
    workspace: str
    read_seconds: float
    options: Mapping[str, object] = field(default_factory=dict)

    def packed(self) -> bytes:
        """The order as a bridge reads it."""
        return json.dumps(asdict(self), default=str).encode()

    def without_session(self) -> Order:
        """The same turn in a new conversation."""
        return replace(self, session=None)

    @classmethod
    def read(cls, source: IO[bytes]) -> Order:
        """The order that standard input holds."""
        return cls(**json.loads(source.read()))


@dataclass(frozen=True, slots=True)
class Result:
    """How the turn ended: no fault is a success. `text` is the agent's last message, or what went wrong."""

    text: str = ""
    fault: Fault | None = None
    retry_after_seconds: float | None = None

    def line(self) -> dict[str, object]:
        """The line of type result. A success is no more than the protocol's word for it."""
        if self.fault is None:
            return {"type": "result", "outcome": "done", "summary": self.text[:LONGEST_TEXT]}
        outcome = "blocked" if self.fault in FOR_A_PERSON else "failed"
        reason = f"{self.fault.value}: {self.text}"[:LONGEST_TEXT]
        said: dict[str, object] = {"type": "result", "outcome": outcome, "reason": reason, "fault": self.fault.value}
        if self.retry_after_seconds is not None:
            said["retry_after_seconds"] = min(max(self.retry_after_seconds, 0.0), LONGEST_WAIT_SECONDS)
        return said


def say(line: Mapping[str, object]) -> None:
    """Print one line of ours."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def end(result: Result) -> int:
    """Say the last word; returns the exit code, by which a report of the agent's own cannot hide a failure."""
    say(result.line())
    return 0 if result.fault is None else 1


def call(name: str, arguments: object) -> dict[str, object]:
    """A call of a tool, as all kinds tell it: arguments may be a whole file, so only their digest is said."""
    spelled = json.dumps(arguments, sort_keys=True, default=str)
    return {"type": "tool", "name": name[:LONGEST_NAME], "arguments": hashlib.sha256(spelled.encode()).hexdigest()[:32]}


def tokens(*, given: int, cached: int, made: int) -> dict[str, object]:
    """Usage as all kinds tell it: of this turn alone, so far; the input includes what came from a cache."""
    return {
        "type": "usage",
        "input_tokens": given,
        "cached_input_tokens": cached,
        "output_tokens": made,
        "total_tokens": given + made,
    }
