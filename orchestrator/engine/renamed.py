"""Tells a column that was renamed from a card that was moved: the board is asked, as no tick may have seen it yet.

Two looks at a card whose column was renamed in between show two states, and nobody moved it. The sign is that its state
plays no part in the contract while the board lacks one that does.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.domain import contract as contracts
from orchestrator.domain.contract import StateContract, fold
from orchestrator.ports.tracker import Tracker


def lacking(tracker: Tracker, state: str, contract: StateContract) -> str | None:
    """What the board lacks when a card stands in `state` for a rename and not for a move; None when it was moved.

    Asks the board only where the state plays no part. Raises TrackerError.
    """
    live = columns(tracker, state, contract)
    return None if live is None else missing(contract, live)


def doubt(tracker: Tracker, state: str, contract: StateContract) -> str | None:
    """What speaks against a card having been moved to `state`, where it was just seen; None: nothing.

    A column that the board does not have has its old name back since that look, or a hand wrote it: the next look
    tells. Raises TrackerError.
    """
    live = columns(tracker, state, contract)
    if live is None:
        return None
    return missing(contract, live) or (None if has(live, state) else f"the board has no column {state!r} any more")


def has(live: Sequence[str], state: str) -> bool:
    """Whether a board with these columns has that one."""
    return fold(state) in set(map(fold, live))


def columns(tracker: Tracker, state: str, contract: StateContract) -> tuple[str, ...] | None:
    """The board's columns, asked for where `state` plays no part in the contract; None where it does."""
    if any(fold(state) == fold(known) for _, known in contract.roles()):
        return None
    return tracker.states()


def missing(contract: StateContract, live: Sequence[str]) -> str | None:
    """What a board with these columns lacks, in words; None: nothing."""
    found = contracts.missing(contract, live)
    return found[0].message if found else None
