"""The evidence of a turn without a report: HEAD has moved, or the tree has changed."""

import subprocess

import pytest

from orchestrator.domain.workflow import WorkspaceSettings
from orchestrator.ports.workspaces import WorkspaceFailed
from tests.workspaces.hands import git, made, rooms

CHANGES = {
    "a commit": lambda path: git(path, "commit", "-q", "--allow-empty", "-m", "work"),
    "a changed file": lambda path: (path / "file.txt").write_text("two\n"),
    "a removed file": lambda path: (path / "file.txt").unlink(),
    "a new file": lambda path: (path / "new.txt").write_text("x"),
    "a staged file": lambda path: ((path / "new.txt").write_text("x"), git(path, "add", ".")),
    "a new file in a new folder": lambda path: (
        (path / "a" / "b").mkdir(parents=True),
        (path / "a/b/c").write_text("x"),
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_kind_of_work_is_evidence(shared, change):
    """HEAD moved or the tree changed."""
    found = made(shared, "BACK-1")
    assert not rooms.changed_since(found)
    change(found.path)
    assert rooms.changed_since(found)


def test_more_of_an_old_change_is_evidence_too(shared):
    """A turn that goes on with uncommitted work of the turn before has changed something as well."""
    found = made(shared, "BACK-1")
    for name in ("file.txt", "new.txt"):
        (found.path / name).write_text("begun")
        begun = made(shared, "BACK-1")
        assert not rooms.changed_since(begun)
        (found.path / name).write_text("begun, done")
        assert rooms.changed_since(begun)


def test_what_git_ignores_is_no_evidence(shared):
    """An agent that only left a log has done nothing."""
    found = made(shared, "BACK-1")
    (found.path / "agent.log").write_text("thinking")
    assert not rooms.changed_since(found)


def test_a_plain_workspace_inside_a_repository_has_its_own_evidence(repository):
    """The repository around it is not looked at, whatever happens there."""
    found = made(WorkspaceSettings(str(repository / "rooms")), "BACK-1")
    assert found.head is None
    git(repository, "commit", "-q", "--allow-empty", "-m", "elsewhere")
    assert not rooms.changed_since(found)
    (found.path / "result").mkdir()
    (found.path / "result" / "answer.txt").write_text("42")
    assert rooms.changed_since(found)


def test_a_workspace_that_is_gone_is_an_error_and_not_a_change(settings):
    """Nobody takes a removed folder for work done."""
    found = made(settings, "BACK-1")
    subprocess.run(["rm", "-rf", str(found.path)], check=True)
    with pytest.raises(WorkspaceFailed, match="BACK-1: it cannot be read any more"):
        rooms.changed_since(found)


def test_a_worktree_that_is_none_any_more_is_an_error_and_not_a_change(shared):
    """An agent that removed `.git` has not moved HEAD."""
    found = made(shared, "BACK-1")
    (found.path / ".git").unlink()
    with pytest.raises(WorkspaceFailed, match="BACK-1: it is no git worktree any more"):
        rooms.changed_since(found)
