"""A workflow file is put in force when it is new or changed, by the process that saw it change."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from orchestrator.domain.overlap import overlap, shared_root
from orchestrator.domain.workflow import Workflow
from orchestrator.engine import publish
from orchestrator.engine.publish import Publisher
from orchestrator.ports.workflows import WorkflowFile, WorkflowInvalid
from tests.memory.workflows import CONTRACT, workflow

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
        """The file as it is now; a body may be a workflow of its own."""
        body = self.bodies[path]
        if body is None:
            raise WorkflowInvalid("workflow_parse_error", str(path), "it makes no sense")
        meant = body if isinstance(body, Workflow) else self.workflow
        return WorkflowFile(path, getattr(body, "name", body), f"digest of {body}", meant)

    def parse(self, body, *, path):  # noqa: ARG002 -- the door's signature
        """What a stored body means."""
        named = [each for each in self.bodies.values() if isinstance(each, Workflow) and each.name == body]
        return named[0] if named else self.workflow


@pytest.fixture
def publisher(world):
    """Two processes that watch the same file each, and what stands in force."""

    def watch(body):
        folder = Folder(world.workflow, {PATH: body})
        return folder, Publisher(replace(world.process.ports, workflows=folder))

    return watch


def problem_of(world):
    """What the row says of the file."""
    return world.one("select file_problem from workflow where name = 'world'")


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


@pytest.mark.proves("SR-05")
def test_a_bad_edit_keeps_the_last_good_version(world, publisher):
    """The file cannot be used: it is reported, and what was in force stays."""
    folder, ours = publisher("body")
    ours.look()
    before = in_force(world)
    folder.bodies[PATH] = None
    ours.look()
    assert in_force(world) == before


@pytest.mark.proves("CF-09")
def test_a_bad_edit_is_told_once_and_kept_until_it_is_mended(world, publisher, said):
    """One line in the log however often anybody looks, the sentence on the row, and nothing of it after a good edit."""
    folder, ours = publisher("body")
    ours.look()
    folder.bodies[PATH] = None
    for _ in range(3):
        ours.look()
    assert problem_of(world) == "WORKFLOW.md: it makes no sense"
    assert said().count("workflow refused") == 1
    folder.bodies[PATH] = "a good edit"
    ours.look()
    assert problem_of(world) is None
    assert in_force(world)[1] == "a good edit"
    assert said().count("workflow mended") == 1


def test_what_is_doubtful_in_a_good_edit_is_told_once(world, publisher, said):
    """A misspelt key is a warning and the file is in force; an edit elsewhere in the file does not repeat it."""
    doubtful = replace(world.workflow, warnings=(f"{PATH}:7: unknown key 'agent.max_turn'",))
    folder, ours = publisher("body")
    ours.look()
    before = said().count("workflow warned")
    folder.workflow = doubtful
    folder.bodies[PATH] = "with a slip"
    ours.look()
    folder.workflow = replace(doubtful, warnings=(f"{PATH}:8: unknown key 'agent.max_turn'",))
    folder.bodies[PATH] = "with a slip, a line further down"
    ours.look()
    assert said().count("workflow warned") == before + 1


@pytest.mark.proves("CF-09")
def test_taking_a_bad_edit_back_mends_the_file_too(world, publisher):
    """The text in force stands in the file again: no new version, and no complaint any more."""
    folder, ours = publisher("body")
    ours.look()
    before = in_force(world)
    folder.bodies[PATH] = None
    ours.look()
    folder.bodies[PATH] = "body"
    ours.look()
    assert (in_force(world), problem_of(world)) == (before, None)


def test_a_process_that_starts_on_the_mended_file_forgets_the_complaint(world, publisher):
    """Whoever stored it died before the file was good again."""
    folder, ours = publisher("body")
    ours.look()
    folder.bodies[PATH] = None
    ours.look()
    _, another = publisher(world.one("select 'body'"))
    world.store.slow.change("update workflow_version set digest = 'digest of body'")
    another.look()
    assert problem_of(world) is None


@pytest.mark.proves("H9", "CF-10")
def test_a_running_turn_keeps_the_version_that_it_was_opened_with(world, publisher):
    """The file changes under it; the turn's row names the old version, and the next turn the new one."""
    folder, ours = publisher("body")
    ours.look()
    world.add("A-1")
    world.tick()
    folder.bodies[PATH] = "new body"
    ours.look()
    world.bodies["new body"] = world.workflow
    world.add("A-2")
    world.tick()
    assert world.rows("select item.item_id, turn.workflow_version from turn join item on item.key = turn.item_key") == [
        ("A-1", 1),
        ("A-2", 2),
    ]


