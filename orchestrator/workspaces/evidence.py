"""What stands in a workspace, as values that can be compared: the evidence of an agent that says nothing.

Only a `.git` of the folder's own counts: a plain workspace often lies inside some other repository.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from orchestrator.workspaces import git


def head(path: Path) -> str | None:
    """The commit that is checked out; None in a plain directory and before the first commit."""
    return git.ask(path, "rev-parse", "--verify", "--quiet", "HEAD") if _is_repository(path) else None


def dirty(path: Path) -> str:
    """A digest of everything uncommitted; what git ignores is no evidence."""
    digest = hashlib.sha256()
    for part in _uncommitted(path) if _is_repository(path) else _files(path, path):
        digest.update(part.encode(errors="surrogateescape") + b"\0")
    return digest.hexdigest()


def _is_repository(path: Path) -> bool:
    return (path / ".git").exists()


def _uncommitted(path: Path) -> Iterator[str]:
    status = git.run(path, "status", "--porcelain", "-z", "--untracked-files=all")
    yield status
    # Status says which file differs, the difference says how; without a commit all is untracked or staged.
    yield git.ask(path, "diff", "--no-ext-diff", "--no-textconv", "--full-index", "HEAD") or ""
    for entry in status.split("\0"):
        if entry.startswith("?? "):
            yield _stamp(path / entry.removeprefix("?? "))


def _files(folder: Path, root: Path) -> Iterator[str]:
    """Every file below a plain folder by size and time of change: cheap, and as good as its content here."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        yield f"{Path(entry.path).relative_to(root)} {_stamp(Path(entry.path))}"
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path), root)


def _stamp(path: Path) -> str:
    try:
        found = path.lstat()
    except OSError:
        return "gone"
    return f"{found.st_mode} {found.st_size} {found.st_mtime_ns}"
