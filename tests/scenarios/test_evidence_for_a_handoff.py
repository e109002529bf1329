"""A workflow whose hand-offs ask for evidence believes no bare `done`: worked on real folders, with scripted agents."""

import subprocess
from dataclasses import replace

import pytest

from orchestrator.domain.turn import Outcome, TurnLimits
from orchestrator.domain.workflow import AgentSettings, Evidence
from orchestrator.ports.workspaces import WorkspaceFailed
from orchestrator.workspaces.rooms import GitWorkspaces
from tests.memory.workflows import workflow

pytestmark = pytest.mark.proves("TW-14")


@pytest.fixture
def repository(tmp_path):
    """A git repository with one commit."""
    folder = tmp_path / "repository"
    for words in (("init", "-q", str(folder)), ("-C", str(folder), *COMMIT)):
        subprocess.run(["git", *words], check=True)
    return folder


COMMIT = ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "work")


def demanding(evidence=Evidence.CHANGE, *, attempts=2):
    """A workflow that asks for that evidence."""
    base = workflow(turn_limits=TurnLimits(max_attempts=attempts))
    return replace(base, agent=AgentSettings(evidence=evidence))


@pytest.fixture
def world(stage, tmp_path, repository):
    """A world in which each card has a git worktree."""
    room = replace(demanding().workspace, root=str(tmp_path / "rooms"), repository=str(repository))
    found = stage.world(workflow=replace(demanding(), workspace=room), workspaces=GitWorkspaces())
    found.add("A-1")
    return found


def in_turn(world, *acts):
    """What the agent does to its workspace, turn by turn; afterwards nothing."""
    left = list(acts)
    world.agents.during = lambda turn: left.pop(0)(turn.workspace) if left else None


def commits(folder):
    """A commit."""
    subprocess.run(["git", "-C", str(folder), *COMMIT], check=True)


def writes(folder):
    """A file that is not committed."""
    (folder / "notes.md").write_text("done")


def idles(_folder):
    """Nothing."""


def ended(world):
    """How each turn ended."""
    return [stop for (stop,) in world.rows("select stop_reason from turn order by fence")]


@pytest.mark.parametrize("act", [commits, writes])
def test_a_commit_or_a_changed_tree_is_evidence(world, act):
    """The agent says done, and there is something to review."""
    in_turn(world, act)
    world.run_until_quiet()
    assert (ended(world), world.state("A-1")) == (["done"], "In Review")


def test_done_without_a_change_is_tried_again_and_then_a_persons(world):
    """It never reaches the review column, and the card says why."""
    world.run_until_quiet()
    assert ended(world) == ["no_evidence", "attempts_spent"]
    assert world.state("A-1") == "In Progress"
    assert any("nothing has changed" in comment.body for comment in world.board.said("A-1"))


def test_the_word_that_nothing_was_to_do_is_enough(world):
    """An explicit statement is no claim of work."""
    world.script("A-1", Outcome.NO_CHANGE)
    world.run_until_quiet()
    assert (ended(world), world.state("A-1")) == (["no_change"], "In Review")


def test_what_an_earlier_turn_of_the_task_did_counts(world):
    """It commits and goes on; the second turn only says that it is done."""
    world.script("A-1", Outcome.CONTINUE, Outcome.DONE)
    in_turn(world, commits, idles)
    world.run_until_quiet()
    assert (ended(world), world.state("A-1")) == (["done", "done"], "In Review")


def test_what_a_failed_turn_did_counts(world):
    """It broke off after the commit; the next one finds the work done."""
    world.script("A-1", Outcome.FAILED, Outcome.DONE)
    in_turn(world, commits, idles)
    world.run_until_quiet()
    assert (ended(world), world.state("A-1")) == (["agent_failed", "done"], "In Review")


def test_what_an_earlier_task_did_does_not(world):
    """A person wants the reviewed card done again: yesterday's commit is no answer to that."""
    in_turn(world, commits)
    world.run_until_quiet()
    world.drag("A-1", "Rework")
    world.run_until_quiet()
    assert ended(world) == ["done", "no_evidence", "attempts_spent"]
    assert world.state("A-1") == "In Progress"


def test_what_cannot_be_told_waits_for_a_person_and_is_no_failure(world, monkeypatch):
    """The folder cannot be read any more: nothing is handed off, and nothing is tried again over it."""

    def unreadable(_rooms, workspace):
        raise WorkspaceFailed(f"{workspace.path}: permission denied")

    monkeypatch.setattr(GitWorkspaces, "changed_since", unreadable)
    world.run_until_quiet()
    assert ended(world) == ["contract_broken"]
    assert world.rows("select kind from hold where lifted_at is null") == [("blocked",)]
    assert any("cannot be told" in comment.body for comment in world.board.said("A-1"))


def test_a_workflow_that_asks_for_nothing_believes_a_report(stage):
    """As ever."""
    world = stage.world(workflow=demanding(Evidence.REPORT))
    world.add("A-1")
    world.run_until_quiet()
    assert (ended(world), world.state("A-1")) == (["done"], "In Review")