@pytest.mark.proves("SC-19")
def test_a_second_workflow_on_the_same_cards_is_refused_with_the_reason(world, publisher):
    """Both are active in the same states of one board and nothing divides them: the second never gets a row."""
    folder, ours = publisher("body")
    folder.bodies[Path("other/WORKFLOW.md")] = replace(workflow(), name="other")
    with pytest.raises(WorkflowInvalid, match=r"'world' serves the same board and is active in 'Todo'.*SC-19"):
        publish.enforce(world.store, [ours._ports.workflows.read(path) for path in folder.files()], door=folder)
    ours.look()
    assert world.store.workflows.current("other") is None


@pytest.mark.proves("SC-19")
def test_workflows_that_are_put_in_force_at_once_are_judged_against_each_other(world):
    """The row is refused when the neighbours are not those that it was judged against."""
    row = world.store.workflows.current("world")
    late = replace(row, name="other", version=0)
    assert world.store.workflows.publish(late, interval_ms=1, beside={}) is None
    assert world.store.workflows.current("other") is None
    assert world.store.workflows.publish(late, interval_ms=1, beside={"world": row.version}).version == 1


def test_two_files_of_one_name_are_refused(world, publisher):
    """A name is unique in an installation: the second file is not taken for an edit of the first."""
    folder, ours = publisher("body")
    ours.look()
    before = in_force(world)
    folder.bodies[Path("other/WORKFLOW.md")] = "other body"
    for _ in range(2):
        ours.look()
    folder.bodies[Path("other/WORKFLOW.md")] = "edited body"
    ours.look()
    assert in_force(world) == before
    with pytest.raises(WorkflowInvalid, match=r"is that of WORKFLOW\.md too"):
        publish.enforce(world.store, [folder.read(path) for path in folder.files()], door=folder)


@pytest.mark.proves("SC-19")
@pytest.mark.parametrize(
    ("ours", "theirs", "is_refused"),
    [
        ({}, {}, True),
        ({"required_labels": ("a",)}, {"required_labels": ("b",)}, True),
        ({"assignee": "ann"}, {}, True),
        ({"assignee": "Ann"}, {"assignee": " ann "}, True),
        ({"assignee": "ann"}, {"assignee": "ben"}, False),
        ({"trusted_authors": ("ann", "ben")}, {"trusted_authors": ("ben",)}, True),
        ({"trusted_authors": ("ann",)}, {"trusted_authors": ("ben",)}, False),
    ],
)
def test_only_filters_that_no_card_passes_both_divide_a_board(ours, theirs, is_refused):
    """A card can bear two labels, and has one assignee and one author."""
    one, other = (replace(workflow(**limits), name=name) for name, limits in (("one", ours), ("other", theirs)))
    assert (overlap(one, other) is not None) is is_refused


@pytest.mark.proves("SC-19")
def test_other_states_or_another_board_overlap_with_nothing():
    """Case and spaces do not make another state of one."""
    one = workflow(replace(CONTRACT, active=("Todo",), in_progress=None))
    assert overlap(one, workflow(replace(CONTRACT, active=("Rework", "In Progress")))) is None
    assert overlap(one, replace(one, scope="memory:elsewhere")) is None
    assert overlap(one, workflow(replace(CONTRACT, active=(" todo ",), in_progress=None))) is not None


def test_two_boards_below_one_folder_are_worth_a_warning():
    """Two boards in one root may have cards of one key; one board, or two roots, may not."""
    one = workflow()
    other = replace(one, name="other", scope="memory:elsewhere")
    assert "'world' and 'other' serve two boards and share workspace.root memory" in shared_root(one, other)
    assert shared_root(one, replace(one, name="other")) is None
    assert shared_root(one, replace(other, workspace=replace(one.workspace, root="elsewhere"))) is None


def test_what_is_doubtful_in_the_file_in_force_is_on_its_row(world, publisher):
    """Written by who starts with it or sees it edited, once; a stale copy elsewhere has no word in it."""
    folder, ours = publisher("body")
    ours.look()
    folder.workflow, folder.bodies[PATH] = replace(world.workflow, warnings=("WORKFLOW.md:3: doubtful",)), "edited"
    ours.look()
    (told,) = world.store.queries.overview().workflows
    assert told.warnings == ("WORKFLOW.md:3: doubtful",)
    version, _ = in_force(world)
    assert not world.store.workflows.set_warnings("world", told.warnings, version=version)
    assert not world.store.workflows.set_warnings("world", (), version=version - 1)
    stale, theirs = publisher("older body")
    stale.workflow = replace(world.workflow, warnings=("WORKFLOW.md:9: stale",))
    theirs.look()
    assert world.one("select warnings from workflow where name = 'world'") == ["WORKFLOW.md:3: doubtful"]
    folder.workflow, folder.bodies[PATH] = replace(world.workflow, warnings=()), "new body"
    ours.look()
    assert world.one("select warnings from workflow where name = 'world'") == []
    publish.enforce(
        world.store,
        [WorkflowFile(PATH, "new body", "digest of new body", replace(world.workflow, warnings=("again",)))],
        door=folder,
    )
    assert world.one("select warnings from workflow where name = 'world'") == ["again"]
