"""A person's commands: what is held stays put, what is released goes on, and no brake ever feeds the loop."""

import pytest

from orchestrator.domain.hold import Hold, HoldKind, HoldScope, Lift
from orchestrator.domain.turn import Outcome

CARDS = [f"A-{number}" for number in range(1, 6)]
WHERE = [("A-1", "held_item"), ("world", "held_workflow"), (None, "held_fleet")]
HOLD = Hold(HoldScope.WORKFLOW, HoldKind.MASS_CANCEL, Lift.CONDITION, "most of the fleet")


def standing(world):
    """The kinds of the holds that stand."""
    return [kind for (kind,) in world.rows("select kind from hold where lifted_at is null order by kind")]


def dead_letter(world):
    """A card whose agent failed three times."""
    world.add("A-1")
    world.script("A-1", *[Outcome.FAILED] * 3)
    world.run_until_quiet()
    assert standing(world) == ["dead_letter"]


@pytest.mark.proves("CL-09", "RT-10", "FS-61")
@pytest.mark.parametrize(("what", "reason"), WHERE)
def test_what_is_held_does_not_start_and_what_is_released_does(world, what, reason):
    """At each level: nothing starts, whatever the board says, until the person lifts the hold."""
    world.add("A-1")
    world.command("world", "hold")  # so that the card is seen before it starts
    world.tick()
    world.command("world", "release")
    assert world.command(what, "hold")
    world.run_until_quiet()
    assert (world.agents.log, world.reason("A-1")) == ([], reason)
    assert world.command(what, "release") == [HoldKind.OPERATOR]
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"


@pytest.mark.proves("CL-09", "RT-07")
def test_a_held_card_uses_no_slot_and_loses_no_attempt(stage):
    """Its queued turn gives the slot back; after the release it begins as the first attempt."""
    world = stage.world(slots=1)
    for card in ("A-1", "A-2"):
        world.add(card)
    world.tick()
    assert world.command("A-1", "hold")
    world.run_until_quiet()
    assert world.state("A-2") == "In Review"
    attempts = []
    world.agents.during = lambda turn: attempts.append(turn.attempt)
    world.command("A-1", "release")
    world.run_until_quiet()
    assert (world.state("A-1"), attempts) == ("In Review", [1])


@pytest.mark.proves("CL-09")
def test_a_hold_leaves_a_running_turn_alone(world):
    """The turn goes on to its end; only the next one does not begin."""
    world.add("A-1")
    world.script("A-1", Outcome.CONTINUE)
    world.agents.during = lambda _turn: world.command("A-1", "hold")
    world.run_until_quiet()
    assert world.rows("select status, stop_reason from turn") == [("succeeded", "done")]
    assert world.reason("A-1") == "held_item"


@pytest.mark.proves("FS-61")
def test_a_person_stops_a_running_turn_by_command(world):
    """The agent dies, the task is cancelled, and the card stays put until the person releases it."""
    world.add("A-1")
    world.agents.during = lambda _turn: world.command("A-1", "hold", stop=True)
    world.run_until_quiet()
    assert [run.event for run in world.agents.log] == ["start", "stopped:cancelled"]
    assert world.rows("select status, stop_reason from task") == [("cancelled", "cancelled")]
    world.agents.during = lambda _turn: None
    world.command("A-1", "release")
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"


@pytest.mark.proves("CL-09", "TW-05")
def test_a_move_on_the_board_does_not_lift_a_persons_hold(world):
    """Who said `hold` says `release`; only closing the card ends the matter."""
    world.add("A-1")
    world.command("world", "hold")
    world.tick()
    world.command("A-1", "hold")
    world.command("world", "release")
    world.drag("A-1", "Rework")
    world.run_until_quiet()
    assert (standing(world), world.agents.log) == (["operator"], [])
    world.close("A-1")
    world.run_until_quiet()
    assert standing(world) == []


