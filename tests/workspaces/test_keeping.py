"""What would be lost with a workspace is kept before it goes: on real disks, with real repositories."""

import subprocess
import tarfile
from pathlib import Path

import pytest

from orchestrator.ports.store import Made
from orchestrator.ports.workspaces import WorkspaceBusy, WorkspaceFailed
from orchestrator.workspaces import keeping
from tests.workspaces.hands import git, made, rooms


def as_made(found):
    """What our records say of a workspace."""
    return Made("here", found.path, found.path.parent, found.lock_path, found.repository, found.branch)


@pytest.fixture
def room(shared):
    """A worktree."""
    return made(shared, "BACK-1")


@pytest.fixture
def keep(room, tmp_path):
    """Preserve the worktree's work as that of turn 2."""
    return lambda: rooms.preserve(as_made(room), "BACK-1/2", tmp_path / "kept")


@pytest.mark.proves("WS-12")
def test_everything_uncommitted_becomes_a_commit_beside_the_branch(room, repository, keep):
    """Changed, staged, deleted and untracked files; the branch, the index and the folder stay as they are."""
    (room.path / "file.txt").write_text("changed\n")
    (room.path / "new").mkdir()
    (room.path / "new" / "notes.txt").write_text("half done\n")
    (room.path / "debug.log").write_text("ignored\n")
    before, branch = git(room.path, "status", "--porcelain"), git(repository, "rev-parse", room.branch)
    assert keep() == f"refs/stationkeeper/kept/BACK-1/2 in {repository}"
    kept = "refs/stationkeeper/kept/BACK-1/2"
    assert git(repository, "show", f"{kept}:file.txt") == "changed"
    assert git(repository, "show", f"{kept}:new/notes.txt") == "half done"
    assert git(repository, "rev-parse", f"{kept}^") == branch == git(repository, "rev-parse", room.branch)
    assert git(room.path, "status", "--porcelain") == before
    assert "debug.log" not in git(repository, "ls-tree", "-r", "--name-only", kept)


@pytest.mark.proves("WS-12")
def test_committed_work_stays_on_its_branch_and_a_lonely_commit_is_kept(room, repository, keep):
    """A branch is never deleted by us, so what is on one is safe; what is on none gets a ref."""
    git(room.path, "commit", "-q", "--allow-empty", "-m", "work")
    assert keep() is None
    git(room.path, "checkout", "-q", "--detach")
    git(room.path, "commit", "-q", "--allow-empty", "-m", "lonely")
    lonely = git(room.path, "rev-parse", "HEAD")
    assert keep() == f"refs/stationkeeper/kept/BACK-1/2 in {repository}"
    assert git(repository, "rev-parse", "refs/stationkeeper/kept/BACK-1/2") == lonely


@pytest.mark.proves("WS-12")
def test_kept_work_is_never_written_over(room, repository, keep):
    """The same turn's second keeping gets another name."""
    for text in ("first", "second"):
        (room.path / "file.txt").write_text(text)
        keep()
    names = [f"refs/stationkeeper/kept/BACK-1/{name}" for name in ("2", "2-2")]
    assert [git(repository, "show", f"{name}:file.txt") for name in names] == ["first", "second"]


@pytest.mark.proves("WS-12")
def test_an_agents_own_clone_inside_is_not_kept_as_a_mere_name(room, keep):
    """Git would note that a repository was there and lose what is in it."""
    inner = room.path / "vendor"
    git(room.path, "init", "-q", str(inner))
    (inner / "work.txt").write_text("work")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "inner")
    with tarfile.open(keep()) as archive:
        assert "BACK-1/vendor/work.txt" in archive.getnames()


@pytest.mark.proves("WS-12")
def test_a_clone_is_kept_as_a_bundle_unless_all_is_pushed(plain, repository, tmp_path):
    """A hook cloned it: what the remote has is safe, the rest goes into a file that git can clone."""
    room = made(plain, "BACK-1")
    git(tmp_path, "clone", "-q", str(repository), str(room.path))
    assert rooms.preserve(as_made(room), "BACK-1/1", tmp_path / "kept") is None
    (room.path / "notes.txt").write_text("half done")
    bundle = rooms.preserve(as_made(room), "BACK-1/1", tmp_path / "kept")
    git(tmp_path, "clone", "-q", "--mirror", bundle, str(tmp_path / "back"))
    assert git(tmp_path / "back", "show", "refs/stationkeeper/kept/BACK-1/1:notes.txt") == "half done"
    git(room.path, "clean", "-fdq")
    git(room.path, "commit", "-q", "--allow-empty", "-m", "unpushed")
    assert rooms.preserve(as_made(room), "BACK-1/2", tmp_path / "kept").endswith("2.bundle")


@pytest.mark.proves("WS-12")
def test_a_plain_folder_is_kept_as_an_archive(plain, tmp_path):
    """Nobody can tell which of its files are nowhere else; an empty one needs nothing."""
    room = made(plain, "BACK-1")
    assert rooms.preserve(as_made(room), "BACK-1/1", tmp_path / "kept") is None
    (room.path / "notes.txt").write_text("half done")
    file = rooms.preserve(as_made(room), "BACK-1/1", tmp_path / "kept")
    with tarfile.open(file) as archive:
        assert archive.extractfile("BACK-1/notes.txt").read() == b"half done"
    assert rooms.preserve(as_made(room), "BACK-1/1", tmp_path / "kept") != file


