"""A flow's functions: what a person wrote, called at arm's length. It may raise, hang, lie, or kill its process.

The call always gives an answer, and an answer says no more than is known: only `UNKNOWN` leaves open what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from orchestrator.domain.call import Answer, Call, FlowUnknown, Late, Said
from orchestrator.domain.step import FlowContract

T = TypeVar("T")


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
        """Call it; returns after the call's time-out at the latest, plus what ending it takes. Never raises.

        In a walk that is watched it does not return at all when it is late.
        """
        ...

    def watched(self, walk: Callable[[Late | None], T], *, shortest_seconds: float) -> T:
        """What a walk over steps returns or raises, whose calls may all be late after `shortest_seconds` or more.

        One that is in a call too long is abandoned in it, and begun anew with what is to be said of that call.
        """
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

    def watched(self, walk: Callable[[Late | None], T], *, shortest_seconds: float) -> T:
        """The walk, plainly."""
        del shortest_seconds
        return walk(None)


NO_FLOWS = NoFlows()
