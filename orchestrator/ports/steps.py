"""A flow's functions: what a person wrote, called at arm's length. It may raise, hang, lie, or kill its process.

The call always gives an answer, and an answer says no more than is known: only `UNKNOWN` leaves open what happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol
from uuid import UUID

from orchestrator.domain.step import FlowContract


class Part(Enum):
    """Which function of a step is called."""

    RUN = "run"  # a step's own
    DECIDE = "decide"  # the agent, then schema, authority and policy on what it said
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


@dataclass(frozen=True, slots=True)
class Call:
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
    outputs: Mapping[str, object] = field(default_factory=dict)
    authority: frozenset[str] = frozenset()
    key: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    send_before: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave. `ends` is why the flow ends here; `key` and `parameters` are those of a prepared effect."""

    said: Said
    value: object = None
    reason: str = ""
    ends: str | None = None
    key: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)


class FlowUnknown(LookupError):
    """No flow of that name can be found here; the message says where was looked, and what was found."""


class Flows(Protocol):
    """The flows that this process can run."""

    def names(self) -> tuple[str, ...]:
        """Every flow's name, in order. Raises FlowUnknown when one of them cannot be loaded."""
        ...

    def contract(self, name: str) -> FlowContract:
        """A flow's contract. Raises FlowUnknown."""
        ...

    def check_input(self, name: str, value: object) -> object:
        """The input as the flow's type has it. Raises ValueError, with what was found and expected."""
        ...


class Steps(Protocol):
    """Who calls a flow's functions."""

    def perform(self, call: Call, *, isolated: bool) -> Answer:
        """Call it; returns after the call's time-out at the latest, plus what ending it takes. Never raises."""
        ...


class NoFlows:
    """The flows of a process that has none."""

    def names(self) -> tuple[str, ...]:
        """None."""
        return ()

    def contract(self, name: str) -> FlowContract:
        """Raises FlowUnknown."""
        raise FlowUnknown(f"no flow is called {name!r} here; name some as module:NAME in STATIONKEEPER_FLOWS")

    def check_input(self, name: str, value: object) -> object:
        """Raises FlowUnknown."""
        del value
        return self.contract(name)

    def perform(self, call: Call, *, isolated: bool) -> Answer:
        """Nothing is called: there is nothing."""
        del isolated
        return Answer(Said.FAILED, reason=f"no flow is called {call.flow!r} here")


NO_FLOWS = NoFlows()
