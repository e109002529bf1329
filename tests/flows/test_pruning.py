"""What is over is deleted: by itself or by command, and never before its keys are forgotten."""

import pytest

from tests.flows import outcome, refund
from tests.flows.test_walk import finish

REFUND = refund.__file__ + ":{}"


@pytest.mark.proves("H35")
def test_what_is_over_is_pruned_only_past_the_safe_until_of_its_key(world):
    """A ledger row that is deleted too soon is a forgotten key."""
    world.start()
    finish(world)
    waiting = world.start("two", order="A8")
    assert world.store.flows.prune(days=0, at_most=10) == 0
    world.store.slow.change("update effect set safe_until = stationkeeper_clock() - interval '1 s'")
    assert world.store.flows.prune(days=1, at_most=10) == 0
    assert world.store.flows.prune(days=0, at_most=10) == 1
    tables = ("effect", "step", "step_failure", "turn")
    assert [world.one(f"select count(*) from {table}") for table in tables] == [0, 0, 0, 0]
    assert world.rows("select id from task") == [(waiting,)]
    world.run_until_quiet()
    assert world.status(waiting) == "succeeded"


@pytest.mark.proves("H35")
def test_what_is_over_goes_by_itself_after_as_long_as_its_flow_keeps_it(world):
    """The flow's own full ticks delete it; a younger task stays, and so does one whose key a target still knows."""
    world.start("old")
    world.start("remembered", order="A8")
    finish(world)
    world.store.slow.change(
        "update effect set safe_until = safe_until + interval '90 d' where task_id ="
        " (select id from task join item on item.key = task.item_key where item.item_id = 'remembered')"
    )
    world.jump(31 * 86_400.0)
    world.start("young", order="A9")
    world.run_until_quiet()
    left = "select item.item_id from task join item on item.key = task.item_key order by 1"
    assert world.rows(left) == [("remembered",), ("young",)]
    assert len(world.paid()) == 3


@pytest.mark.proves("H35")
def test_a_flow_that_keeps_everything_prunes_nothing(flow_world):
    """`keep_days=None`: only a person's command deletes."""
    world = flow_world(references=(REFUND.format("KEPT"),))
    world.start(name="northstar.kept", order="A7")
    finish(world)
    world.jump(400 * 86_400.0)
    assert outcome.at_rest(world) == []
    assert world.one("select count(*) from task") == 1
