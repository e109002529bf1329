"""What runs is looked at by every tick: noted where it stands, stopped and told once, measured from the cancel on."""

from datetime import timedelta

import pytest

from orchestrator.domain.turn import Outcome
from tests.memory.workflows import workflow


def in_mid_turn(world, *acts):
    """A turn of A-1 during whose work the acts happen, each followed by a tick."""

    def during(_turn):
        world.agents.during = lambda _turn: None
        for act in acts:
            act()
            world.tick()

    world.agents.during = during
    world.tick()
    world.deliver()
    world.relay()


@pytest.mark.proves("RC-03")
def test_a_card_that_moves_between_active_columns_goes_on_and_is_counted_where_it_is(stage):
    """The cap of the column that it came from has room again while it runs."""
    world = stage.world(workflow=workflow(max_concurrent_by_state={"todo": 1}))
    world.add("A-1")
    seen = []
    in_mid_turn(
        world,
        lambda: world.drag("A-1", "Rework"),
        lambda: world.add("A-2"),
        lambda: seen.extend(world.rows("select state from turn order by opened_at")),
    )
    assert seen == [("Rework",), ("Todo",)]
    assert [run.event for run in world.agents.log if run.item_id == "A-1"] == ["start", "done"]


@pytest.mark.proves("RC-08", "FS-44")
def test_a_person_who_stops_a_turn_finds_one_word_about_it(world):
    """However often the tick looks meanwhile: one comment, written after the stop."""
    world.add("A-1")
    in_mid_turn(world, lambda: world.drag("A-1", "Backlog"), lambda: None, lambda: None)
    world.run_until_quiet()
    [comment] = world.board.said("A-1")
    assert comment.body.startswith("Turn 1 was stopped: the card was moved out of its active columns")


@pytest.mark.proves("RC-09", "DE-16")
def test_the_time_from_a_cancel_to_the_end_is_measured(world):
    """The agent took nine seconds to die: the number is in the records, by the database's clock."""
    world.add("A-1")
    in_mid_turn(world, lambda: world.close("A-1"), lambda: world.jump(8))
    [seconds] = world.store.queries.overview().cancels
    assert seconds == pytest.approx(9, abs=1)


@pytest.mark.proves("CL-10", "FS-35")
def test_everything_that_asks_for_a_second_turn_gets_one_turn(world):
    """A person who wants it again, a command and two ticks, all while a turn runs: one follow-up, and none is lost."""
    world.add("A-1")
    in_mid_turn(
        world,
        lambda: world.drag("A-1", "Rework"),
        lambda: world.command("A-1", "hold"),
        lambda: world.command("A-1", "release"),
    )
    world.run_until_quiet()
    assert [run.event for run in world.agents.log] == ["start", "done"] * 2
    assert world.state("A-1") == "In Review"


@pytest.mark.proves("FS-55", "SR-04")
def test_a_worker_that_starts_leaves_what_has_just_begun_alone(world):
    """A deploy in the middle of a turn: the new process looks at everything and takes nothing over."""
    world.add("A-1")
    in_mid_turn(world, world.hire, world.flush_redis, lambda: None)
    world.run_until_quiet()
    assert [run.event for run in world.agents.log] == ["start", "done"]
    assert world.rows("select status from turn") == [("succeeded",)]


@pytest.mark.proves("SR-01", "CL-11", "SR-04")
def test_what_became_due_while_nobody_lived_is_served_at_once(world):
    """Every process died, an hour passed: the first tick of a new one serves the retry, and no timer was needed."""
    world.add("A-1")
    world.script("A-1", Outcome.FAILED)
    world.tick()
    world.deliver()
    world.relay()
    world.bury(world.process)
    world.flush_redis()
    world.jump(timedelta(hours=1).total_seconds())
    world.hire()
    world.tick(full=False)
    world.deliver()
    assert [run.event for run in world.agents.log] == ["start", "failed", "start", "done"]
