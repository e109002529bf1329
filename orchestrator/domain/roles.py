"""A first guess at the roles of a board's states, by their names and their order; a person corrects it in the file.

The guess is always a sound contract, or none: where the names say too little it would rather leave a role out.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.domain.contract import StateContract, fold

# As teams name their columns, folded. A name that is in no list is nobody's but a person's.
_TERMINAL = frozenset(
    {
        "done",
        "closed",
        "complete",
        "completed",
        "cancelled",
        "canceled",
        "duplicate",
        "archived",
        "released",
        "merged",
        "resolved",
        "dropped",
        "abandoned",
        "rejected",
        "shipped",
        "wontfix",
        "won't do",
        "wont do",
        "won't fix",
    }
)
_IN_PROGRESS = frozenset({"in progress", "doing", "wip", "started", "working", "in development", "in work"})
_WAITING = frozenset({"to do", "todo", "ready", "open", "next", "up next", "selected", "new", "queued", "planned"})
_REVIEW = ("review", "testing", "verify", "verification", "qa")
# Not wanted yet: a card in one of these waits for a person.
_PARKED = ("backlog", "icebox", "idea", "draft", "triage", "block", "hold", "wait", "later", "someday")


def guess(states: Sequence[str]) -> StateContract | None:
    """The contract for a board with these states in the board's order; None when they are too few for one."""
    named = {fold(state): state for state in states if fold(state)}
    terminal = [name for name in named if name in _TERMINAL] or list(named)[-1:]
    rest = [name for name in named if name not in terminal]
    in_progress = next((name for name in rest if name in _IN_PROGRESS), None)
    handoff = next((name for name in rest if name != in_progress and _is_review(name)), None)
    free = [name for name in rest if name not in {in_progress, handoff} and not any(word in name for word in _PARKED)]
    active = [name for name in free if name in _WAITING] or [name for name in free if not _is_review(name)][:1]
    if in_progress is not None:
        active.append(in_progress)
    if not active:
        return None
    return StateContract(
        active=tuple(state for name, state in named.items() if name in active),
        terminal=tuple(named[name] for name in terminal),
        in_progress=named[in_progress] if in_progress else None,
        handoff=named[handoff] if handoff else None,
    )


def _is_review(name: str) -> bool:
    return any(word in name.split() or (word == "review" and word in name) for word in _REVIEW)
