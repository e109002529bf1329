"""What a person does beside the workspaces: runs git, and reads why there is no workspace."""

import subprocess

import pytest

from orchestrator.ports.workspaces import WorkspaceFailed
from orchestrator.workspaces import GitWorkspaces

rooms = GitWorkspaces()


def git(folder, *arguments):
    """What git says there."""
    identity = ("-c", "user.name=Robin", "-c", "user.email=robin@example.org")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def made(settings, identifier):
    """The item's workspace, its making complete."""
    found = rooms.prepare(settings, identifier)
    rooms.finish(found)
    return found


def refused(settings, identifier):
    """Why there is no workspace for this item."""
    with pytest.raises(WorkspaceFailed) as caught:
        rooms.prepare(settings, identifier)
    return str(caught.value)
