"""Kept work that nobody fetched is not kept for ever: by age, and earlier what stands on a branch by now."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from orchestrator.ports.workspaces import WorkspaceFailed
from orchestrator.workspaces import git

_DAY_SECONDS = 86_400.0
_KEPT = "refs/stationkeeper/kept"
# What a branch has is lost to nobody; a month is for whoever looks for it where the card says.
MERGED_DAYS = 30


def forget(repository: Path | None, folder: Path, *, days: int) -> int:
    """Remove kept refs of `repository` and kept files in `folder` older than `days` (0: none); returns how many went.

    A ref whose commit is on a branch, of the repository or of a remote, goes after 30 days. What cannot be read or
    removed stays.
    """
    if days == 0:
        return 0
    now, gone = time.time(), 0
    with contextlib.suppress(WorkspaceFailed):
        gone += _forget_refs(repository, days=days, now=now) if repository is not None else 0
    for file in folder.glob("*/*"):
        with contextlib.suppress(OSError):
            if now - file.stat().st_mtime > days * _DAY_SECONDS:
                file.unlink()
                gone += 1
    return gone


def _forget_refs(repository: Path, *, days: int, now: float) -> int:
    found = git.run(repository, "for-each-ref", "--format=%(refname) %(objectname) %(committerdate:unix)", _KEPT)
    gone = 0
    for line in found.splitlines():
        ref, commit, at = line.split()
        age = (now - int(at)) / _DAY_SECONDS
        if age > days or (age > MERGED_DAYS and _is_on_a_branch(repository, commit)):
            git.run(repository, "update-ref", "-d", ref, commit)  # only as it was found
            gone += 1
    return gone


def _is_on_a_branch(repository: Path, commit: str) -> bool:
    return bool(git.run(repository, "for-each-ref", "--count=1", "--contains", commit, "refs/heads", "refs/remotes"))
