"""The push of a card's branch to a real remote: by lease, past what an agent wrote; and where a second host begins."""

import socket
import stat
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from orchestrator.ports.remotes import PushFailed, PushRefused
from orchestrator.workspaces import GitRemotes
from tests.guarded import PASSWORD, guarded
from tests.workspaces.hands import git, made, refused, rooms

BRANCH = "stationkeeper/BACK-1"


@pytest.fixture
def remote(tmp_path):
    """A bare repository, as a server keeps it."""
    path = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(path))
    return path


@pytest.fixture
def remotes(remote):
    """The door, in a worker that knows the address."""
    return GitRemotes({"PUSH_URL": str(remote)})


@pytest.fixture
def room(shared):
    """A card's workspace."""
    return made(shared, "BACK-1")


def work(path, text="two"):
    """An agent commits."""
    (path / "file.txt").write_text(text)
    git(path, "commit", "-q", "-a", "-m", text)
    return git(path, "rev-parse", "HEAD")


@pytest.mark.proves("H6")
def test_a_branch_is_pushed_and_found(remotes, room, shared):
    """Nothing to push at first; then the agent's commit, which the remote has afterwards."""
    assert remotes.tip(room, shared) == replace(remotes.tip(room, shared), sha=None, is_clean=True)
    sha = work(room.path)
    assert remotes.tip(room, shared).sha == sha
    assert remotes.found("$PUSH_URL", BRANCH) is None
    remotes.push("$PUSH_URL", room, sha, expected=None)
    assert remotes.found("$PUSH_URL", BRANCH) == sha


@pytest.mark.parametrize("leave", ["untracked", "changed", "elsewhere"])
def test_what_is_not_on_the_branch_is_not_pushed(remotes, room, shared, leave):
    """Then the workspace holds more than the remote will have, and says so."""
    work(room.path)
    if leave == "untracked":
        (room.path / "new.txt").write_text("new")
    elif leave == "changed":
        (room.path / "file.txt").write_text("three")
    else:
        git(room.path, "checkout", "-q", "--detach")
        work(room.path, "three")
    assert not remotes.tip(room, shared).is_clean


@pytest.mark.proves("H6")
def test_a_stale_owner_pushes_nothing_over_the_new_ones_work(remotes, room, remote):
    """It was frozen between its decision and its act; the lease of the push names what it pushed last."""
    first = work(room.path)
    remotes.push("$PUSH_URL", room, first, expected=None)
    theirs = work(room.path, "the new owner's")
    remotes.push("$PUSH_URL", room, theirs, expected=first)
    git(room.path, "reset", "-q", "--hard", first)
    late = work(room.path, "late")
    with pytest.raises(PushRefused):
        remotes.push("$PUSH_URL", room, late, expected=first)
    with pytest.raises(PushRefused):
        remotes.push("$PUSH_URL", room, late, expected=None)
    assert git(remote, "rev-parse", BRANCH) == theirs


def test_an_agents_own_history_may_be_rewritten(remotes, room, remote):
    """A rebase is no error while the remote has what we left there."""
    first = work(room.path)
    remotes.push("$PUSH_URL", room, first, expected=None)
    git(room.path, "commit", "-q", "--amend", "-m", "better")
    better = git(room.path, "rev-parse", "HEAD")
    remotes.push("$PUSH_URL", room, better, expected=first)
    assert git(remote, "rev-parse", BRANCH) == better


def test_what_an_agent_wrote_into_the_repository_has_no_say(remotes, room, repository, remote):
    """Neither its hook runs in our environment, nor does its setting lead the push elsewhere."""
    hook = repository / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nenv > {repository}/stolen\nexit 1\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    git(room.path, "config", f"url.{repository}/nowhere.insteadOf", str(remote))
    sha = work(room.path)
    remotes.push("$PUSH_URL", room, sha, expected=None)
    assert git(remote, "rev-parse", BRANCH) == sha
    assert not (repository / "stolen").exists()


def test_the_address_is_in_no_file_that_an_agent_sees(remotes, room, repository, remote):
    """Not in the clone's configuration, nor beside its references."""
    remotes.push("$PUSH_URL", room, work(room.path), expected=None)
    remotes.fetch("$PUSH_URL", BRANCH, repository)
    seen = [*room.path.rglob("*"), *(repository / ".git").rglob("*")]
    assert [path for path in seen if path.is_file() and str(remote).encode() in path.read_bytes()] == []


def test_a_failure_names_the_remote_and_no_secret(room):
    """The file's word for it, and git's reason without name and password."""
    gone = GitRemotes({"PUSH_URL": "https://robin:s3cret@127.0.0.1:9/x.git"})
    with pytest.raises(PushFailed) as caught:
        gone.found("$PUSH_URL", BRANCH)
    assert "$PUSH_URL" in str(caught.value)
    assert "s3cret" not in str(caught.value)
    with pytest.raises(PushFailed, match="not set where the worker runs"):
        gone.push("$OTHER", room, "0" * 40, expected=None)


