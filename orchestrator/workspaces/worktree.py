"""A git worktree for an item: made, made whole again, or found.

Whoever changes the worktrees of a repository holds a `flock` on its git folder: git's own lock fails the second of two
at once. A branch that is there is used as it is; none is ever deleted or moved.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestrator.ports.workspaces import WorkspaceFailed
from orchestrator.workspaces import git

# What git writes into the lock of a worktree while it still fills it.
_BEING_MADE = "initializing"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The worktree to have: at `path`, of `repository`, on `branch`; a new branch begins at `base`.

    With `start`, a commit that the repository has, the branch contains that: a new one begins there, and one that lacks
    it is taken forward to it.
    """

    path: Path
    repository: Path
    branch: str
    base: str
    start: str | None = None


@dataclass(frozen=True, slots=True)
class _Registered:
    """A worktree that the repository knows of, whether or not its folder is still there."""

    path: Path
    branch: str | None
    lock: str | None


def ensure(wanted: Wanted) -> bool:
    """Have the worktree; True when it was made now. Raises WorkspaceFailed, and leaves no folder behind then."""
    common = git_folder(wanted.repository)
    if wanted.branch != git.ask(wanted.repository, "check-ref-format", "--branch", wanted.branch):
        raise WorkspaceFailed(
            f"{wanted.path}: git does not take {wanted.branch!r} for a branch; change workspace.branch"
        )
    with alone_in(common):
        _clear_leftovers(wanted)
        created = _make_folder(wanted.path)
        if created or _is_empty(wanted.path):
            _fill(wanted)
            return created
    _check_ours(wanted, common)
    _bring_up(wanted)
    return False


def git_folder(repository: Path) -> Path:
    """The folder that all worktrees of a repository share."""
    if not repository.is_dir():
        raise WorkspaceFailed(f"{repository}: workspace.repository is not a folder; name a git repository on this host")
    found = git.ask(repository, "rev-parse", "--git-common-dir")
    if found is None:
        message = "workspace.repository is not a git repository; name one, or run 'git init' there"
        raise WorkspaceFailed(f"{repository}: {message}")
    return (repository / found).resolve()


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the lock of a repository, on the folder itself: nothing of ours stays in it, and all roots meet there."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _clear_leftovers(wanted: Wanted) -> None:
    """Forget registrations whose folder is gone or empty, and take away a worktree whose making was cut short.

    Nobody has work in either: the first holds nothing, and the second was never handed out.
    """
    for each in _registered(wanted.repository):
        if each.path != wanted.path and each.branch != wanted.branch:
            continue
        if _is_empty(each.path):
            each.path.rmdir()
        if each.path != wanted.path and each.path.exists():
            message = f"its branch {wanted.branch!r} is already checked out in {each.path}"
            remedy = "let go of it there; two workflows on one repository need two patterns in workspace.branch"
            raise WorkspaceFailed(f"{wanted.path}: {message}; {remedy}")
        cut_short = each.path == wanted.path and each.lock == _BEING_MADE
        if cut_short or not each.path.exists():
            git.run(wanted.repository, "worktree", "remove", "--force", "--force", str(each.path))


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _make_folder(path: Path) -> bool:
    try:
        path.mkdir()
    except FileExistsError:
        return False
    return True


def _fill(wanted: Wanted) -> None:
    try:
        _add(wanted)
    except WorkspaceFailed:
        _take_back(wanted.path)
        raise


def _add(wanted: Wanted) -> None:
    if git.ask(wanted.repository, "show-ref", "--verify", f"refs/heads/{wanted.branch}") is not None:
        git.run(wanted.repository, "worktree", "add", str(wanted.path), wanted.branch)
        _bring_up(wanted)
        return
    if git.ask(wanted.repository, "rev-parse", "--verify", "--quiet", f"{wanted.base}^{{commit}}") is None:
        raise WorkspaceFailed(_no_base(wanted))
    # Tracking would write .git/config, whose lock other worktrees want too.
    new = ("worktree", "add", "--no-track", "-b", wanted.branch, str(wanted.path), wanted.start or wanted.base)
    git.run(wanted.repository, *new)


def _bring_up(wanted: Wanted) -> None:
    """Take a branch that was here before forward to the work of another host; never aside, and over nothing."""
    start = wanted.start
    if start is None or git.ask(wanted.path, "merge-base", "--is-ancestor", start, "HEAD") is not None:
        return
    if git.ask(wanted.path, "merge", "--ff-only", "--no-verify", start) is None:
        found = f"its branch {wanted.branch!r} here has work that {start[:12]}, pushed by another host, has not"
        raise WorkspaceFailed(f"{wanted.path}: {found}; merge the two, or move the branch and the folder aside")


def _no_base(wanted: Wanted) -> str:
    if wanted.base == "HEAD":
        return f"{wanted.repository}: the repository has no commit yet; make a first one"
    return f"{wanted.repository}: there is no commit {wanted.base!r}; correct workspace.base, or fetch it"


def _take_back(path: Path) -> None:
    try:
        path.rmdir()
    except OSError:
        return  # git left something in it; the next try finds it and says so


def _check_ours(wanted: Wanted, common: Path) -> None:
    top = git.ask(wanted.path, "rev-parse", "--show-toplevel")
    shared = git.ask(wanted.path, "rev-parse", "--git-common-dir")
    found = [top and Path(top).resolve(), shared and (wanted.path / shared).resolve()]
    if found != [wanted.path, common]:
        message = f"it is in the way and is no worktree of {wanted.repository}; move it away"
        raise WorkspaceFailed(f"{wanted.path}: {message}")


def _registered(repository: Path) -> Iterator[_Registered]:
    for block in git.run(repository, "worktree", "list", "--porcelain").split("\n\n"):
        fields = dict(line.partition(" ")[::2] for line in block.splitlines())
        if "worktree" in fields:
            branch = fields.get("branch", "").removeprefix("refs/heads/") or None
            yield _Registered(Path(fields["worktree"]), branch, fields.get("locked"))
