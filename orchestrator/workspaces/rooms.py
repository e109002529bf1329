"""Where an item's workspace is, that it is nobody else's, and what its turn finds in it.

A workspace is a direct child of the root as the file system really has it; a link or a file in its place is an error,
never replaced: it may be somebody's work.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.domain import keys
from orchestrator.domain.workflow import WorkspaceSettings
from orchestrator.ports.store import Made
from orchestrator.ports.workspaces import Root, Workspace, WorkspaceFailed
from orchestrator.workspaces import evidence, forgetting, keeping, locks, marks, removing, roots, worktree

# Ours, beside the workspaces; an item of such a name would be given them to work in.
_ITEMS, _NEW = ".items", ".new"


class GitWorkspaces:
    """Workspaces on this host's disk; two processes may prepare at once."""

    def __init__(self, *, kept_days: int = 0) -> None:
        """`kept_days` is how long preserved work stays; 0: for ever."""
        self._kept_days = kept_days

    def root(self, settings: WorkspaceSettings) -> Root:
        """The root, with what tells its folder from another one under the same path. Raises WorkspaceFailed."""
        try:
            root = _root(settings.root)
            return Root(root, roots.id_of(root))
        except OSError as error:
            raise WorkspaceFailed(f"{settings.root}: {error.strerror}; correct workspace.root") from error

    def prepare(
        self, settings: WorkspaceSettings, identifier: str, *, start: str | None = None, has_hook: bool = True
    ) -> Workspace:
        """Make the item's workspace or reuse it, with `start` in its branch. Raises WorkspaceFailed, WorkspaceBusy."""
        repository = Path(settings.repository) if settings.repository is not None else None
        try:
            root = _root(settings.root)
            key = _key(identifier)
            path, lock, claim = root / key, root / _ITEMS / key, _Claim(identifier, settings.board)
            _refuse_others(path)
            claim.check(lock)  # before the lock: whoever works in another card's workspace is not waited for
            lock.parent.mkdir(exist_ok=True)
            with locks.held(lock):
                if claim.check(lock) == "":
                    lock.write_text(claim.text, encoding="utf-8")
                mark = marks.Mark(root / _NEW / key, path)
                if mark.is_of_this_folder():
                    removing.remove(path, repository)
                if repository is None and not has_hook:
                    # Whole by one `mkdir`, so no mark: a file made and removed for each turn slows ext4 down for all.
                    branch, created = None, _make_folder(path)
                else:
                    stood = mark.begin()
                    branch, made = _furnish(path, settings, identifier, start=start)
                    mark.end(created=made, stood=stood)
                    created = mark.stands()
                    if not has_hook:  # complete: who comes next finds it, and does not make it anew
                        mark.clear()
        except OSError as error:
            raise WorkspaceFailed(
                f"{error.filename or settings.root}: {error.strerror}; correct workspace.root"
            ) from error
        return Workspace(
            path=path,
            lock_path=lock,
            branch=branch,
            head=evidence.head(path),
            dirty=evidence.dirty(path),
            created_now=created,
            repository=repository,
        )

    def finish(self, workspace: Workspace) -> None:
        """Its making is complete. Raises WorkspaceFailed."""
        mark = _mark(workspace)
        try:
            mark.clear()
        except OSError as error:
            raise WorkspaceFailed(f"{mark.file}: it cannot be removed ({error.strerror}); remove it") from error

    def undo(self, workspace: Workspace) -> None:
        """Take back one that was made and not finished. Raises WorkspaceFailed and WorkspaceBusy."""
        with locks.held(workspace.lock_path):
            if _mark(workspace).is_of_this_folder():
                removing.remove(workspace.path, workspace.repository)
                self.finish(workspace)

    def inspect(self, workspace: Workspace) -> Workspace:
        """The same with fresh evidence. Raises WorkspaceFailed."""
        try:
            return replace(workspace, head=evidence.head(workspace.path), dirty=evidence.dirty(workspace.path))
        except OSError as error:
            raise WorkspaceFailed(f"{workspace.path}: it cannot be read any more ({error.strerror})") from error

    def closed(self, made: Made) -> AbstractContextManager[None]:
        """Hold the lock of a workspace that is to go. Raises WorkspaceBusy and WorkspaceFailed."""
        if not made.lock_path.parent.is_dir():
            raise WorkspaceFailed(f"{made.root}: the root is gone; nothing is removed there")
        return locks.held(made.lock_path)

    def preserve(self, made: Made, name: str, folder: Path, *, ignored: Sequence[str] = ()) -> str | None:
        """Keep what would be lost with it. Raises WorkspaceFailed."""
        if not made.path.is_dir():
            return None
        forgetting.forget(made.repository, folder, days=self._kept_days)
        try:
            kept = keeping.preserve(made.path, made.repository, name=name, folder=folder)
            beside = keeping.preserve_ignored(made.path, ignored, name=name, folder=folder)
            return " and ".join(filter(None, (kept, beside))) or None
        except OSError as error:
            raise WorkspaceFailed(
                f"{error.filename or made.path}: {error.strerror}; its work is not kept yet"
            ) from error

    def remove(self, made: Made) -> None:
        """Remove it, by the path and inside the root of its making. Raises WorkspaceFailed."""
        if made.path.parent != made.root or made.root.resolve() != made.root:
            raise WorkspaceFailed(f"{made.path}: not a folder of {made.root} any more; remove it by hand")
        removing.remove(made.path, made.repository)

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
    if key in {_ITEMS, _NEW} or key.startswith(roots.FILE):
        raise WorkspaceFailed(f"{identifier!r} is a name that we use ourselves; a ticket needs another identifier")
    return key