@pytest.mark.proves("WS-12")
def test_a_repository_without_a_commit_is_kept(plain, tmp_path):
    """The agent began from nothing."""
    room = made(plain, "BACK-1")
    git(room.path, "init", "-q")
    (room.path / "first.txt").write_text("first")
    bundle = rooms.preserve(as_made(room), "BACK-1/1", tmp_path / "kept")
    assert "refs/stationkeeper/kept/BACK-1/1" in git(tmp_path, "bundle", "list-heads", bundle)


@pytest.mark.proves("WS-11")
def test_a_removal_takes_the_folder_and_leaves_the_branch(settings, repository):
    """The worktree is registered no more; the item's next workspace is made anew, on the same branch."""
    room = made(settings, "BACK-1")
    (room.path / "file.txt").write_text("changed")
    with rooms.closed(as_made(room)):
        rooms.remove(as_made(room))
    assert not room.path.exists()
    assert "BACK-1" not in git(repository, "worktree", "list")
    if room.branch:
        assert git(repository, "rev-parse", "--verify", room.branch)
    assert rooms.prepare(settings, "BACK-1").created_now


@pytest.mark.proves("WS-11", "WS-13")
def test_nothing_is_removed_outside_the_root_or_from_under_an_agent(settings, tmp_path):
    """The recorded path must be a child of the recorded root still, and its lock free."""
    room = made(settings, "BACK-1")
    with rooms.closed(as_made(room)), pytest.raises(WorkspaceBusy), rooms.closed(as_made(room)):
        pass
    elsewhere = Made("here", tmp_path, room.path.parent, room.lock_path, None, None)
    with pytest.raises(WorkspaceFailed, match="not a folder of"):
        rooms.remove(elsewhere)
    room.path.parent.rename(tmp_path / "moved")
    room.path.parent.symlink_to(tmp_path / "moved")
    with pytest.raises(WorkspaceFailed, match="not a folder of"):
        rooms.remove(as_made(room))
    assert (tmp_path / "moved" / "BACK-1").is_dir()


@pytest.mark.proves("WS-11")
def test_a_link_inside_is_removed_and_not_followed(plain, tmp_path):
    """What an agent linked to stays."""
    room = made(plain, "BACK-1")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    (room.path / "link").symlink_to(tmp_path / "mine")
    rooms.remove(as_made(room))
    assert (tmp_path / "mine" / "file").read_text() == "mine"


@pytest.mark.proves("WS-12")
def test_work_that_cannot_be_kept_is_not_removed(room, tmp_path):
    """The caller is told, and stops before the removal."""
    (room.path / "file.txt").write_text("changed")
    subprocess.run(["git", "init", "-q", str(room.path / "vendor")], check=True)
    git(room.path / "vendor", "commit", "-q", "--allow-empty", "-m", "inner")
    (tmp_path / "kept").write_text("a file stands where the folder belongs")
    with pytest.raises(WorkspaceFailed, match="not kept yet"):
        rooms.preserve(as_made(room), "BACK-1/2", tmp_path / "kept")
    assert (room.path / "file.txt").read_text() == "changed"


@pytest.mark.proves("WS-12")
def test_of_what_git_ignores_that_is_kept_which_the_workflow_names(room, repository, tmp_path):
    """In a file that our user alone may read, also beside finished work; in no commit, and nothing else with it."""
    (room.path / ".gitignore").write_text("*.log\nnotes/\n.env\n")
    git(room.path, "add", ".")
    git(room.path, "commit", "-q", "-m", "ignore")
    (room.path / "notes" / "deep").mkdir(parents=True)
    (room.path / "notes" / "deep" / "plan.md").write_text("half done")
    (room.path / ".env").write_text("secret")
    (room.path / "debug.log").write_text("noise")
    file = rooms.preserve(as_made(room), "BACK-1/2", tmp_path / "kept", ignored=["/notes/", "*.sqlite"])
    with tarfile.open(file) as archive:
        assert archive.getnames() == ["BACK-1/notes/deep/plan.md"]
    assert Path(file).stat().st_mode & 0o777 == 0o600
    assert git(repository, "for-each-ref", "refs/stationkeeper") == ""
    assert rooms.preserve(as_made(room), "BACK-1/3", tmp_path / "kept", ignored=["*.sqlite"]) is None


@pytest.mark.proves("WS-12")
def test_too_much_of_what_git_ignores_keeps_the_workspace(room, tmp_path, monkeypatch):
    """A pattern that names a build is for a person to mend; until then nothing is lost."""
    monkeypatch.setattr(keeping, "MOST_IGNORED_BYTES", 3)
    (room.path / "debug.log").write_text("four")
    with pytest.raises(WorkspaceFailed, match=r"workspace\.keep_ignored names more than"):
        rooms.preserve(as_made(room), "BACK-1/2", tmp_path / "kept", ignored=["*.log"])
