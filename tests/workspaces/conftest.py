"""Settings for workspaces of both kinds, on a real disk with a real repository."""

from dataclasses import replace

import pytest

from orchestrator.domain.workflow import WorkspaceSettings
from tests.workspaces.hands import git


@pytest.fixture
def plain(tmp_path):
    """Workspaces that are empty folders."""
    return WorkspaceSettings(str(tmp_path / "rooms"))


@pytest.fixture
def repository(tmp_path):
    """A repository with one commit."""
    path = tmp_path / "product"
    git(tmp_path, "init", "-q", "-b", "main", str(path))
    (path / "file.txt").write_text("one\n")
    (path / ".gitignore").write_text("*.log\n")
    git(path, "add", ".")
    git(path, "commit", "-q", "-m", "first")
    return path


@pytest.fixture
def shared(plain, repository):
    """Workspaces that are worktrees of that repository."""
    return replace(plain, repository=str(repository))


@pytest.fixture(params=["plain", "shared"])
def settings(request):
    """Workspaces of each kind."""
    return request.getfixturevalue(request.param)
