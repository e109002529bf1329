"""Takes a workspace away: the folder and git's registration of it, never a branch, and nothing outside the folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from orchestrator.ports.workspaces import WorkspaceFailed
from orchestrator.workspaces import git, worktree


def remove(path: Path, repository: Path | None) -> None:
    """Remove the folder. The caller holds its lock, and has made sure that nobody needs what is in it.

    Raises WorkspaceFailed.
    """
    if path.is_symlink():
        raise WorkspaceFailed(f"{path}: a link stands where the workspace was; remove it")
    if repository is not None and repository.is_dir() and (path / ".git").exists():
        with worktree.alone_in(worktree.git_folder(repository)):
            git.ask(repository, "worktree", "remove", "--force", "--force", str(path))
    try:
        if path.exists():  # a plain folder, or one that git does not know any more
            shutil.rmtree(path)
    except OSError as error:
        raise WorkspaceFailed(f"{error.filename}: it cannot be removed ({error.strerror}); remove it") from error
