"""A person drags a reviewed card back: that is a wish, and a new task on the same ground."""

import pytest

from orchestrator.domain.turn import Outcome


@pytest.mark.proves("H14", "CL-09")
def test_a_card_dragged_back_is_worked_on_again_at_once(world):
    """Even when no tick ever saw it in review."""
    world.add("A-1")
    world.tick()
    world.deliver()
    world.relay()
    world.drag("A-1", "Todo")
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert world.rows("select status from task order by opened_at") == [("succeeded",), ("succeeded",)]
    assert [run.fence for run in world.agents.log if run.event == "start"] == [1, 2]


def test_the_second_task_goes_on_with_the_same_conversation(world):
    """The session of the first task is what the second begins with, and its caps count anew."""
    world.add("A-1")
    world.script("A-1", Outcome.FAILED)
    world.run_until_quiet()
    seen = []
    world.agents.during = seen.append
    world.drag("A-1", "Todo")
    world.run_until_quiet()
    assert [(turn.attempt, turn.session) for turn in seen] == [(1, "session of A-1")]


@pytest.mark.proves("TW-05", "H15")
def test_a_move_to_another_active_column_during_the_run_wins(world):
    """The run's hand-off is not made from a column that the run did not start from; the card is worked on again."""
    world.add("A-1")
    moved = []
    world.agents.during = lambda _turn: moved or (moved.append(world.relay()), world.drag("A-1", "Rework"))
    world.tick()
    world.deliver()
    world.relay()
    assert world.state("A-1") == "Rework"
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert [run.event for run in world.agents.log] == ["start", "done", "start", "done"]


def test_a_move_that_happened_in_the_queue_is_not_one_during_the_run(world):
    """The card is dragged before its agent starts: one run serves the wish, from where the card stands then."""
    world.add("A-1")
    world.tick()
    world.drag("A-1", "Rework")
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert [run.event for run in world.agents.log] == ["start", "done"]


@pytest.mark.proves("TW-05", "H15", "FS-17")
@pytest.mark.parametrize("column", ["Todo", "Rework"])
def test_a_card_that_is_put_back_from_in_progress_is_not_handed_off(world, column):
    """Also where its run began there: our own move took it away, so a person put it back; it is worked on again."""
    world.add("A-1", column)
    moved = []
    world.agents.during = lambda _turn: moved or (moved.append(world.relay()), world.drag("A-1", column))
    world.tick()
    world.deliver()
    world.relay()
    assert world.state("A-1") == column
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert [run.event for run in world.agents.log] == ["start", "done", "start", "done"]


@pytest.mark.proves("TW-05", "H15", "TW-09")
def test_a_card_that_was_seen_elsewhere_during_the_run_is_worked_on_again(world):
    """The relay met it in the backlog when it wanted to say that work began; the hand-off is not made, and says why."""
    world.add("A-1")
    moved = []
    world.agents.during = lambda _turn: (
        moved or (world.drag("A-1", "Backlog"), moved.append(world.relay()), world.drag("A-1", "Todo"))
    )
    world.tick()
    world.deliver()
    world.relay()
    assert world.state("A-1") == "Todo"
    told = world.rows("select detail from write_audit where act = 'move' order by id")
    assert told == [("a person moved the card to Backlog",), ("a person moved the card to Backlog during the run",)]
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert [run.event for run in world.agents.log] == ["start", "done", "start", "done"]


@pytest.mark.proves("TW-05", "H15")
@pytest.mark.parametrize("column", ["Backlog", "Rework"])
def test_finished_work_that_is_not_handed_off_says_so_on_its_card(world, column):
    """In the one status comment, behind what the turn has to say: a person had moved the card before."""
    world.add("A-1")
    world.tick()
    world.deliver()
    world.drag("A-1", column)
    world.relay()
    (said,) = [each.body for each in world.board.said("A-1") if "Turn 1" in each.body]
    assert world.state("A-1") == column
    assert f"The card stays where it is: a person moved the card to {column}." in said
    assert said.count("The card stays") == 1
