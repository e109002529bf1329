"""Git worktrees: an own branch for each item, made whole again, many at once, and no commit ever lost."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from orchestrator.domain.workflow import WorkspaceSettings
from tests.workspaces.hands import git, made, refused, rooms


def test_a_worktree_stands_on_the_items_own_branch(shared, repository):
    """It begins at the repository's head, tracks nothing, and the person's checkout is untouched."""
    found = made(shared, "BACK-1")
    assert found.branch == git(found.path, "branch", "--show-current") == "stationkeeper/BACK-1"
    assert found.head == git(repository, "rev-parse", "main")
    assert git(repository, "branch", "--show-current") == "main"
    assert "stationkeeper" not in (repository / ".git" / "config").read_text()


def test_a_branch_begins_where_the_workflow_says(shared, repository):
    """`base` is any commit that the repository has; one that it lacks is named."""
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    assert made(replace(shared, base="main~1"), "BACK-1").head == git(repository, "rev-parse", "main~1")
    assert "no commit 'release'; correct workspace.base" in refused(replace(shared, base="release"), "BACK-2")


def test_two_roots_on_one_repository_never_share_a_branch(shared, tmp_path):
    """The branch is the first one's; the second workflow is told which key of its file to change."""
    found = rooms.prepare(shared, "BACK-1")
    other = replace(shared, root=str(tmp_path / "elsewhere"))
    assert f"branch 'stationkeeper/BACK-1' is already checked out in {found.path}" in refused(other, "BACK-1")
    assert rooms.prepare(replace(other, branch="app/{key}"), "BACK-1").branch == "app/BACK-1"


@pytest.mark.proves("WS-10")
def test_a_lost_workspace_comes_back_on_its_old_branch(shared, repository):
    """The folder is gone and its registration stale: the branch with its commits is used as it is."""
    before = made(shared, "BACK-1")
    git(before.path, "commit", "-q", "--allow-empty", "-m", "work")
    work = git(before.path, "rev-parse", "HEAD")
    subprocess.run(["rm", "-rf", str(before.path)], check=True)
    after = made(shared, "BACK-1")
    assert (after.head, after.created_now) == (work, True)
    assert "prunable" not in git(repository, "worktree", "list", "--porcelain")


@pytest.mark.proves("WS-09")
def test_a_worktree_whose_making_was_cut_short_is_made_again(shared, repository):
    """Nobody has worked in it: half a checkout is not taken for the agent's work. Git marks one that it still fills."""
    found = made(shared, "BACK-1")
    (repository / ".git" / "worktrees" / "BACK-1" / "locked").write_text("initializing")
    (found.path / "file.txt").unlink()
    again = made(shared, "BACK-1")
    assert (again.path / "file.txt").read_text() == "one\n"
    assert (again.created_now, again.head) == (True, found.head)


@pytest.mark.proves("WS-09")
def test_a_failed_making_leaves_no_folder_behind(shared, repository, tmp_path):
    """The next try starts from nothing again."""
    git(repository, "worktree", "add", "-q", "-b", "stationkeeper/BACK-1", str(tmp_path / "mine"))
    assert "already" in refused(shared, "BACK-1")
    assert not (tmp_path / "rooms" / "BACK-1").exists()
    git(repository, "worktree", "remove", str(tmp_path / "mine"))
    assert made(shared, "BACK-1").created_now


def test_a_folder_of_other_origin_is_not_taken_for_a_worktree(shared, tmp_path):
    """A folder with files, or another repository, in the workspace's place is somebody's."""
    room = tmp_path / "rooms" / "BACK-1"
    room.mkdir(parents=True)
    (room / "mine.txt").write_text("mine")
    assert "is in the way and is no worktree of" in refused(shared, "BACK-1")
    git(room, "init", "-q")
    assert "is in the way and is no worktree of" in refused(shared, "BACK-1")
    assert (room / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda _: None, "is not a folder"),
        (lambda path: path.mkdir(), "is not a git repository"),
        (lambda path: git(path.parent, "init", "-q", str(path)), "has no commit yet"),
    ],
    ids=["nothing", "a folder", "an empty repository"],
)
def test_what_is_no_repository_is_told_apart(plain, tmp_path, make, said):
    """Each with what to do."""
    make(tmp_path / "product")
    assert said in refused(replace(plain, repository=str(tmp_path / "product")), "BACK-1")


@pytest.mark.proves("H33")
def test_many_worktrees_of_one_repository_are_made_at_once(shared, repository, tmp_path):
    """Two roots, two dozen items, one moment, a remote's branch as base: none fails on a lock, none tracks anything."""
    clone, start = tmp_path / "clone", Barrier(12)
    git(tmp_path, "clone", "-q", str(repository), str(clone))
    before = (clone / ".git" / "config").read_text()

    def make(number):
        start.wait()
        root = shared.root + ("" if number % 2 else "-two")
        settings = WorkspaceSettings(root, repository=str(clone), base="origin/main")
        return made(settings, f"BACK-{number}")

    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(make, range(24)))
    assert len({each.path for each in found}) == 24
    assert git(clone, "worktree", "list").count("stationkeeper/") == 24
    assert (clone / ".git" / "config").read_text() == before


def test_git_is_blind_to_the_repository_that_we_stand_in(shared, monkeypatch, tmp_path):
    """A worker that was started from a git hook still works in the folder that it is given."""
    with monkeypatch.context() as hook:
        hook.setenv("GIT_DIR", str(tmp_path / "nowhere"))
        hook.setenv("GIT_INDEX_FILE", str(tmp_path / "no-index"))
        found = made(shared, "BACK-1")
    assert git(found.path, "status", "--porcelain") == ""
    assert not (tmp_path / "no-index").exists()


def test_a_repository_of_another_user_is_worked_with(shared, monkeypatch):
    """The workflow's author chose it: git's doubt about who owns it stops nobody."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert not rooms.changed_since(made(shared, "BACK-1"))
