"""The agent's part of a turn: workspace, prompt, the program under the supervisor, and the facts that it brings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestrator.domain.keys import UnsafeIdentifier
from orchestrator.domain.push import Branch
from orchestrator.domain.turn import Ending, Outcome, StopReason
from orchestrator.domain.workflow import Hook
from orchestrator.engine import evidence, hooks, patience, pushes, refused, watching
from orchestrator.engine.desk import Desk
from orchestrator.ports.agent import AgentEvent, AgentMisconfigured, AgentTurn
from orchestrator.ports.prompts import PromptFailed
from orchestrator.ports.remotes import PushFailed
from orchestrator.ports.store import Made, StepRecord
from orchestrator.ports.supervisor import Refusal, SpawnFailed
from orchestrator.ports.workspaces import Workspace, WorkspaceBusy, WorkspaceFailed

# A checkout of a large repository takes minutes; past this it hangs, and the lease is not renewed any more.
PREPARE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Ready:
    """A turn whose agent can start."""

    desk: Desk
    workspace: Workspace
    prompt: str
    branch: Branch


def prepare(desk: Desk) -> Ready | Ending | None:
    """The workspace and the prompt; how the turn ended without an agent, or None when it was lost on the way."""
    desk.ports.supervisor().begin_step(desk.admitted.ref.turn_id, PREPARE_SECONDS)
    branch = pushes.known(desk)
    if isinstance(branch, Ending):
        return branch
    try:
        _check_root(desk)
        start, has_hook = pushes.start(desk, branch), Hook.AFTER_CREATE in desk.workflow.hooks.commands
        workspace = desk.ports.workspaces.prepare(
            desk.workflow.workspace, desk.item.identifier, start=start, has_hook=has_hook
        )
        prompt = _prompt(desk)
    except PromptFailed as fault:
        return Ending(Outcome.BLOCKED, StopReason.CONTRACT_BROKEN, reason=f"the prompt could not be rendered: {fault}")
    except WorkspaceBusy as fault:
        return Ending(Outcome.FAILED, StopReason.WORKSPACE_BUSY, reason=str(fault))
    except PushFailed as fault:
        return Ending(Outcome.FAILED, StopReason.READ_FAILED, reason=str(fault))
    except (WorkspaceFailed, UnsafeIdentifier) as fault:
        return Ending(Outcome.FAILED, StopReason.CONTRACT_BROKEN, reason=str(fault))
    if not _checkpoint(desk, _prepared(desk, workspace)):
        return refused.why(desk.ports, desk.admitted, lease_seconds=desk.worker.lease_seconds)
    return Ready(desk, workspace, prompt, branch)


def _check_root(desk: Desk) -> None:
    """A root that every host is to see must be one folder: else the work of a card is looked for where it is not."""
    settings = desk.workflow.workspace
    if not settings.shared:
        return
    root = desk.ports.workspaces.root(settings)
    if patience.persist(lambda: desk.ports.store.workspaces.shared_root(root.path, root.id)) != root.id:
        here = f"on host {desk.worker.identity.host} it is another folder than the hosts before it saw"
        remedy = "mount the same one here, or take workspace.shared out"
        raise WorkspaceFailed(f"{root.path}: workspace.shared says that every host sees it, and {here}; {remedy}")


def run(ready: Ready) -> Ending | None:
    """Run the agent, record what it brought; returns how it ended, None when the turn was lost on the way."""
    desk, workspace = ready.desk, ready.workspace
    left = pushes.first(desk, workspace, ready.branch)
    if not isinstance(left, Branch):
        return left
    ending, push = _worked(desk, workspace, ready.prompt, branch=left)
    meant = push.record if push is not None else None
    if not _checkpoint(desk, StepRecord(3, "agent", _outcome(ending), push=meant)):
        return refused.why(desk.ports, desk.admitted, lease_seconds=desk.worker.lease_seconds)
    return pushes.carry_out(desk, workspace, push, ending=ending)


def _worked(desk: Desk, workspace: Workspace, prompt: str, *, branch: Branch) -> tuple[Ending, pushes.Push | None]:
    """The attempt with its hooks, and what it left to be pushed."""
    ending = hooks.complete(desk, workspace)
    if ending is not None:
        return ending, None
    ending = _attempt(desk, workspace, prompt)
    try:
        return ending, pushes.due(desk, workspace, branch)
    except WorkspaceFailed as fault:
        return Ending(Outcome.FAILED, StopReason.AGENT_FAILED, reason=str(fault)), None


def _prepared(desk: Desk, workspace: Workspace) -> StepRecord:
    """The step, with where the work lies: by that the workspace is found again when it may go."""
    made = Made(
        host=desk.worker.identity.host,
        path=workspace.path,
        root=workspace.path.parent,
        lock_path=workspace.lock_path,
        repository=workspace.repository,
        branch=workspace.branch,
        is_shared=desk.workflow.workspace.shared,
    )
    return StepRecord(2, "workspace", _described(workspace), str(_transcript(desk)), made)


def _attempt(desk: Desk, workspace: Workspace, prompt: str) -> Ending:
    """One attempt between its hooks. What they do to the workspace is no evidence of the agent's work."""
    ending = hooks.before(desk, workspace)
    if ending is None:
        found = desk.ports.workspaces.inspect(workspace) if desk.workflow.hooks.commands else workspace
        evidence.remember(desk, found)
        ending = evidence.weigh(desk, found, _run_agent(desk, _agent_turn(desk, found, prompt)))
    hooks.after(desk, workspace, ending)
    return ending


