"""Work leaves its host by the engine's push: before the hand-off, once, over nothing of anybody else."""

from dataclasses import replace

import pytest

from orchestrator.domain.turn import Outcome
from orchestrator.domain.workflow import WorkspaceSettings
from orchestrator.ports.remotes import PushFailed
from tests.memory.desk import Killed
from tests.memory.hosts import turn_to, vanish
from tests.memory.workflows import workflow
from tests.scenarios.test_several_hosts import FAR, gone, ran_on, standing
from tests.world import HOST, LEASE_SECONDS

BRANCH = "stationkeeper/A-1"


@pytest.fixture
def world(stage):
    """A card, and a workflow that names a remote; its agent commits "one" at its first turn, "two" at its second."""
    settings = WorkspaceSettings("/w", repository="/repository", remote="$PUSH_URL")
    found = stage.world(workflow=replace(workflow(), workspace=settings))
    found.add("A-1")
    commits = iter(["one", "two", "three"])
    found.agents.during = lambda turn: found.remotes.works(turn.issue_id, next(commits))
    return found


def records(world):
    """What our records say of the branch: pushed, meant, and whether the workspace holds nothing else."""
    return world.rows("select pushed, pushing, settled from item join workspace on item_key = item.key")


@pytest.mark.proves("TW-15", "FS-32", "H6")
def test_the_work_is_on_the_remote_before_the_card_is_handed_off(world):
    """Meant, sent, recorded; only then the card moves."""
    world.remotes.after = lambda: seen.append((world.state("A-1"), records(world)[0][1]))
    seen = []
    world.run_until_quiet()
    assert seen == [("Todo", "one")]
    assert (world.state("A-1"), world.remotes.branches) == ("In Review", {BRANCH: "one"})
    assert records(world) == [("one", None, True)]
    assert world.rows("select name from step where ordinal in (3, 203) order by ordinal") == [("agent",), ("pushed",)]


@pytest.mark.proves("H6")
def test_each_turn_pushes_over_what_the_one_before_pushed(world):
    """A continuation, on the same host: the remote is not asked, the lease asks it."""
    world.script("A-1", Outcome.CONTINUE)
    world.run_until_quiet()
    assert (world.remotes.log, records(world)) == (["one", "two"], [("two", None, True)])


@pytest.mark.proves("H6")
def test_pushed_work_of_a_host_that_is_gone_goes_on_by_itself(world):
    """The next turn begins on another host, from the commit that was pushed last."""
    world.script("A-1", Outcome.CONTINUE)
    world.settle_down()
    world.hire(FAR)
    gone(world)
    world.run_until_quiet()
    assert (standing(world), ran_on(world)) == ([], [HOST, FAR])
    assert world.workspaces.starts == [None, "one"]
    assert (world.state("A-1"), world.remotes.log) == ("In Review", ["one", "two"])


@pytest.mark.proves("H6")
@pytest.mark.parametrize("moved", [False, True])
def test_an_agents_conversation_stays_on_its_host(world, moved):
    """What the program remembers lies on the disk of the first one: on another it gets the whole prompt again."""
    world.script("A-1", Outcome.CONTINUE)
    world.settle_down()
    seen = []
    world.agents.during = lambda turn: seen.append(turn.session)
    if moved:
        world.hire(FAR)
        gone(world)
    world.run_until_quiet()
    assert seen == [None if moved else "session of A-1"]


@pytest.mark.proves("H6")
def test_work_beside_the_pushed_commit_is_a_persons_to_let_go(world):
    """Something is not committed on the host that is gone; released, the work begins from the last push."""
    world.script("A-1", Outcome.CONTINUE)
    world.agents.during = lambda turn: world.remotes.works(turn.issue_id, "one", is_clean=False)
    world.settle_down()
    world.hire(FAR)
    gone(world)
    assert standing(world) == ["work_left"]
    world.agents.during = lambda turn: world.remotes.works(turn.issue_id, "two")
    world.command("A-1", "release")
    world.run_until_quiet()
    assert (world.workspaces.starts, world.remotes.branches) == ([None, "one"], {BRANCH: "two"})


@pytest.mark.proves("H6")
def test_a_host_that_goes_with_an_agent_at_work_is_never_taken_for_pushed(world):
    """The turn before had pushed everything; what the agent has done since, nobody knows."""
    world.script("A-1", Outcome.CONTINUE)
    world.settle_down()
    world.hire(FAR)
    turn_to(world, HOST)
    world.agents.during = lambda _turn: die()

    def die():
        vanish(world, HOST)
        raise Killed

    world.jump(30)
    world.tick()
    world.deliver()
    world.jump(LEASE_SECONDS)
    world.tick()
    gone(world)
    assert standing(world) == ["work_left"]


def lost(world):
    """The next answer of the remote is lost."""

    def raise_once():
        world.remotes.after = lambda: None
        raise PushFailed("the line was cut")

    world.remotes.after = raise_once


@pytest.mark.proves("H6", "DE-06")
def test_a_lost_answer_is_looked_up_and_nothing_is_sent_twice(world):
    """The remote has what was meant: it arrived."""
    lost(world)
    world.run_until_quiet()
    assert (world.remotes.calls, world.state("A-1")) == (1, "In Review")
    assert records(world) == [("one", None, True)]


