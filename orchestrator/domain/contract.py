"""The state contract: which states of the tracker play which role, and what makes such a contract wrong.

Comparison trims and folds case; the tracker's own spelling is kept for what people read and for writes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


def fold(state: str) -> str:
    """A state's name as it is compared: trimmed, and folded by Unicode's rules rather than lower-cased."""
    return state.strip().casefold()


@dataclass(frozen=True, slots=True)
class StateContract:
    """The roles. `active` may start agents, `terminal` is a decision made, the two others are where we write."""

    active: tuple[str, ...]
    terminal: tuple[str, ...]
    in_progress: str | None = None
    handoff: str | None = None
    _active: frozenset[str] = field(init=False, repr=False, compare=False)
    _terminal: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Fold the sets once: `plan` asks for each item of a board of a hundred thousand."""
        object.__setattr__(self, "_active", frozenset(map(fold, self.active)))
        object.__setattr__(self, "_terminal", frozenset(map(fold, self.terminal)))

    def is_terminal(self, state: str) -> bool:
        """Whether a person has decided: nothing is dispatched, nothing is written over it."""
        return fold(state) in self._terminal

    def is_active(self, state: str) -> bool:
        """Whether an item in this state may have an agent; terminal wins where a contract says both."""
        folded = fold(state)
        return folded in self._active and folded not in self._terminal

    def is_handoff(self, state: str) -> bool:
        """Whether the state is where a finished turn parks its item."""
        return self.handoff is not None and fold(state) == fold(self.handoff)

    def roles(self) -> Iterator[tuple[str, str]]:
        """Each configured state with the key that names it, in the order in which a person reads the file."""
        yield from (("active_states", state) for state in self.active)
        yield from (("terminal_states", state) for state in self.terminal)
        if self.in_progress is not None:
            yield "in_progress_state", self.in_progress
        if self.handoff is not None:
            yield "handoff_state", self.handoff


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule: the rule's ID in docs/contracts.md, the key that is wrong, and a sentence for its author."""

    rule: str
    key: str
    message: str


def problems(contract: StateContract) -> tuple[Problem, ...]:
    """Every rule of the contract that is broken, without asking the tracker (SC-01 to SC-09); empty means sound."""
    return (*_blank(contract), *_absent(contract), *_duplicates(contract), *_overlaps(contract))


def missing(contract: StateContract, live_states: Iterable[str]) -> tuple[Problem, ...]:
    """Each configured state that the tracker does not have now (SC-14), with the closest state that it has."""
    live = {fold(state): state for state in live_states}
    return tuple(
        Problem("SC-14", f"tracker.{key}", f"the tracker has no state {state!r}{_closest(state, live)}")
        for key, state in contract.roles()
        if fold(state) not in live
    )


def _closest(state: str, live: dict[str, str]) -> str:
    near = difflib.get_close_matches(fold(state), list(live), n=1, cutoff=0.4)
    known = ", ".join(repr(name) for name in live.values())
    return f"; the closest that it has is {live[near[0]]!r}" if near else f"; it has {known or 'none at all'}"


def _blank(contract: StateContract) -> Iterator[Problem]:
    for key, state in contract.roles():
        if not fold(state):
            yield Problem("SC-01", f"tracker.{key}", "a state's name must not be empty")


def _absent(contract: StateContract) -> Iterator[Problem]:
    for key, states in (("active_states", contract.active), ("terminal_states", contract.terminal)):
        if not states:
            yield Problem("SC-08", f"tracker.{key}", "at least one state is needed")


def _duplicates(contract: StateContract) -> Iterator[Problem]:
    for key, states in (("active_states", contract.active), ("terminal_states", contract.terminal)):
        folded = [fold(state) for state in states]
        for state in sorted({name for name in folded if folded.count(name) > 1}):
            message = f"{state!r} is listed more than once (case and spaces do not count)"
            yield Problem("SC-09", f"tracker.{key}", message)


def _overlaps(contract: StateContract) -> Iterator[Problem]:
    active, terminal = set(map(fold, contract.active)), set(map(fold, contract.terminal))
    for state in sorted(active & terminal):
        yield Problem("SC-07", "tracker.active_states", f"{state!r} is both active and terminal")
    if contract.handoff is not None:
        yield from _handoff_overlaps(fold(contract.handoff), active, terminal)
    if contract.in_progress is not None:
        yield from _in_progress_overlaps(contract, active, terminal)


def _handoff_overlaps(handoff: str, active: set[str], terminal: set[str]) -> Iterator[Problem]:
    if handoff in active:
        message = f"{handoff!r} is also an active state: finished work would start again for ever"
        yield Problem("SC-02", "tracker.handoff_state", message)
    if handoff in terminal:
        message = f"{handoff!r} is also a terminal state: the fleet must not decide that work is done"
        yield Problem("SC-03", "tracker.handoff_state", message)


def _in_progress_overlaps(contract: StateContract, active: set[str], terminal: set[str]) -> Iterator[Problem]:
    state = fold(contract.in_progress or "")
    if state not in active:
        message = f"{state!r} is not an active state: our own write would take the item from its work set"
        yield Problem("SC-04", "tracker.in_progress_state", message)
    if state in terminal:
        yield Problem("SC-05", "tracker.in_progress_state", f"{state!r} is also a terminal state")
    if contract.handoff is not None and state == fold(contract.handoff):
        yield Problem("SC-06", "tracker.in_progress_state", f"{state!r} is also the handoff state")
