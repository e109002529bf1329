#!/usr/bin/env python3
"""Writes docs/lifecycle.md from the tables and closed lists in the code: `python docs/generate.py`.

The page says nothing of its own, and a house test fails while the two differ. What stands beside each member of a list
is the comment beside it in the code.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import TypeVar

from orchestrator.domain import effect, hold, select, task, turn, writeback

PAGE = Path(__file__).with_name("lifecycle.md")

# A member of an enumeration with the comment that says who sets it and what ends it.
MEMBER = re.compile(r'^    [A-Z_]+ = "(\w+)"  # (.*)$', re.MULTILINE)

OPENING = """\
# Lifecycle

Printed from the code by `python docs/generate.py`; a test fails while the two differ. *State* belongs to the board,
*status* to us.
"""


Status = TypeVar("Status", bound=Enum)


def lifecycle() -> str:
    """The whole page."""
    return "\n".join(_sections())


def _sections() -> Iterator[str]:
    yield OPENING
    yield task_machine(task.EDGES)
    yield _machine("The turn: one leased stretch of work on it", turn.TurnStatus, turn.TRANSITIONS)
    yield _machine("The effect: something done outside", effect.EffectStatus, effect.TRANSITIONS)
    yield _list("What a turn may do about an effect", effect.Move)
    yield _list("Why a turn ended", turn.StopReason)
    yield _list("Why a candidate did not start", select.NotDispatched)
    yield _list("Why something is held", hold.HoldKind)
    yield _list("What ends a hold", hold.Lift)
    yield _list("What is written on a card", writeback.WriteKind)
    yield _list("Where a write on a card stands", writeback.WriteStatus)


def task_machine(edges: tuple[task.Edge, ...]) -> str:
    """The task's diagram, its statuses, and each move with all that goes with it."""
    drawn = _machine("The task: the durable business of one item", task.TaskStatus, task.table(edges))
    head = (
        "| from | to | who | when | what is written | event | what ends the wait | after a crash |\n" + "|---" * 8 + "|"
    )
    rows = "\n".join(
        f"| `{edge.source.value}` | `{edge.target.value}` | {edge.actor} | {edge.precondition} | {edge.writes} "
        f"| `{edge.event}` | {edge.timeout} | {edge.recovery} |"
        for edge in edges
    )
    return f"{drawn}\n{head}\n{rows}\n"


def _machine(title: str, statuses: type[Status], transitions: Mapping[Status, frozenset[Status]]) -> str:
    edges = "\n".join(f"    {edge}" for edge in _edges(statuses, transitions))
    return f"## {title}\n\n```mermaid\nstateDiagram-v2\n{edges}\n```\n\n{_table(statuses, 'status')}"


def _edges(statuses: type[Status], transitions: Mapping[Status, frozenset[Status]]) -> Iterator[str]:
    """The arrows in the enumeration's order; a status that no other leads to begins, a final one ends."""
    reached = frozenset().union(*transitions.values())
    for status in statuses:
        if status not in reached:
            yield f"[*] --> {status.value}"
        for following in statuses:
            if following in transitions[status]:
                yield f"{status.value} --> {following.value}"
        if not transitions[status]:
            yield f"{status.value} --> [*]"


def _list(title: str, members: type[Enum]) -> str:
    return f"## {title}\n\n{_table(members, 'reason' if title.startswith('Why') else 'name')}"


def _table(members: type[Enum], heading: str) -> str:
    comments = dict(MEMBER.findall(inspect.getsource(members)))
    rows = "\n".join(f"| `{member.value}` | {comments[member.value]} |" for member in members)
    return f"| {heading} | meaning |\n|---|---|\n{rows}\n"


if __name__ == "__main__":
    PAGE.write_text(lifecycle(), encoding="utf-8")
