"""The remote repository of a workflow, to which the engine alone pushes: agents get no credential for it.

`remote` is what the workflow's file says: an address, a path, or `$NAME` of the worker's environment.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.domain.workflow import WorkspaceSettings
from orchestrator.ports.workspaces import Workspace

# A branch of an hour's work is small; a remote that takes longer hangs, and a turn that waits for it keeps its slot.
PUSH_SECONDS = 120.0


class PushFailed(Exception):
    """The remote did not answer or did not take it; nobody knows what arrived. The message shows no secret."""


class PushRefused(Exception):
    """The remote's branch is not where it was expected: nothing was pushed."""


@dataclass(frozen=True, slots=True)
class Tip:
    """What a workspace has to be pushed: its branch's commit, None when that has nothing beside the base.

    `is_clean` says that nothing lies in the folder beside it: all is committed, and on that branch.
    """

    sha: str | None
    is_clean: bool


class Remotes(Protocol):
    """Pushes and looks up; every call ends within its time-out."""

    def tip(self, workspace: Workspace, settings: WorkspaceSettings) -> Tip:
        """What the workspace has. Raises WorkspaceFailed."""
        ...

    def found(self, remote: str, branch: str) -> str | None:
        """The commit of the branch on the remote, None for no such branch. Raises PushFailed."""
        ...

    def fetch(self, remote: str, branch: str, repository: Path) -> None:
        """Have the objects of the remote's branch in the repository. Raises PushFailed."""
        ...

    def push(
        self, remote: str, workspace: Workspace, commit: str, *, expected: str | None, seconds: float = PUSH_SECONDS
    ) -> None:
        """Let the remote's branch be at `commit`, if it is at `expected` (None: not there) at that very moment.

        One that has not answered within `seconds` is given up. Raises PushRefused and PushFailed.
        """
        ...


class NoRemotes:
    """The remotes of a process that pushes nothing."""

    def tip(self, workspace: Workspace, settings: WorkspaceSettings) -> Tip:
        """Nothing to be pushed, and nobody looked."""
        del workspace, settings
        return Tip(None, is_clean=False)

    def found(self, remote: str, branch: str) -> str | None:
        """Raises PushFailed."""
        raise PushFailed(f"nothing here reaches {remote} for {branch}")

    def fetch(self, remote: str, branch: str, repository: Path) -> None:
        """Raises PushFailed."""
        del repository
        self.found(remote, branch)

    def push(
        self, remote: str, workspace: Workspace, commit: str, *, expected: str | None, seconds: float = PUSH_SECONDS
    ) -> None:
        """Raises PushFailed."""
        del workspace, expected, seconds
        self.found(remote, commit)


NO_REMOTES = NoRemotes()