def test_a_hold_for_a_time_ends_by_itself(world):
    """No hand is needed, and another hold finds room after it."""
    world.add("A-1")
    assert world.command(None, "hold", seconds=60)
    assert not world.command(None, "hold", seconds=60)
    world.run_until_quiet()
    world.jump(60)
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert world.command(None, "hold")


@pytest.mark.proves("RT-10", "DE-11")
def test_a_resumed_dead_letter_starts_again_with_all_its_attempts(world):
    """And when they are spent it is a dead letter again: resuming is no way round the cap."""
    dead_letter(world)
    world.script("A-1", *[Outcome.FAILED] * 3)
    assert not world.command("A-1", "release")
    assert world.command("A-1", "resume")
    world.run_until_quiet()
    assert (standing(world), len(world.agents.log)) == (["dead_letter"], 12)
    world.command("A-1", "resume")
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert not world.command("A-1", "resume")


@pytest.mark.proves("DE-11", "RT-10", "FS-11")
def test_a_discarded_dead_letter_fails_and_does_not_start_again(world):
    """The task keeps the reason; the card, in an active column still, waits for a person's move."""
    dead_letter(world)
    assert world.command("A-1", "discard", "not worth it")
    world.run_until_quiet()
    assert world.rows("select status, stop_reason from task") == [("failed", "attempts_spent")]
    assert (standing(world), len(world.agents.log)) == (["discarded"], 6)
    world.drag("A-1", "Rework")
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"


def test_who_did_it_and_why_stands_in_the_record(world):
    """For every command: the person and the reason, with the hold and in the history."""
    dead_letter(world)
    world.command("A-1", "resume", "the key is there now")
    assert world.rows("select lifted_by, lifted_reason from hold") == [("robin", "the key is there now")]
    found = "select kind, detail ->> 'by' as by, detail ->> 'reason' as reason from history where kind = 'resumed'"
    told = world.rows(found)
    assert told == [("resumed", "robin", "the key is there now")]


@pytest.fixture
def braked(stage):
    """Five turns are queued, all of their cards are dragged away, and the brake stands."""
    world = stage.world(slots=10)
    for card in CARDS:
        world.add(card)
    world.tick()
    for card in CARDS:
        world.drag(card, "Backlog")
    world.tick()
    assert standing(world) == ["mass_cancel"]
    return world


@pytest.mark.proves("H8", "H16")
def test_a_person_who_releases_the_brake_lets_the_turns_be_stopped(braked):
    """The board was right: the release is a permission, and the brake does not come back for these turns."""
    assert braked.command("world", "release") == [HoldKind.MASS_CANCEL]
    braked.run_until_quiet()
    assert standing(braked) == []
    assert braked.rows("select distinct status, stop_reason from turn") == [("cancelled", "moved_away")]


@pytest.mark.proves("H8")
def test_the_permission_is_for_the_turns_that_the_person_saw(braked):
    """Turns that are opened after the release are braked for as ever."""
    braked.command("world", "release")
    braked.run_until_quiet()
    for card in CARDS:
        braked.drag(card, "Todo")
    braked.tick()
    braked.tick()
    for card in CARDS:
        braked.drag(card, "Backlog")
    braked.tick()
    assert standing(braked) == ["mass_cancel"]


@pytest.mark.proves("H16")
def test_a_tick_that_began_before_the_release_does_not_place_the_brake_again(braked):
    """What it saw the person has seen: a release is never lost."""
    grant = braked.store.reconciler.peek("world")
    braked.command("world", "release")
    stale = braked.rows("select scope, workflow, kind from hold")
    braked.store.items.hold_workflow(
        "world",
        HOLD,
        HoldKind.MASS_CANCEL,
        seen_at=grant.began_at,
    )
    assert (standing(braked), len(stale)) == ([], 1)
    braked.store.items.hold_workflow(
        "world", HOLD, HoldKind.MASS_CANCEL, seen_at=braked.store.reconciler.peek("world").began_at
    )
    assert standing(braked) == ["mass_cancel"]
