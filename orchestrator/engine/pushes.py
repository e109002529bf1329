"""The engine's push of an item's branch, at every checkpoint that follows work: meant, sent, recorded.

The commit is named in a fenced checkpoint before it is sent, so a worker that lost its turn cannot begin a push; what
it had begun before it froze meets the lease of the push itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestrator.domain import keys
from orchestrator.domain.push import Branch, ForeignWork, Intended, Settled
from orchestrator.domain.turn import Ending, Outcome, StopReason
from orchestrator.engine import patience, refused
from orchestrator.engine.desk import Desk
from orchestrator.ports.remotes import PushFailed, PushRefused, Tip
from orchestrator.ports.store import StepRecord
from orchestrator.ports.workspaces import Workspace

# What a remote may take, all tries together; past this it hangs, and the lease is not renewed any more.
PUSH_SECONDS = 400.0
# Whoever stops a worker kills it soon after: one try of so long, and what did not arrive is looked up by the next turn.
_PARTING_SECONDS = 5.0
# An answer that was lost is looked up, and what did not arrive is sent again so many times.
_TRIES = 3
# Beside the turn's own steps, which count from 1, and its hooks'.
_FIRST_MEANT, _FIRST_PUSHED, _PUSHED = 201, 202, 203


@dataclass(frozen=True, slots=True)
class Push:
    """One push: what the records know of the branch, and what the workspace has."""

    known: Branch
    tip: Tip

    @property
    def record(self) -> Intended | Settled:
        """What the checkpoint before it says: the commit that is about to go, or that there is nothing to go."""
        if self.tip.sha is None or self.tip.sha == self.known.pushed:
            return Settled(self.known.pushed, is_whole=self.tip.is_clean)
        return Intended(self.tip.sha)


def known(desk: Desk) -> Branch | Ending:
    """What is known of the item's branch as the turn begins; the remote is asked where a push was left open.

    It is asked, too, by a host that begins from what another one pushed.
    """
    branch, remote = desk.admitted.branch, desk.workflow.workspace.remote
    if remote is None:
        return Branch()
    is_home = desk.workflow.workspace.shared or desk.admitted.home == desk.worker.identity.host
    if branch.pushing is None and (is_home or branch.pushed is None):
        return branch
    try:
        return branch.settle(desk.ports.remotes.found(remote, _name(desk)))
    except ForeignWork as fault:
        return _foreign(desk, fault)
    except PushFailed as fault:
        return Ending(Outcome.FAILED, StopReason.READ_FAILED, reason=str(fault))


def start(desk: Desk, branch: Branch) -> str | None:
    """The commit from which a host begins that has not the item's work: what was pushed last; fetched here.

    Raises PushFailed.
    """
    settings = desk.workflow.workspace
    if settings.remote is None or settings.repository is None or branch.pushed is None:
        return None
    if desk.admitted.home == desk.worker.identity.host or settings.shared:
        return None
    desk.ports.remotes.fetch(settings.remote, _name(desk), Path(settings.repository))
    return branch.pushed


def due(desk: Desk, workspace: Workspace, branch: Branch) -> Push | None:
    """What is to be pushed now; None where the workflow names no remote. Raises WorkspaceFailed."""
    settings = desk.workflow.workspace
    if settings.remote is None or settings.repository is None:
        return None
    return Push(branch, desk.ports.remotes.tip(workspace, settings))


def first(desk: Desk, workspace: Workspace, branch: Branch) -> Branch | Ending | None:
    """Push what an earlier turn left here and did not push, before an agent begins; None when the turn was lost."""
    push = due(desk, workspace, branch)
    if push is None or workspace.created_now or isinstance(push.record, Settled):
        return branch
    if not _checkpoint(desk, StepRecord(_FIRST_MEANT, "push meant", _said(push), push=push.record)):
        return refused.why(desk.ports, desk.admitted, lease_seconds=desk.worker.lease_seconds)
    fault = _send(desk, workspace, push)
    if fault is not None:
        return fault
    step = StepRecord(_FIRST_PUSHED, "pushed", _said(push), push=Settled(push.tip.sha, is_whole=False))
    if not _checkpoint(desk, step):
        return refused.why(desk.ports, desk.admitted, lease_seconds=desk.worker.lease_seconds)
    return Branch(push.tip.sha)


def carry_out(desk: Desk, workspace: Workspace, push: Push | None, *, ending: Ending) -> Ending | None:
    """Push what the checkpoint just named; work that could not be pushed is not handed off (TW-15)."""
    if push is None or isinstance(push.record, Settled):
        return ending
    is_parting = ending.stop is StopReason.DEPLOY
    fault = _part(desk, workspace, push) if is_parting else _send(desk, workspace, push)
    if fault is not None:
        return fault if ending.outcome is not Outcome.FAILED else ending
    step = StepRecord(_PUSHED, "pushed", _said(push), push=Settled(push.tip.sha, is_whole=push.tip.is_clean))
    if not _checkpoint(desk, step):
        return refused.why(desk.ports, desk.admitted, lease_seconds=desk.worker.lease_seconds)
    return ending


def _send(desk: Desk, workspace: Workspace, push: Push) -> Ending | None:
    """Send it; an answer that was lost is looked up before anything is sent again. None when it is there."""
    remote, commit = desk.workflow.workspace.remote, push.tip.sha
    assert remote is not None  # noqa: S101 -- there is no push without one
    assert commit is not None  # noqa: S101 -- nor without a commit
    desk.ports.supervisor().begin_step(desk.admitted.ref.turn_id, PUSH_SECONDS)
    branch, complaint = Branch(push.known.pushed, commit), ""
    for _ in range(_TRIES):
        try:
            desk.ports.remotes.push(remote, workspace, commit, expected=branch.pushed)
            return None
        except (PushRefused, PushFailed) as fault:
            complaint = str(fault)
        try:
            found = branch.settle(desk.ports.remotes.found(remote, _name(desk))).pushed
        except ForeignWork as fault:
            return _foreign(desk, fault)
        except PushFailed as fault:
            complaint = str(fault)
            continue
        if found == commit:
            return None
        branch = Branch(found, commit)
    return Ending(Outcome.BLOCKED, StopReason.PUSH_FAILED, reason=f"the work could not be pushed: {complaint}")


def _part(desk: Desk, workspace: Workspace, push: Push) -> Ending | None:
    """Send it once and briefly: the worker is being stopped, and if its host goes too, what stays behind is held."""
    remote, commit = desk.workflow.workspace.remote, push.tip.sha
    assert remote is not None  # noqa: S101 -- there is no push without one
    assert commit is not None  # noqa: S101 -- nor without a commit
    try:
        desk.ports.remotes.push(remote, workspace, commit, expected=push.known.pushed, seconds=_PARTING_SECONDS)
    except (PushRefused, PushFailed) as fault:
        return Ending(Outcome.FAILED, StopReason.DEPLOY, reason=str(fault))
    return None


def _foreign(desk: Desk, fault: ForeignWork) -> Ending:
    found = f"the remote's branch {_name(desk)} has work that is not ours: {fault}"
    remedy = "nothing is pushed over it; merge it or move that branch aside, then release the card"
    return Ending(Outcome.BLOCKED, StopReason.PUSH_FAILED, reason=f"{found}; {remedy}")


def _name(desk: Desk) -> str:
    return keys.branch_name(desk.workflow.workspace.branch, desk.item.identifier)


def _said(push: Push) -> dict[str, object]:
    return {"commit": push.tip.sha, "after": push.known.pushed, "clean": push.tip.is_clean}


def _checkpoint(desk: Desk, step: StepRecord) -> bool:
    turns, lease = desk.ports.store.turns, desk.worker.lease_seconds
    return patience.persist(lambda: turns.checkpoint(desk.admitted.ref, step, lease_seconds=lease))
