"""Whether two workflows would reach for the same cards, or for one folder: then neither could tell whose it is."""

from __future__ import annotations

from orchestrator.domain.contract import fold
from orchestrator.domain.select import Limits
from orchestrator.domain.workflow import Workflow


def overlap(one: Workflow, other: Workflow) -> str | None:
    """Why both could want the same item (SC-19), for a person; None when no card can be in both work sets."""
    if one.scope != other.scope or _is_divided(one.limits, other.limits):
        return None
    theirs = {fold(state) for state in other.contract.active}
    shared = [state for state in one.contract.active if fold(state) in theirs]
    if not shared:
        return None
    states = ", ".join(repr(state) for state in shared)
    return f"workflow {other.name!r} serves the same board and is active in {states} too, for cards of anybody alike"


def shared_root(one: Workflow, other: Workflow) -> str | None:
    """What a person should know of two boards whose cards are worked on below one folder; None when they are not."""
    if one.scope == other.scope or one.workspace.root != other.workspace.root:
        return None
    boards = f"workflows {one.name!r} and {other.name!r} serve two boards and share workspace.root {one.workspace.root}"
    return f"{boards}; of cards that bear one key only the first would be worked on: give each a root of its own"


def _is_divided(one: Limits, other: Limits) -> bool:
    """Whether the filters exclude each other. Labels never do: a card can bear those of both."""
    if one.assignee is not None and other.assignee is not None and fold(one.assignee) != fold(other.assignee):
        return True
    ours, theirs = set(map(fold, one.trusted_authors)), set(map(fold, other.trusted_authors))
    return bool(ours) and bool(theirs) and not ours & theirs
