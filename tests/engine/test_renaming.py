"""A file that is given another name, and a workflow that a person let go: who brings it back, and who does not."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.domain.workflow import Workflow
from orchestrator.engine import publish
from orchestrator.engine.publish import Publisher
from orchestrator.ports.workflows import WorkflowFile, WorkflowInvalid
from tests.memory.workflows import workflow

PATH = Path("WORKFLOW.md")


class Files:
    """The workflow door on files in the hand: by path, the name that the file gives itself and its text."""

    def __init__(self, **bodies: str) -> None:
        self.named = {Path(f"{path}.md"): body for path, body in bodies.items()}

    def files(self) -> tuple[Path, ...]:
        """The files that there are."""
        return tuple(self.named)

    def read(self, path: Path) -> WorkflowFile:
        """The file as it is now."""
        body = self.named[path]
        return WorkflowFile(path, body, f"digest of {body}", self.parse(body, path=path))

    def parse(self, body: str, *, path: Path) -> Workflow:  # noqa: ARG002 -- the door's signature
        """The first word is the name, the second says which board."""
        name, board, *_ = body.split()
        return replace(workflow(), name=name, scope=board)


@pytest.fixture
def host(world):
    """A process on a host of its own that sees these files, after its first look."""
    for table in ("reconciler", "workflow_version", "workflow"):
        world.store.slow.change(f"delete from {table}")

    def watch(**bodies):
        files = Files(**bodies)
        publisher = Publisher(replace(world.process.ports, workflows=files))
        publisher.look()
        return files, publisher

    return watch


def in_force(world):
    """The names that are served."""
    return [row.name for row in world.store.workflows.all()]


@pytest.mark.proves("H9")
def test_a_file_that_is_given_another_name_is_that_workflow_from_now_on(world, host):
    """No second workflow on the same cards is left behind; the name given back brings the first one back."""
    files, ours = host(WORKFLOW="old text")
    files.named[PATH] = "new text"
    ours.look()
    assert in_force(world) == ["new"]
    files.named[PATH] = "old text"
    ours.look()
    assert in_force(world) == ["old"]
    assert world.store.workflows.current("old").version == 2


@pytest.mark.proves("H9")
def test_a_stale_copy_on_another_host_renames_nothing_back(world, host):
    """Neither while it runs nor when it starts again; an edit of it would be a second workflow on the same cards."""
    stale, theirs = host(WORKFLOW="old text")
    files, ours = host(WORKFLOW="old text")
    files.named[PATH] = "new text"
    ours.look()
    theirs.look()
    host(WORKFLOW="old text")
    assert in_force(world) == ["new"]
    stale.named[PATH] = "old text edited"
    theirs.look()
    assert in_force(world) == ["new"]


@pytest.mark.proves("H9")
def test_a_stale_copy_that_is_renamed_lets_nothing_go(world, host):
    """Its text was not the one in force: what another host serves stays, and the edit is a second workflow."""
    stale, theirs = host(WORKFLOW="old text")
    files, ours = host(WORKFLOW="old text")
    files.named[PATH] = "old text mended"
    ours.look()
    theirs.look()
    stale.named[PATH] = "mine text"
    theirs.look()
    assert in_force(world) == ["old"]


@pytest.mark.proves("H9", "SC-19")
def test_a_name_that_another_file_has_in_force_is_not_taken(world, host):
    """Somebody else serves it: a renamed file does not become its next version."""
    host(other="mine here")
    files, ours = host(WORKFLOW="yours there")
    before = world.store.workflows.current("mine")
    files.named[PATH] = "mine there"
    ours.look()
    assert in_force(world) == ["mine", "yours"]
    assert world.store.workflows.current("mine") == before
    complaint = world.one("select file_problem from workflow where name = 'yours'")
    assert "the name 'mine' is that of other.md too" in complaint


def test_whoever_starts_the_system_with_a_renamed_file_means_it(world, host):
    """It was edited while nothing ran: what it was is retired, unless another host may have a file at that path."""
    host(WORKFLOW="old text")
    files = Files(WORKFLOW="new text")
    with pytest.raises(WorkflowInvalid, match="orchestrator retire old"):
        publish.enforce(world.store, [files.read(PATH)], door=files)
    publish.enforce(world.store, [files.read(PATH)], door=files, alone=True)
    assert in_force(world) == ["new"]


@pytest.mark.proves("H9")
def test_a_retired_workflow_comes_back_by_an_edit_or_a_start_only(world, host, said):
    """A host that still has the file, or starts with it, changes nothing and says so once."""
    files, ours = host(WORKFLOW="old text")
    assert publish.retire(world.store, "old")
    assert not publish.retire(world.store, "old")
    ours.look()
    host(WORKFLOW="old text")[1].look()
    assert in_force(world) == []
    assert said().count("workflow warned") == 1
    files.named[PATH] = "old edited"
    ours.look()
    assert in_force(world) == ["old"]
    publish.retire(world.store, "old")
    publish.enforce(world.store, [files.read(PATH)], door=files)
    assert in_force(world) == ["old"]


@pytest.mark.proves("SC-19")
def test_a_file_that_cannot_follow_its_old_name_says_how_to_let_that_go(world, host):
    """A process that starts on the renamed file has seen no edit; a person decides."""
    host(WORKFLOW="old text")
    files, ours = host(WORKFLOW="new text")
    assert in_force(world) == ["old"]
    with pytest.raises(WorkflowInvalid, match=r"name 'old' back, or let that one go with `orchestrator retire old`"):
        publish.put_in_force(world.store, files.read(PATH), seen_version=0, door=files)
    publish.retire(world.store, "old")
    ours.look()
    assert in_force(world) == ["new"]


def test_another_board_is_another_workflow_while_something_is_open(world, host):
    """The edit is refused with the remedy; with another name the open turn ends where it began."""
    files, ours = host(WORKFLOW="old memory:world")
    world.bodies["old memory:world"] = workflow()
    world.add("A-1")
    world.tick()
    files.named[PATH] = "old elsewhere"
    ours.look()
    assert world.store.workflows.current("old").scope == "memory:world"
    complaint = world.one("select file_problem from workflow")
    assert "still has open turns" in complaint
    assert "another 'name'" in complaint
    files.named[PATH] = "new elsewhere"
    world.bodies["new elsewhere"] = replace(workflow(), name="new", scope="elsewhere")
    ours.look()
    assert in_force(world) == ["new"]
    world.deliver()
    world.relay()
    assert world.state("A-1") == "In Review"


def test_a_file_that_moved_is_told_from_where_its_paths_are_seen(world, host, said):
    """A process that starts on it saw no edit: the version in force keeps its place, and that is said."""
    host(other="old text")
    host(WORKFLOW="old text")
    assert world.store.workflows.current("old").path == "other.md"
    assert said().count("workflow warned") == 1