@pytest.fixture
def elsewhere(tmp_path, repository, shared):
    """Another host: a clone and a root of its own, made before anything was pushed."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repository), str(clone))
    git(clone, "remote", "remove", "origin")
    return replace(shared, root=str(tmp_path / "far"), repository=str(clone))


@pytest.mark.proves("H6")
def test_another_host_goes_on_from_what_was_pushed(remotes, room, elsewhere):
    """The branch is fetched, and the new worktree begins at that commit."""
    sha = work(room.path)
    remotes.push("$PUSH_URL", room, sha, expected=None)
    remotes.fetch("$PUSH_URL", BRANCH, Path(elsewhere.repository))
    there = rooms.prepare(elsewhere, "BACK-1", start=sha)
    assert (there.head, (there.path / "file.txt").read_text()) == (sha, "two")
    more = work(there.path, "more")
    remotes.push("$PUSH_URL", there, more, expected=sha)


@pytest.mark.proves("H6", "WS-10")
def test_a_branch_that_was_here_before_is_taken_forward_only(remotes, room, elsewhere):
    """What it lacks comes in; what went its own way is named, and nothing of it is moved."""
    there = made(elsewhere, "BACK-1")
    sha = work(room.path)
    remotes.push("$PUSH_URL", room, sha, expected=None)
    remotes.fetch("$PUSH_URL", BRANCH, Path(elsewhere.repository))
    assert rooms.prepare(elsewhere, "BACK-1", start=sha).head == sha
    assert rooms.prepare(elsewhere, "BACK-1", start=sha).head == sha
    git(there.path, "reset", "-q", "--hard", "HEAD~1")
    own = work(there.path, "its own way")
    with pytest.raises(Exception, match="pushed by another host"):
        rooms.prepare(elsewhere, "BACK-1", start=sha)
    assert git(there.path, "rev-parse", "HEAD") == own


def test_a_remote_needs_a_repository(plain):
    """A plain folder has no branch; its door says that nothing can be pushed of it."""
    room = made(plain, "BACK-1")
    assert GitRemotes({}).tip(room, plain).sha is None
    assert not GitRemotes({}).tip(room, plain).is_clean
    assert "cannot name a folder" in refused(plain, "..")


@pytest.fixture
def guarded_remote(tmp_path):
    """A remote that lets in who has the credential."""
    folder = tmp_path / "served"
    folder.mkdir()
    with guarded(folder) as found:
        yield found


@pytest.mark.proves("H6")
def test_the_addresss_credential_pushes_and_stands_on_no_command_line(guarded_remote, room, tmp_path, monkeypatch):
    """Whatever git starts for the push is there for every user of the machine to read; and git remembers nothing."""
    trace = tmp_path / "trace"
    monkeypatch.setenv("GIT_TRACE", str(trace))
    sha = work(room.path)
    engine = GitRemotes({"PUSH_URL": guarded_remote.open_url})
    engine.push("$PUSH_URL", room, sha, expected=None)
    assert engine.found("$PUSH_URL", BRANCH) == sha
    assert f"remote-http {guarded_remote.url}" in trace.read_text()
    assert PASSWORD not in trace.read_text()


@pytest.mark.proves("H6")
def test_a_file_of_credentials_pushes_and_is_ours_alone(guarded_remote, room, tmp_path):
    """With no other place for it. What the remote refuses git would take out of the file: it is given a copy."""
    sha = work(room.path)
    file = tmp_path / "credentials"
    engine = GitRemotes({"PUSH_URL": guarded_remote.url}, file)
    with pytest.raises(PushFailed, match="the credentials cannot be read"):
        engine.push("$PUSH_URL", room, sha, expected=None)
    for text, mode, complaint in (("right", 0o640, "chmod 600 it"), ("wrong", 0o600, "failed")):
        file.write_text(guarded_remote.open_url.replace(PASSWORD, PASSWORD if text == "right" else text))
        file.chmod(mode)
        with pytest.raises(PushFailed, match=complaint):
            engine.push("$PUSH_URL", room, sha, expected=None)
        assert file.read_text()
    file.write_text(guarded_remote.open_url)
    engine.push("$PUSH_URL", room, sha, expected=None)
    assert guarded_remote.branches() == [BRANCH]


@pytest.mark.proves("H6", "SR-06")
@pytest.mark.timeout(60)
def test_a_remote_that_hangs_is_given_up_in_time_with_all_that_git_started(room):
    """Git leaves the talking to a program of its own, which would go on, and push after all when nobody expects it."""
    sha = work(room.path)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x.git"
        began = monotonic()
        with pytest.raises(PushFailed, match="did not end"):
            GitRemotes({"PUSH_URL": url}).push("$PUSH_URL", room, sha, expected=None, seconds=1.0)
        assert monotonic() - began < 20
        assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if url in said(path)]


def said(path):
    """A command line; empty when its process has just ended."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
