"""A workflow file is put in force when it is new or changed, by the process that saw it change."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from orchestrator.engine.publish import Publisher
from orchestrator.ports.workflows import WorkflowFile, WorkflowInvalid

PATH = Path("WORKFLOW.md")


@dataclass
class Folder:
    """The workflow door on a file in the hand; a body of None cannot be used."""

    workflow: object
    bodies: dict = field(default_factory=dict)

    def files(self):
        """The files that there are."""
        return tuple(self.bodies)

    def read(self, path):
        """The file as it is now."""
        body = self.bodies[path]
        if body is None:
            raise WorkflowInvalid("workflow_parse_error", str(path), "it makes no sense")
        return WorkflowFile(path, body, f"digest of {body}", self.workflow)


@pytest.fixture
def publisher(world):
    """Two processes that watch the same file each, and what stands in force."""

    def watch(body):
        folder = Folder(world.workflow, {PATH: body})
        return folder, Publisher(replace(world.process.ports, workflows=folder))

    return watch


def in_force(world):
    """The version and the text that every process follows."""
    row = world.store.workflows.current("world")
    return row.version, row.body


@pytest.mark.proves("H9")
def test_a_file_that_changed_is_the_next_version(world, publisher):
    """The process saw it change, so it may say so."""
    folder, ours = publisher("body")
    ours.look()
    folder.bodies[PATH] = "new body"
    ours.look()
    ours.look()
    version, body = in_force(world)
    assert body == "new body"
    ours.look()
    assert in_force(world) == (version, body)


@pytest.mark.proves("H9")
def test_a_stale_copy_on_another_host_flips_nothing_back(world, publisher):
    """A file that merely differs, and has not changed since its process began, is only reported."""
    folder, ours = publisher("body")
    ours.look()
    folder.bodies[PATH] = "new body"
    ours.look()
    before = in_force(world)
    _, stale = publisher("old body")
    stale.look()
    stale.look()
    assert in_force(world) == before


def test_a_bad_edit_keeps_the_last_good_version(world, publisher):
    """The file cannot be used: it is reported, and what was in force stays."""
    folder, ours = publisher("body")
    ours.look()
    before = in_force(world)
    folder.bodies[PATH] = None
    ours.look()
    assert in_force(world) == before
