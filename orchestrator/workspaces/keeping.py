"""Preserves what a workspace holds that is nowhere else, before it is removed.

In a worktree: a commit of all that is uncommitted, untracked files included, under `refs/stationkeeper/kept/`. Its
branch stays with what is committed. A folder that is a repository of its own is put into a git bundle with everything
that it has; any other folder, and one with a repository inside, into an archive. Of what git ignores only that is kept
which the workflow names: in an archive of its own and in no commit, since it is ignored for a reason.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from orchestrator.environment import GIT_EMAIL, GIT_NAME
from orchestrator.ports.workspaces import WorkspaceFailed
from orchestrator.workspaces import git

_KEPT = "refs/stationkeeper/kept"
_SUBMODULE = "160000"
# Notes, a small database, a log: far less. More is a build, and a pattern that names too much.
MOST_IGNORED_BYTES = 256 * 1024 * 1024


def preserve(path: Path, repository: Path | None, *, name: str, folder: Path) -> str | None:
    """Keep unfinished work as `name` (`<key>/<turn>`): a ref of the repository, or a file in `folder`.

    Returns where it is, None when there is nothing that would be lost. Raises WorkspaceFailed and OSError.
    """
    if not (path / ".git").exists():
        return _archive(path, folder / f"{name}.tar.gz") if any(path.iterdir()) else None
    ref = _free_ref(path, name)
    if not _is_finished(path):
        commit = _commit_all(path)
        if _holds_a_repository(path, commit):
            return _archive(path, folder / f"{name}.tar.gz")
        git.run(path, "update-ref", ref, commit)
    elif not _has_lonely_commits(path, own=repository is None):
        return None
    elif repository is not None:
        git.run(path, "update-ref", ref, "HEAD")
    return f"{ref} in {repository}" if repository is not None else _bundle(path, folder / f"{name}.bundle")


def preserve_ignored(path: Path, patterns: Sequence[str], *, name: str, folder: Path) -> str | None:
    """Keep the files that git ignores and one of the patterns names, as an archive in `folder`; where it is, or None.

    A plain folder has none: it is kept whole. Raises WorkspaceFailed, when they are too many, and OSError.
    """
    if not patterns or not (path / ".git").exists():
        return None
    wanted = [f":(glob)**/{each.strip('/')}" for each in patterns]
    inside = [f"{each}/**" for each in wanted]
    listed = git.run(path, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", *wanted, *inside)
    found = [path / each for each in listed.split("\0") if each]
    if sum(each.lstat().st_size for each in found) > MOST_IGNORED_BYTES:
        most = MOST_IGNORED_BYTES // 1024**2
        raise WorkspaceFailed(
            f"{path}: workspace.keep_ignored names more than {most} MiB here; name less, or remove it"
        )
    return _pack(found, folder / f"{name}-ignored.tar.gz", root=path) if found else None


def _is_finished(path: Path) -> bool:
    return not git.run(path, "status", "--porcelain", "--untracked-files=all")


def _has_lonely_commits(path: Path, *, own: bool) -> bool:
    """Whether a commit would be lost: in a repository of its own what no remote has, in a worktree what no branch has.

    A worktree's branches stay in the repository, whoever pushes them.
    """
    head = git.ask(path, "rev-parse", "--verify", "--quiet", "HEAD")
    if own:
        return head is not None and bool(git.run(path, "rev-list", "--branches", "HEAD", "--not", "--remotes"))
    return head is not None and not git.run(path, "for-each-ref", "--contains", head, "refs/heads", "refs/remotes")


def _commit_all(path: Path) -> str:
    """A commit of the folder as it stands on top of HEAD, made beside the index and every branch."""
    head = git.ask(path, "rev-parse", "--verify", "--quiet", "HEAD")
    with tempfile.TemporaryDirectory(prefix="stationkeeper-") as aside:
        index = Path(aside) / "index"
        if head:
            git.run(path, "read-tree", "HEAD", index=index)
        git.run(path, "add", "--all", index=index)
        tree = git.run(path, "write-tree", index=index)
    parent = ["-p", head] if head else []
    identity = ["-c", f"user.name={GIT_NAME}", "-c", f"user.email={GIT_EMAIL}"]
    return git.run(path, *identity, "commit-tree", tree, *parent, "-m", "Unfinished work, kept by Stationkeeper")


def _holds_a_repository(path: Path, commit: str) -> bool:
    """Whether a repository that nobody declared lies inside: git keeps only its name."""
    found = git.run(path, "ls-tree", "-r", commit)
    inside = {line.partition("\t")[2] for line in found.splitlines() if line.startswith(_SUBMODULE)}
    return bool(inside) and not (path / ".gitmodules").is_file()


def _free_ref(path: Path, name: str) -> str:
    """A ref that no earlier work has."""
    ref = f"{_KEPT}/{name}"
    if git.ask(path, "check-ref-format", ref) is None:
        ref = f"{_KEPT}/{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    number = 1
    wanted = ref
    while git.ask(path, "show-ref", "--verify", "--quiet", wanted) is not None:
        number += 1
        wanted = f"{ref}-{number}"
    return wanted


def _bundle(path: Path, file: Path) -> str:
    file = _free_file(file)
    head = git.ask(path, "rev-parse", "--verify", "--quiet", "HEAD")
    git.run(path, "bundle", "create", str(file), "--all", *(["HEAD"] if head else []))
    return str(file)


def _archive(path: Path, file: Path) -> str:
    return _pack([path], file, root=path)


def _pack(found: Sequence[Path], file: Path, *, root: Path) -> str:
    """An archive of files and folders below `root`, for our user's eyes."""
    file = _free_file(file)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as raw, tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for each in found:
            archive.add(each, arcname=str(root.name / each.relative_to(root)))
    return str(file)


def _free_file(file: Path) -> Path:
    """A file that no earlier work has, in a folder of ours."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    number, wanted = 1, file
    while wanted.exists():
        number += 1
        wanted = file.with_name(f"{number}-{file.name}")
    return wanted
