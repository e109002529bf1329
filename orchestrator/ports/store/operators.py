"""What a person's commands do: hold, release, resume, discard; each one commit, under the lock of what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from orchestrator.domain.hold import HoldKind, HoldScope


@dataclass(frozen=True, slots=True)
class Place:
    """What a command is about: an item by its row, a workflow by its name, or the fleet. `name` is for people."""

    scope: HoldScope
    name: str
    workflow: str | None = None
    item_key: int | None = None


@dataclass(frozen=True, slots=True)
class Hand:
    """Who acts, and why; both stand in the record."""

    by: str
    reason: str


class OperatorStore(Protocol):
    """A person's commands."""

    def places(self, key: str) -> Sequence[Place]:
        """Every item of that key; a card that was only ever left out gets its row now, so that it can be held."""
        ...

    def workflow(self, name: str) -> Place | None:
        """A workflow in force, None when there is none of that name."""
        ...

    def dead_letters(self, workflow: str | None) -> Sequence[Place]:
        """The items that are dead letters, of one workflow or of all, the oldest first."""
        ...

    def hold(self, place: Place, hand: Hand, *, seconds: float | None, stop: bool = False) -> bool:
        """Hold it, for so long or until it is released; False when a person's hold stands on it already.

        An item's queued turn ends and is opened again after the hold. `stop` ends the running one too, with its task.
        """
        ...

    def release(self, place: Place, hand: Hand) -> Sequence[HoldKind]:
        """Lift what a person may lift there, dead letters left alone; returns the kinds, none when nothing stood."""
        ...

    def wake(self, place: Place, hand: Hand) -> bool:
        """End a workflow's rest, whatever a provider asked for; False when it did not rest."""
        ...

    def resume(self, place: Place, hand: Hand) -> bool:
        """Lift an item's dead letter: its task is due, its caps count anew. False when it is none."""
        ...

    def discard(self, place: Place, hand: Hand) -> bool:
        """Fail a dead letter's task with its stop reason; the item stays held until a person moves it. False: none."""
        ...
