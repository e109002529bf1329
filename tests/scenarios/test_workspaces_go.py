"""The workspace of a closed card goes: after the death of what ran in it, with unfinished work kept and named first."""

import pytest

from orchestrator.domain.turn import Outcome, StopReason
from orchestrator.domain.workflow import Hook, HookSettings
from tests.memory.desk import Killed
from tests.memory.workflows import workflow


def stands(world):
    """How many workspaces stand, by our records."""
    return world.one("select count(*) from workspace where removed_at is null")


def reviewed(world):
    """A card whose turn is done, in review."""
    world.add("A-1")
    world.run_until_quiet()
    assert (world.state("A-1"), stands(world)) == ("In Review", 1)


@pytest.mark.proves("WS-11", "RC-02")
def test_a_workspace_stays_until_its_card_is_closed(world):
    """In review it stays, however long; closed, it goes, and its record says when."""
    reviewed(world)
    world.jump(900)
    world.run_until_quiet()
    assert world.workspaces.removed == []
    world.close("A-1")
    world.jump(900)
    world.run_until_quiet()
    assert (world.workspaces.removed, world.workspaces.kept, stands(world)) == (["A-1"], [], 0)


@pytest.mark.proves("WS-11", "RC-02")
def test_a_listing_that_shows_the_card_closed_is_enough(world):
    """Though it was seen in review a moment ago: who is shown a card need not ask for it."""
    reviewed(world)
    world.tick()
    world.close("A-1")
    world.run_until_quiet()
    assert (world.workspaces.removed, stands(world)) == (["A-1"], 0)


@pytest.mark.proves("WS-12", "FS-29", "FS-31")
def test_unfinished_work_is_kept_first_and_named_on_the_card(world):
    """The card's comment and the record say where it is."""
    world.add("A-1")
    world.workspaces.unfinished.add("A-1")
    world.agents.during = lambda _turn: world.close("A-1")
    world.run_until_quiet()
    world.jump(900)
    world.run_until_quiet()
    assert (world.workspaces.kept, world.workspaces.removed) == (["A-1/1"], ["A-1"])
    assert "kept: `refs/stationkeeper/kept/A-1/1`" in world.board.said("A-1")[0].body
    assert world.one("select kept from workspace") == "refs/stationkeeper/kept/A-1/1"


@pytest.mark.proves("HK-04")
def test_the_hook_runs_before_the_removal_and_cannot_stop_it(stage, said):
    """Its failure is told, and the workspace goes all the same."""
    world = stage.world(workflow=workflow(hooks=HookSettings(commands={Hook.BEFORE_REMOVE: "tidy"})))
    reviewed(world)
    world.hooks.fails[Hook.BEFORE_REMOVE] = StopReason.HOOK_FAILED
    world.close("A-1")
    world.jump(900)
    world.run_until_quiet()
    assert (world.hooks.log, world.workspaces.removed) == ([("A-1", Hook.BEFORE_REMOVE)], ["A-1"])
    assert "hook failed" in said()


@pytest.mark.proves("SR-02")
def test_a_removal_that_fails_is_told_and_tried_again(world, said):
    """The rest of the fleet goes on meanwhile."""
    reviewed(world)
    world.workspaces.broken = "a file is busy"
    world.close("A-1")
    world.jump(900)
    world.run_until_quiet()
    assert ("workspace stays" in said(), stands(world)) == (True, 1)
    world.workspaces.broken = None
    world.jump(900)
    world.run_until_quiet()
    assert stands(world) == 0


@pytest.mark.proves("WS-11", "H27")
def test_a_workspace_whose_last_turn_may_still_run_stays(world):
    """The lease ran out and nobody saw the end: while a process of the turn is there, nothing is removed."""
    world.add("A-1")

    def die(turn):
        world.close("A-1")
        world.process.supervisor.frozen.add(turn.turn_id)
        frozen.append(turn.turn_id)
        raise Killed

    frozen = []
    world.agents.during = die
    world.tick()
    world.deliver()
    world.process.supervisor.frozen.update(frozen)
    world.run_until_quiet()
    world.jump(900)
    world.run_until_quiet()
    assert world.rows("select status, death from turn") == [("lost", "its lease ran out")]
    assert world.workspaces.removed == []
    world.process.supervisor.frozen.clear()
    world.jump(900)
    world.run_until_quiet()
    assert world.workspaces.removed == ["A-1"]


@pytest.mark.proves("WS-11")
def test_a_card_that_is_dragged_back_in_time_keeps_its_workspace(world):
    """The tick saw it closed, the worker looks again: what a person decided last counts."""
    reviewed(world)
    world.close("A-1")
    world.jump(900)
    world.tick()
    assert world.queue.tidies
    world.drag("A-1", "Todo")
    world.tidy()
    assert world.workspaces.removed == []
    world.run_until_quiet()
    assert (world.state("A-1"), stands(world)) == ("In Review", 1)


@pytest.mark.proves("WS-07", "HK-01")
def test_a_card_that_comes_back_later_gets_a_new_workspace(stage):
    """Its creation hook runs again: the first one's folder is gone."""
    world = stage.world(workflow=workflow(hooks=HookSettings(commands={Hook.AFTER_CREATE: "clone"})))
    reviewed(world)
    world.close("A-1")
    world.jump(900)
    world.run_until_quiet()
    world.drag("A-1", "Todo")
    world.run_until_quiet()
    assert (world.hooks.log, stands(world)) == ([("A-1", Hook.AFTER_CREATE)] * 2, 1)


@pytest.mark.proves("RC-06", "FS-29")
def test_a_board_that_cannot_be_read_removes_nothing(world):
    """A read error is not a closed card."""
    reviewed(world)
    world.close("A-1")
    world.delete("A-1")
    world.jump(900)
    world.run_until_quiet()
    assert stands(world) == 1


@pytest.mark.proves("FS-53", "RC-07")
def test_a_deleted_cards_workspace_is_not_asked_about_for_ever(stage):
    """Missing twice, it is left to a person: no call for it ever again."""
    asked = []

    class Counted:
        def __init__(self, door):
            self._door = door

        def __getattr__(self, name):
            return getattr(self._door, name)

        def get_items(self, ids):
            asked.extend(ids)
            return self._door.get_items(ids)

    world = stage.world(wrap=lambda _pid, name, door: Counted(door) if name == "tracker" else door)
    reviewed(world)
    world.delete("A-1")
    for _ in range(3):
        world.jump(900)
        world.run_until_quiet()
    asked.clear()
    for _ in range(3):
        world.jump(900)
        world.tick()
    assert (asked, stands(world)) == ([], 1)


def test_a_held_card_keeps_its_workspace(world):
    """Whatever a person holds is left as it is."""
    world.add("A-1")
    world.script("A-1", Outcome.BLOCKED)
    world.run_until_quiet()
    world.command(None, "hold")
    world.close("A-1")
    world.jump(900)
    world.run_until_quiet()
    assert stands(world) == 1
    world.command(None, "release")
    world.jump(900)
    world.run_until_quiet()
    assert stands(world) == 0
