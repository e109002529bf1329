"""Where an item's workspace is, that it is nobody else's, and what its turn finds in it.

A workspace is a direct child of the root as the file system really has it; a link or a file in its place is an error,
never replaced: it may be somebody's work.
"""

from __future__ import annotations

import os
from pathlib import Path

from orchestrator.domain import keys
from orchestrator.domain.workflow import WorkspaceSettings
from orchestrator.ports.workspaces import Workspace, WorkspaceFailed
from orchestrator.workspaces import evidence, worktree

# Ours, beside the workspaces; an item of such a name would be given them to work in.
_ITEMS, _LOCKS = ".items", ".locks"


class GitWorkspaces:
    """Workspaces on this host's disk; two processes may prepare at once."""

    def prepare(self, settings: WorkspaceSettings, identifier: str) -> Workspace:
        """Make the item's workspace or reuse it. Raises WorkspaceFailed."""
        try:
            root = _root(settings.root)
            key = _key(identifier)
            path = root / key
            _refuse_others(path)
            _claim(root / _ITEMS, key, identifier=identifier, board=settings.board)
            (root / _LOCKS).mkdir(exist_ok=True)
            branch, created_now = _furnish(path, settings, identifier)
        except OSError as error:
            raise WorkspaceFailed(
                f"{error.filename or settings.root}: {error.strerror}; correct workspace.root"
            ) from error
        return Workspace(
            path=path,
            lock_path=root / _LOCKS / f"{key}.lock",
            branch=branch,
            head=evidence.head(path),
            dirty=evidence.dirty(path),
            created_now=created_now,
        )

    def changed_since(self, workspace: Workspace) -> bool:
        """Whether HEAD has moved or the tree has changed. Raises WorkspaceFailed when it can no longer be read."""
        try:
            dirty, head = evidence.dirty(workspace.path), evidence.head(workspace.path)
        except OSError as error:
            raise WorkspaceFailed(f"{workspace.path}: it cannot be read any more ({error.strerror})") from error
        if workspace.head is not None and head is None:
            raise WorkspaceFailed(f"{workspace.path}: it is no git worktree any more; look what its agent did")
        return (head, dirty) != (workspace.head, workspace.dirty)


def _root(text: str) -> Path:
    """The root as the file system has it: its own links are followed here, once."""
    root = Path(text)
    if not root.is_absolute():
        raise WorkspaceFailed(f"{text}: workspace.root must be an absolute path by now; name one")
    root.mkdir(parents=True, exist_ok=True)
    return root.resolve(strict=True)


def _key(identifier: str) -> str:
    try:
        key = keys.workspace_key(identifier)
    except keys.UnsafeIdentifier as error:
        raise WorkspaceFailed(
            f"{identifier!r} cannot name a folder; a ticket needs an identifier of its own"
        ) from error
    if key in {_ITEMS, _LOCKS}:
        raise WorkspaceFailed(f"{identifier!r} is a name that we use ourselves; a ticket needs another identifier")
    return key


def _refuse_others(path: Path) -> None:
    if path.is_symlink():
        raise WorkspaceFailed(f"{path}: a link stands where the workspace belongs; remove it")
    if path.exists() and not path.is_dir():
        raise WorkspaceFailed(f"{path}: a file stands where the workspace belongs; move it away")


def _claim(folder: Path, key: str, *, identifier: str, board: str) -> None:
    """Write down whose workspace it is: the card's identifier, and its board on a line of its own.

    Where names ignore case, a second item finds the first one's name here; where two workflows share a root, a card of
    the same key finds the other's board.
    """
    folder.mkdir(exist_ok=True)
    file, ours = folder / key, f"{identifier}\n{board}"
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "w") as new:
            new.write(ours)
    except FileExistsError:
        owner = file.read_text(encoding="utf-8", errors="replace")
        if owner == "":  # a process died between making the file and writing it
            file.write_text(ours, encoding="utf-8")
        elif owner != ours:
            raise WorkspaceFailed(f"{folder.parent / key}: {_taken(owner, identifier, file)}") from None


def _taken(owner: str, identifier: str, claim: Path) -> str:
    theirs, _, board = owner.rpartition("\n")
    if theirs == identifier:
        remedy = "give one of the two workflows a workspace.root of its own"
        moved = f"if it is the same board in a new place, remove {claim}"
        return f"it belongs to the card {theirs!r} of another board ({board}); {remedy}, or, {moved}"
    return f"it belongs to ticket {theirs!r}, which is {identifier!r} to this file system; rename one of the two"


def _furnish(path: Path, settings: WorkspaceSettings, identifier: str) -> tuple[str | None, bool]:
    if settings.repository is None:
        try:
            path.mkdir()
        except FileExistsError:
            return None, False
        return None, True
    branch = keys.branch_name(settings.branch, identifier)
    repository = Path(settings.repository)
    return branch, worktree.ensure(worktree.Wanted(path, repository, branch, settings.base or "HEAD"))
