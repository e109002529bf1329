"""Which writes a turn's start and end put in the outbox: observed facts, under keys derived from the item."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.domain import keys, notes
from orchestrator.domain.contract import fold
from orchestrator.domain.item import Item
from orchestrator.domain.notes import Speaker
from orchestrator.domain.sighting import Sighting
from orchestrator.domain.turn import Conclusion, Ending, Handoff
from orchestrator.domain.workflow import Workflow
from orchestrator.domain.writeback import Comment, Move, Role, Write, WriteKind
from orchestrator.ports.store import Admitted


def started(installation: str, admitted: Admitted, *, workflow: Workflow, item: Item) -> tuple[Write, ...]:
    """The card goes to in progress, where it is not there yet, and its status comment says that a turn runs."""
    note = notes.started(admitted.ordinal, attempt=admitted.counters.attempt, branch=_branch(admitted, workflow))
    comment = Write(WriteKind.STARTED, Comment(keys.status_comment_key(installation), note))
    target = workflow.contract.in_progress
    if target is None or fold(target) == fold(item.state):
        return (comment,)
    return Write(WriteKind.STARTED, _move(Role.IN_PROGRESS, admitted, workflow)), comment


def ended(
    installation: str, admitted: Admitted, *, workflow: Workflow, conclusion: Conclusion, ending: Ending
) -> tuple[Write, ...]:
    """The status comment with the turn's end; a hand-off moves the card; a hold has a comment of its own."""
    speaker = Speaker(installation, admitted.ref.turn_id, admitted.ordinal, _branch(admitted, workflow))
    told = notes.parting(speaker, conclusion, ending.summary or ending.reason)
    if isinstance(conclusion, Handoff):
        return Write(told[0].kind, _move(Role.HANDOFF, admitted, workflow)), *told
    return told


def after(writes: tuple[Write, ...], seen: Sighting) -> tuple[Write, ...]:
    """The same writes, their moves written after that look at the card."""
    return tuple(
        replace(write, act=replace(write.act, seen=seen)) if isinstance(write.act, Move) else write for write in writes
    )


def _move(role: Role, admitted: Admitted, workflow: Workflow) -> Move:
    return Move(role, _only_from(admitted, workflow), admitted.sighting)


def _only_from(admitted: Admitted, workflow: Workflow) -> tuple[str, ...]:
    """Exactly the state at dispatch and in progress: a person's move to any other state wins (TW-05)."""
    target = workflow.contract.in_progress
    state = admitted.sighting.state
    return (state,) if target is None or fold(target) == fold(state) else (state, target)


def _branch(admitted: Admitted, workflow: Workflow) -> str | None:
    if workflow.workspace.repository is None:
        return None
    return keys.branch_name(workflow.workspace.branch, admitted.identifier)