def _refuse_others(path: Path) -> None:
    if path.is_symlink():
        raise WorkspaceFailed(f"{path}: a link stands where the workspace belongs; remove it")
    if path.exists() and not path.is_dir():
        raise WorkspaceFailed(f"{path}: a file stands where the workspace belongs; move it away")


@dataclass(frozen=True, slots=True)
class _Claim:
    """Whose workspace it is, kept in the file that is its lock: the card's identifier, and its board on a line.

    Where names ignore case, a second item finds the first one's name there; where two workflows share a root, a card of
    the same key finds the other's board.
    """

    identifier: str
    board: str

    @property
    def text(self) -> str:
        return f"{self.identifier}\n{self.board}"

    def check(self, file: Path) -> str:
        """What stands in the file, "" for nothing; raises WorkspaceFailed when it is another's."""
        try:
            owner = file.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        if owner not in {"", self.text}:  # empty: a process died between making the file and writing it
            raise WorkspaceFailed(f"{file.parent.parent / file.name}: {self._taken(owner, file)}")
        return owner

    def _taken(self, owner: str, file: Path) -> str:
        theirs, _, board = owner.rpartition("\n")
        if theirs == self.identifier:
            remedy = "give one of the two workflows a workspace.root of its own"
            moved = f"if it is the same board in a new place, remove {file}"
            return f"it belongs to the card {theirs!r} of another board ({board}); {remedy}, or, {moved}"
        here = f"which is {self.identifier!r} to this file system"
        return f"it belongs to ticket {theirs!r}, {here}; rename one of the two"


def _mark(workspace: Workspace) -> marks.Mark:
    return marks.Mark(workspace.path.parent / _NEW / workspace.path.name, workspace.path)


def _furnish(path: Path, settings: WorkspaceSettings, identifier: str, *, start: str | None) -> tuple[str | None, bool]:
    """Have the folder with what belongs in it; gives its branch, and whether the folder was made now."""
    if settings.repository is None:
        return None, _make_folder(path)
    branch = keys.branch_name(settings.branch, identifier)
    wanted = worktree.Wanted(path, Path(settings.repository), branch, settings.base or "HEAD", start)
    return branch, worktree.ensure(wanted)


def _make_folder(path: Path) -> bool:
    """Have the folder; returns whether it was made now."""
    try:
        path.mkdir()
    except FileExistsError:
        return False
    return True