def test_a_worker_that_dies_after_its_push_leaves_it_to_be_found(world):
    """What was meant stands in the records; the next turn asks the remote and goes on from it."""
    dead = world.process

    def die():
        world.remotes.after = lambda: None
        raise Killed

    world.remotes.after = die
    world.tick()
    world.deliver()
    assert dead not in world.processes
    assert records(world) == [(None, "one", False)]
    world.jump(LEASE_SECONDS + 1)
    world.run_until_quiet()
    assert (world.remotes.log, world.state("A-1")) == (["one", "two"], "In Review")


@pytest.mark.proves("FS-50", "TW-15")
def test_finished_work_that_cannot_be_pushed_is_held_and_no_agent_fights_it(world):
    """Three tries, one hold, and the reason on the card; released, it is pushed before another agent begins."""

    def break_down(turn):
        world.remotes.works(turn.issue_id, "one")
        world.remotes.down = True

    world.agents.during = break_down
    world.run_until_quiet()
    assert (world.remotes.calls, standing(world), len(world.agents.log)) == (3, ["blocked"], 2)
    assert world.rows("select stop_reason from turn") == [("push_failed",)]
    assert "could not be pushed: $PUSH_URL: it does not answer" in world.board.said("A-1")[-1].body
    world.remotes.down = False
    world.agents.during = lambda _turn: seen.append(list(world.remotes.log))
    seen = []
    world.command("A-1", "release")
    world.run_until_quiet()
    assert (seen, world.state("A-1")) == ([["one"]], "In Review")


@pytest.mark.proves("H6")
def test_somebody_elses_work_on_the_branch_is_not_pushed_over(world):
    """A person committed there: the card is held, and says which two commits stand against each other."""
    world.remotes.branches[BRANCH] = "a person's"
    world.run_until_quiet()
    assert (world.remotes.branches, standing(world)) == ({BRANCH: "a person's"}, ["blocked"])
    assert "has work that is not ours: it is at a person's, and we pushed no commit" in world.board.said("A-1")[-1].body
    assert world.state("A-1") != "In Review"
    del world.remotes.branches[BRANCH]
    world.command("A-1", "release")
    world.run_until_quiet()
    assert (world.remotes.branches[BRANCH], world.state("A-1")) == ("two", "In Review")


@pytest.mark.proves("H6", "H10", "CL-05")
def test_a_push_that_was_frozen_meets_the_new_owners_work(world):
    """Frozen between its decision and its act, thawed when the next turn has pushed: the lease refuses it."""
    frozen = world.process

    def freeze():
        world.remotes.before = lambda: None
        world.silence(frozen, "frozen")
        world.processes.remove(frozen)
        world.hire()
        world.jump(LEASE_SECONDS + 1)
        world.run_until_quiet()

    world.remotes.before = freeze
    world.tick()
    world.deliver()
    assert (world.remotes.log, world.remotes.calls) == (["one", "two"], 3)  # what it left was pushed first, by the next
    assert (world.remotes.branches, world.state("A-1")) == ({BRANCH: "two"}, "In Review")
    assert records(world) == [("two", None, True)]


@pytest.mark.proves("H6", "CL-05")
def test_a_worker_that_thaws_past_its_lease_begins_no_push(world):
    """Its checkpoint, which would say what it means to push, is refused."""
    frozen = world.process

    def freeze(turn):
        world.agents.during = lambda turn: world.remotes.works(turn.issue_id, "theirs")
        world.processes.remove(frozen)
        world.hire()
        world.jump(LEASE_SECONDS + 1)
        world.run_until_quiet()
        world.remotes.works(turn.issue_id, "late")

    world.agents.during = freeze
    world.tick()
    world.deliver()
    assert (world.remotes.log, world.remotes.calls) == (["theirs"], 1)


def test_a_remote_that_is_away_before_the_work_begins_costs_no_attempt(world):
    """Where a push was left open the remote is asked first; until it answers, no agent runs."""
    world.script("A-1", Outcome.CONTINUE)
    world.settle_down()
    world.store.slow.change("update item set pushing = 'one', pushed = null")
    world.remotes.down = True
    world.jump(30)
    world.settle_down()
    assert world.rows("select stop_reason from turn order by fence") == [("done",), ("read_failed",)]
    assert world.one("select attempt from item") == 0
    world.remotes.down = False
    world.run_until_quiet()
    assert (world.state("A-1"), world.remotes.log) == ("In Review", ["one", "two"])


def test_a_branch_that_a_person_merged_and_deleted_is_pushed_anew(world):
    """The card comes back for more; nothing of anybody is overwritten by a branch that is not there."""
    world.run_until_quiet()
    world.remotes.branches.clear()
    world.drag("A-1", "Todo")
    world.jump(60)
    world.run_until_quiet()
    assert (world.remotes.branches, world.state("A-1")) == ({BRANCH: "two"}, "In Review")


def test_without_a_remote_nothing_is_pushed(stage):
    """As ever: the branch stays in the repository."""
    plain = stage.world(workflow=workflow())
    plain.add("A-1")
    plain.run_until_quiet()
    assert (plain.remotes.calls, plain.state("A-1")) == (0, "In Review")
