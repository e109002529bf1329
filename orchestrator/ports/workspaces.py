"""Workspaces: the folder in which an item's agent works, a git worktree or a plain directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.domain.workflow import WorkspaceSettings


class WorkspaceFailed(Exception):
    """A workspace could not be made or used; the message names the path, what was found and what to do."""


class WorkspaceBusy(Exception):
    """Somebody else's process holds the lock of the workspace."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A prepared workspace. `head` is the commit and `dirty` a digest of uncommitted changes as the turn began."""

    path: Path
    lock_path: Path
    branch: str | None
    head: str | None
    dirty: str
    created_now: bool


class Workspaces(Protocol):
    """Makes and inspects workspaces on this host."""

    def prepare(self, settings: WorkspaceSettings, identifier: str) -> Workspace:
        """Make the item's workspace or reuse it: contained in the root, one branch an item; raises WorkspaceFailed."""
        ...

    def changed_since(self, workspace: Workspace) -> bool:
        """Whether HEAD has moved or the tree has changed since `prepare`: the evidence of a turn without a report."""
        ...
