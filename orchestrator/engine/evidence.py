"""Whether anything stands behind an agent's `done`, for a workflow whose hand-offs ask for that (TW-14).

What counts is the workspace before the task's first agent began against the workspace now, over all turns between: what
a turn that was lost has committed is evidence too. The verdict is yes, no or cannot tell, and the last is not a no.
"""

from __future__ import annotations

from dataclasses import replace

from orchestrator.domain.turn import Ending, Outcome, StopReason
from orchestrator.domain.workflow import Evidence
from orchestrator.engine import patience
from orchestrator.engine.desk import Desk
from orchestrator.ports.store import StepRecord
from orchestrator.ports.workspaces import Workspace, WorkspaceFailed

# Beside the turn's own steps, which count from 1, and its hooks'.
_ORDINAL, _NAME = 104, "baseline"


def remember(desk: Desk, workspace: Workspace) -> None:
    """Record what stands in the workspace right before the agent begins: a fact."""
    if desk.workflow.agent.evidence is Evidence.CHANGE:
        step = StepRecord(_ORDINAL, _NAME, {"head": workspace.head, "dirty": workspace.dirty})
        patience.persist(lambda: desk.ports.store.turns.record_step(desk.admitted.ref, step))


def weigh(desk: Desk, workspace: Workspace, ending: Ending) -> Ending:
    """The ending that counts: `done` without a change is a failure, and one that cannot be told waits for a person."""
    if desk.workflow.agent.evidence is not Evidence.CHANGE or ending.outcome is not Outcome.DONE:
        return ending
    first = patience.persist(lambda: desk.ports.store.turns.first_step(desk.admitted.ref, _NAME)) or {}
    head, dirty = first.get("head"), first.get("dirty")
    before = replace(workspace, head=None if head is None else str(head), dirty=str(dirty))
    try:
        if desk.ports.workspaces.changed_since(before):
            return ending
    except WorkspaceFailed as fault:
        reason = f"the agent reported done, and whether it changed anything cannot be told: {fault}"
        return replace(ending, outcome=Outcome.BLOCKED, stop=StopReason.CONTRACT_BROKEN, reason=reason)
    reason = (
        "the agent reported done, and nothing has changed since the card's task began; 'no_change' is the word for that"
    )
    return replace(ending, outcome=Outcome.FAILED, stop=StopReason.NO_EVIDENCE, reason=reason)
