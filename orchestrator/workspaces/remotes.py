"""Pushes an item's branch and asks the remote: from an empty repository of ours that borrows the objects.

What an agent may have written into the repository (its hooks, its configuration) is not read there, and the remote's
address stands in no file that an agent sees. A credential goes to git by a file that lasts as long as the talk: on a
command line every user of the machine could read it. The push is git's compare-and-set: `--force-with-lease` with the
commit that we pushed last.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestrator.domain.workflow import WorkspaceSettings
from orchestrator.ports.remotes import PUSH_SECONDS, PushFailed, PushRefused, Tip
from orchestrator.ports.workspaces import Workspace, WorkspaceFailed
from orchestrator.workspaces import git, worktree

# What git says of a lease that does not hold, and what a remote says of a branch that another push moved meanwhile.
_REFUSALS = (b"stale info", b"fetch first", b"non-fast-forward", b"cannot lock ref", b"failed to update ref")
_SIGNED = re.compile(r"(https?://)[^/@:\s]+:[^/@\s]+@([^/]+)")
_SECRET = re.compile(r"(?<=//)[^/@\s]+@")


@dataclass(frozen=True, slots=True)
class GitRemotes:
    """Remotes by git. The credential is the address's own, else what `credentials` holds, else the worker's user's.

    `credentials` is a file as `git credential-store` writes it; it is read anew for each talk, so a token may change.
    """

    environment: Mapping[str, str]
    credentials: Path | None = None

    def tip(self, workspace: Workspace, settings: WorkspaceSettings) -> Tip:
        """What the workspace has. Raises WorkspaceFailed."""
        path, branch, repository = workspace.path, workspace.branch, workspace.repository
        if branch is None or repository is None:
            return Tip(None, is_clean=False)
        commit = git.ask(path, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}")
        head = git.ask(path, "rev-parse", "--verify", "--quiet", "HEAD")
        is_clean = head == commit and not git.run(path, "status", "--porcelain", "--untracked-files=all")
        if commit is None:
            return Tip(None, is_clean=is_clean)
        has_nothing = git.ask(repository, "merge-base", "--is-ancestor", commit, settings.base or "HEAD") is not None
        return Tip(None if has_nothing else commit, is_clean=is_clean)

    def found(self, remote: str, branch: str) -> str | None:
        """The commit of the branch on the remote. Raises PushFailed."""
        address = self._address(remote)
        with _apart(None) as place:
            self._introduce(address, place)
            said = _talk(place, "ls-remote", _bare(address), f"refs/heads/{branch}", remote=remote)
        return said.split()[0].decode() if said.split() else None

    def fetch(self, remote: str, branch: str, repository: Path) -> None:
        """Have the objects of the remote's branch in the repository. Raises PushFailed."""
        address = self._address(remote)
        with _apart(repository) as place:
            kept = "refs/heads/pushed"
            wanted = f"+refs/heads/{branch}:{kept}"
            self._introduce(address, place)
            _talk(place, "fetch", "--no-tags", _bare(address), wanted, remote=remote)
            # From a folder beside it, so that only git's own objects come in.
            words = ("fetch", "--no-tags", "--no-write-fetch-head", str(place), f"+{kept}:{_pushed(branch)}")
            _talk(repository, *words, remote=remote)

    def push(
        self, remote: str, workspace: Workspace, commit: str, *, expected: str | None, seconds: float = PUSH_SECONDS
    ) -> None:
        """Push with lease. Raises PushRefused and PushFailed."""
        address, ref = self._address(remote), f"refs/heads/{workspace.branch}"
        lease = f"--force-with-lease={ref}:{expected or ''}"
        with _apart(workspace.repository) as place:
            words = ("push", "--porcelain", "--no-verify", lease, _bare(address), f"{commit}:{ref}")
            self._introduce(address, place)
            _talk(place, *words, remote=remote, seconds=seconds)

    def _address(self, remote: str) -> str:
        if not remote.startswith("$"):
            return remote
        name = remote[1:].strip("{}")
        if not self.environment.get(name):
            raise PushFailed(f"workspace.remote: {remote} is not set where the worker runs; set it there")
        return self.environment[name]

    def _introduce(self, address: str, place: Path) -> None:
        """Have git in `place` find our credential, and ask nobody else. Raises PushFailed."""
        found = _SIGNED.match(address)
        known = f"{found[0]}\n" if found else None if self.credentials is None else _read(self.credentials)
        if known is None:
            return
        file = place / "known"  # git takes away what the remote refused, and the file that it is told of is ours
        file.touch(mode=0o600)
        file.write_text(known, encoding="utf-8")
        for helper in ("", f"store --file={shlex.quote(str(file))}"):
            git.run(place, "config", "--add", "credential.helper", helper)


def _bare(address: str) -> str:
    """The address without the credential in it; a mere user's name of ssh stays."""
    return _SIGNED.sub(lambda found: f"{found[1]}{found[2]}", address)


def _read(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            if mode & 0o077:
                raise PushFailed(f"{file}: others than its owner may use it (mode {mode & 0o777:o}); chmod 600 it")
            return opened.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise PushFailed(
            f"{file}: the credentials cannot be read ({reason}); correct it, or unset its variable"
        ) from error


def _pushed(branch: str) -> str:
    """Where a fetched branch is kept, so that git does not take its objects for rubbish."""
    return f"refs/stationkeeper/pushed/{branch}"


@contextmanager
def _apart(repository: Path | None) -> Iterator[Path]:
    """An empty repository that borrows the objects of `repository`."""
    with tempfile.TemporaryDirectory(prefix="stationkeeper-") as aside:
        place = Path(aside)
        git.run(place, "init", "--quiet", "--bare")
        if repository is not None:
            borrowed = place / "objects" / "info" / "alternates"
            borrowed.write_text(f"{worktree.git_folder(repository) / 'objects'}\n", encoding="utf-8")
        yield place


def _talk(place: Path, *words: str, remote: str, seconds: float = PUSH_SECONDS) -> bytes:
    """Speak with the remote. Raises PushRefused and PushFailed, whose message shows the remote as the file names it."""
    try:
        done = git.attempt(place, *words, seconds=seconds)
    except WorkspaceFailed as error:
        raise PushFailed(f"{remote}: 'git {words[0]}' did not end: {_blurred(str(error))}") from error
    if done.returncode == 0:
        return done.stdout
    said = done.stdout + b"\n" + done.stderr
    if words[0] == "push" and any(word in said for word in _REFUSALS):
        raise PushRefused(f"{remote}: the branch is not where we left it")
    raise PushFailed(f"{remote}: 'git {words[0]}' failed: {_blurred(git.tail(said))}")


def _blurred(text: str) -> str:
    return _SECRET.sub("", text)
