"""A remote repository in a dictionary: branches by name, moved by compare-and-set as git's lease does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.domain.workflow import WorkspaceSettings
from orchestrator.ports.remotes import PUSH_SECONDS, PushFailed, PushRefused, Tip
from orchestrator.ports.workspaces import Workspace


@dataclass(slots=True)
class MemoryRemotes:
    """`tips` is what each card's workspace has, `branches` what the remote has; `log` each push that arrived.

    `before` and `after` are what happens in the world around a push; `down` makes every call fail.
    """

    tips: dict[str, Tip] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    calls: int = 0
    down: bool = False
    before: Callable[[], None] = lambda: None
    after: Callable[[], None] = lambda: None

    def works(self, item_id: str, sha: str, *, is_clean: bool = True) -> None:
        """An agent commits, and leaves something beside it or not."""
        self.tips[item_id] = Tip(sha, is_clean)

    def tip(self, workspace: Workspace, settings: WorkspaceSettings) -> Tip:  # noqa: ARG002 -- the door's signature
        """What the workspace has."""
        return self.tips.get(workspace.path.name, Tip(None, is_clean=True))

    def found(self, remote: str, branch: str) -> str | None:
        """Where the branch is."""
        self._refuse_when_down(remote)
        return self.branches.get(branch)

    def fetch(self, remote: str, branch: str, repository: Path) -> None:  # noqa: ARG002 -- the door's signature
        """Have it here."""
        self._refuse_when_down(remote)

    def push(
        self,
        remote: str,
        workspace: Workspace,
        commit: str,
        *,
        expected: str | None,
        seconds: float = PUSH_SECONDS,  # noqa: ARG002 -- the door's signature
    ) -> None:
        """Move the branch, if it is where it is expected to be."""
        self.calls += 1
        self._refuse_when_down(remote)
        self.before()
        branch = f"stationkeeper/{workspace.path.name}"
        if self.branches.get(branch) != expected:
            raise PushRefused(f"{remote}: {branch} is not at {expected}")
        self.branches[branch] = commit
        self.log.append(commit)
        self.after()

    def _refuse_when_down(self, remote: str) -> None:
        if self.down:
            raise PushFailed(f"{remote}: it does not answer")