def _run_agent(desk: Desk, order: AgentTurn) -> Ending:
    """The program under the supervisor; each event is a fact, recorded as it comes."""
    try:
        session = desk.ports.agent(desk.workflow).start(order, desk.ports.supervisor())
    except SpawnFailed as fault:
        return _not_started(fault)
    except AgentMisconfigured as fault:
        return Ending(Outcome.BLOCKED, StopReason.CONTRACT_BROKEN, reason=str(fault))
    return watching.heard(
        session,
        lambda event: _record(desk, event),
        most_repeats=desk.workflow.agent.max_repeated_calls,
        flagged=lambda: desk.ports.supervisor().cancelled(order.turn_id),
    )


def _not_started(fault: SpawnFailed) -> Ending:
    """Whether another try makes sense: not where a person has to put something right first (AE-02)."""
    if fault.refusal in _FOR_A_PERSON:
        return Ending(Outcome.BLOCKED, StopReason.CONTRACT_BROKEN, reason=str(fault))
    busy = fault.refusal is Refusal.WORKSPACE_BUSY
    return Ending(Outcome.FAILED, StopReason.WORKSPACE_BUSY if busy else StopReason.AGENT_FAILED, reason=str(fault))


_FOR_A_PERSON = frozenset({Refusal.AGENT_NOT_FOUND, Refusal.INVALID_WORKSPACE_CWD, Refusal.MISSING_VARIABLE})


def _record(desk: Desk, event: AgentEvent) -> None:
    turns, ref = desk.ports.store.turns, desk.admitted.ref
    if event.type == "usage":
        patience.persist(lambda: turns.record_usage(ref, event.data))
    elif event.type == "session" and isinstance(event.data.get("session"), str):
        session = str(event.data["session"])
        patience.persist(lambda: turns.record_session(ref, session))


def _checkpoint(desk: Desk, step: StepRecord) -> bool:
    turns, lease = desk.ports.store.turns, desk.worker.lease_seconds
    return patience.persist(lambda: turns.checkpoint(desk.admitted.ref, step, lease_seconds=lease))


def _transcript(desk: Desk) -> Path:
    return desk.folder() / "transcript.log"


def _described(workspace: Workspace) -> dict[str, object]:
    return {
        "path": str(workspace.path),
        "branch": workspace.branch,
        "head": workspace.head,
        "created": workspace.created_now,
    }


def _outcome(ending: Ending) -> dict[str, object]:
    return {
        "outcome": ending.outcome.value,
        "stop": ending.stop.value,
        "summary": ending.summary,
        "reason": ending.reason,
    }


def _prompt(desk: Desk) -> str:
    counters = desk.admitted.counters
    run = {
        "turn_number": counters.turns_in_row,
        "max_turns": desk.workflow.turn_limits.max_turns,
        "is_continuation": counters.turns_in_row > 1,
    }
    attempt = counters.attempt if counters.attempt > 1 else None
    prompts, kind = desk.ports.prompts, desk.admitted.retry_kind
    if counters.turns_in_row > 1 and desk.session is not None:
        # The program named a session at an earlier turn and is handed it again: that session has the whole prompt.
        return prompts.guidance(desk.item, attempt=attempt, run=run, retry_kind=kind)
    return prompts.render(desk.workflow.prompt, desk.item, attempt=attempt, run=run, retry_kind=kind)


def _agent_turn(desk: Desk, workspace: Workspace, prompt: str) -> AgentTurn:
    settings, ref = desk.workflow.agent, desk.admitted.ref
    folder = desk.folder()
    return AgentTurn(
        turn_id=ref.turn_id,
        fence=ref.fence,
        issue_id=desk.admitted.item_id,
        identifier=desk.admitted.identifier,
        attempt=desk.admitted.counters.attempt,
        prompt=prompt,
        workspace=workspace.path,
        scratch=folder,
        transcript=_transcript(desk),
        session=desk.session,
        timeout_seconds=settings.turn_timeout_ms / 1000,
        stall_seconds=settings.stall_timeout_ms / 1000 if settings.stall_timeout_ms > 0 else None,
        lock_path=workspace.lock_path,
        evidence=lambda: desk.ports.workspaces.changed_since(workspace),
    )
