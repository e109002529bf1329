"""Workspaces: the folder in which an item's agent works, a git worktree or a plain directory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.domain.workflow import WorkspaceSettings
from orchestrator.ports.store import Made


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
    repository: Path | None = None


@dataclass(frozen=True, slots=True)
class Root:
    """The folder of all workspaces as this host sees it; `id` is kept in it, so it is another where the folder is."""

    path: Path
    id: str


class Workspaces(Protocol):
    """Makes and inspects workspaces on this host."""

    def root(self, settings: WorkspaceSettings) -> Root:
        """The root, with what tells its folder from another one under the same path. Raises WorkspaceFailed."""
        ...

    def prepare(
        self, settings: WorkspaceSettings, identifier: str, *, start: str | None = None, has_hook: bool = True
    ) -> Workspace:
        """Make the item's workspace or reuse it: contained in the root, one branch an item.

        `start` is a commit that its branch has to contain: the work goes on from another host's. A branch that has gone
        its own way since is nobody's to move: WorkspaceFailed. `has_hook`: a making is not complete before the hook's
        part is (`finish`).

        One that was made and never finished is made anew: nobody has worked in it. Raises WorkspaceFailed, and
        WorkspaceBusy while a process of an earlier turn holds its lock.
        """
        ...

    def finish(self, workspace: Workspace) -> None:
        """Its making is complete, the hook's part included: from here on it is never undone. Raises WorkspaceFailed."""
        ...

    def undo(self, workspace: Workspace) -> None:
        """Take back one that was made now and not finished; does nothing to any other. Raises WorkspaceFailed."""
        ...

    def inspect(self, workspace: Workspace) -> Workspace:
        """The same, with what stands in it now as the evidence to compare with. Raises WorkspaceFailed."""
        ...

    def closed(self, made: Made) -> AbstractContextManager[None]:
        """Hold the lock of a workspace that is to go, so that nothing begins in it. Raises WorkspaceBusy."""
        ...

    def preserve(self, made: Made, name: str, folder: Path, *, ignored: Sequence[str] = ()) -> str | None:
        """Keep what would be lost with it as `name`, a ref or a file in `folder`; where it is, None for nothing.

        Of what git ignores only that which one of the patterns `ignored` names is taken for such.

        Raises WorkspaceFailed.
        """
        ...

    def remove(self, made: Made) -> None:
        """Remove it, by the path and inside the root of its making; a branch never. Raises WorkspaceFailed."""
        ...

    def changed_since(self, workspace: Workspace) -> bool:
        """Whether HEAD has moved or the tree has changed since `prepare`: the evidence of a turn without a report."""
        ...
