"""One call of a function that a person wrote, and what came of it: an answer says no more than is known.

Only `UNKNOWN` leaves open what happened. These values go into the process that makes the call, so this file imports as
little as that process needs. A call and its answer are tuples: every step makes one of each, and a frozen dataclass
takes twice as long to make.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

_NOTHING: Mapping[str, object] = MappingProxyType({})

# What an agent program may leave in its folder as its proposal; else its summary is taken for one.
PROPOSAL_FILE = "proposal.json"


class Part(Enum):
    """Which function of a step is called."""

    RUN = "run"  # a step's own
    DECIDE = "decide"  # a function that stands for an agent, then schema, authority and policy on what it said
    PROMPT = "prompt"  # what an agent program is asked
    JUDGE = "judge"  # schema, authority and policy on what an agent program left
    QUESTION = "question"  # what a person is asked
    ANSWER = "answer"  # schema and policy on what a person answered
    PREPARE = "prepare"  # an effect's key and parameters
    ACT = "act"  # the effect itself, with the ledger's parameters
    LOOK_UP = "look_up"  # whether the effect happened, by key


class Said(Enum):
    """What came of a call."""

    DONE = "done"  # `value` is the output
    TRY_AGAIN = "try_again"  # it failed in a way that another attempt may not
    FAILED = "failed"  # it failed, and would again
    REFUSED = "refused"  # a proposal was not accepted, or a target said no
    NOT_SENT = "not_sent"  # an act that surely did not happen
    ABSENT = "absent"  # a look-up found nothing
    UNKNOWN = "unknown"  # an act of which nobody knows whether it happened, or a look-up that could not be made
    STOPPED = "stopped"  # we ended it: cancelled, fence lost, worker stopping


class Call(NamedTuple):
    """One call of one function.

    `send_before` is the reading of the boot clock after which an act must not be sent any more. `authority` is what the
    task was given.
    """

    turn_id: UUID
    fence: int
    flow: str
    step: str
    part: Part
    task: str
    timeout_seconds: float
    input: object = None
    outputs: Mapping[str, object] = _NOTHING
    authority: frozenset[str] = frozenset()
    key: str = ""
    parameters: Mapping[str, object] = _NOTHING
    send_before: float | None = None


class Answer(NamedTuple):
    """What a call gave. `ends` is why the flow ends here; `key` and `parameters` are those of a prepared effect."""

    said: Said
    value: object = None
    reason: str = ""
    ends: str | None = None
    key: str = ""
    parameters: Mapping[str, object] = _NOTHING


@dataclass(frozen=True, slots=True)
class Late:
    """A call of a step that took too long, and what is to be said of it: it goes on, and nobody listens."""

    step: str
    answer: Answer


class FlowUnknown(LookupError):
    """No flow of that name can be found here; the message says where was looked, and what was found."""
