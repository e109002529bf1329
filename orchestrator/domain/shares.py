"""Who gets the free worker slots when several workflows want more than there are: each as much as any other.

Every workflow's tick deals the same slots to the same hands, and takes only its own: so no two of them leave a slot to
each other, and a long column never starves a short one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Claim:
    """A workflow that wants slots: how many turns it has, how many it could begin, when it opened its last one."""

    workflow: str
    open_turns: int
    waiting: int
    served_at: datetime | None = None


def deal(free: int, claims: Iterable[Claim]) -> Counter[str]:
    """How many of the free slots each workflow gets: one by one to the poorest, of these to whom none went longest."""
    hands = list(claims)
    dealt: Counter[str] = Counter()
    for _ in range(min(free, sum(claim.waiting for claim in hands))):
        poorest = min(
            (claim for claim in hands if dealt[claim.workflow] < claim.waiting),
            key=lambda claim: (claim.open_turns + dealt[claim.workflow], *_since(claim)),
        )
        dealt[poorest.workflow] += 1
    return dealt


def _since(claim: Claim) -> tuple[float, str]:
    return (claim.served_at.timestamp() if claim.served_at is not None else 0.0), claim.workflow
