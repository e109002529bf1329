"""Which writes a turn's start and end put in the outbox: observed facts, under keys derived from the item."""

from __future__ import annotations

from orchestrator.domain import keys, notes
from orchestrator.domain.contract import fold
from orchestrator.domain.item import Item
from orchestrator.domain.turn import Conclusion, End, Ending, Handoff, Parked, StopReason
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
    return Write(WriteKind.STARTED, Move(Role.IN_PROGRESS, _only_from(admitted, workflow))), comment


def ended(
    installation: str, admitted: Admitted, *, workflow: Workflow, conclusion: Conclusion, ending: Ending
) -> tuple[Write, ...]:
    """The status comment with the turn's end; a hand-off moves the card; a hold has a comment of its own."""
    branch = _branch(admitted, workflow)
    note = notes.ended(conclusion, admitted.ordinal, summary=ending.summary or ending.reason, branch=branch)
    status = Comment(keys.status_comment_key(installation), note)
    match conclusion:
        case Handoff(stop=stop):
            kind = WriteKind.NO_CHANGE if stop is StopReason.NO_CHANGE else WriteKind.TURN_ENDED
            return Write(kind, Move(Role.HANDOFF, _only_from(admitted, workflow))), Write(kind, status)
        case End():
            return (Write(WriteKind.CANCELLED, status),)
        case Parked():
            key = keys.hold_comment_key(installation, str(admitted.ref.turn_id))
            held = Comment(key, notes.held(conclusion, branch=branch))
            return Write(WriteKind.TURN_ENDED, status), Write(WriteKind.HOLD, held)
        case _:
            return (Write(WriteKind.TURN_ENDED, status),)


def _only_from(admitted: Admitted, workflow: Workflow) -> tuple[str, ...]:
    """Exactly the state at dispatch and in progress: a person's move to any other state wins (TW-05)."""
    target = workflow.contract.in_progress
    return (admitted.state,) if target is None or fold(target) == fold(admitted.state) else (admitted.state, target)


def _branch(admitted: Admitted, workflow: Workflow) -> str | None:
    if workflow.workspace.repository is None:
        return None
    return keys.branch_name(workflow.workspace.branch, admitted.identifier)
