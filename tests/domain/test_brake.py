"""The brake: a look at the board that would stop most of the fleet is taken for a mistake, and held."""

import pytest

from orchestrator.domain.reconcile import Cancel, Expire, Refresh
from orchestrator.domain.select import NotDispatched
from tests.domain.worlds import PAST, World, board, held, item, records, running, waiting


def fleet(count):
    """So many running items."""
    return [running(f"A-{number}") for number in range(1, count + 1)]


def dragged(ours, count, to="Backlog"):
    """A board on which a hand moved the first `count` of the items."""
    return board(*(item(row.id, to if place < count else "Todo") for place, row in enumerate(ours)))


def cancelled(plan):
    """How many turns a plan stops."""
    return sum(isinstance(action, Cancel) for action in plan.actions)


@pytest.mark.proves("H8")
@pytest.mark.parametrize(
    ("running_now", "moved", "stopped"),
    [
        pytest.param(3, 3, 3, id="three of three are a person's right"),
        pytest.param(4, 4, 0, id="four of four are a mistake"),
        pytest.param(8, 4, 4, id="half is not more than half"),
        pytest.param(7, 4, 0, id="more than half, and more than three"),
        pytest.param(40, 5, 5, id="five of forty"),
    ],
)
def test_a_plan_that_stops_most_of_the_fleet_is_held(running_now, moved, stopped):
    """More than half of the running items, and more than three: the plan is held and says so."""
    ours = fleet(running_now)
    plan = World(dragged(ours, moved), records(*ours)).plan()
    assert (cancelled(plan), plan.mass_cancel) == (stopped, stopped == 0)


def test_turns_that_are_stopped_already_do_not_count_for_the_brake():
    """A person who drags three cards, and then three more, has not dragged six at once."""
    flagged, rest = [running(f"A-{number}", flagged=True) for number in (1, 2, 3)], fleet(6)[3:]
    plan = World(dragged([*flagged, *rest], 6), records(*flagged, *rest)).plan()
    assert (cancelled(plan), plan.mass_cancel) == (3, False)


@pytest.mark.proves("H8")
def test_a_broken_contract_needs_no_brake():
    """A renamed column stops nothing by itself, so nothing has to be lifted once the workflow names it right."""
    ours = fleet(8)
    plan = World(dragged(ours, 8, to="To do"), records(*ours, contract_broken=True)).plan()
    assert (cancelled(plan), plan.mass_cancel) == (0, False)


@pytest.mark.proves("H8")
def test_closed_cards_do_not_count_for_the_brake():
    """A person who closes everything has decided: all of it stops, and it sets no brake off for the rest."""
    ours = fleet(8)
    everything = World(dragged(ours, 8, to="Done"), records(*ours)).plan()
    assert (cancelled(everything), everything.mass_cancel) == (8, False)
    three_dragged = board(*(item(row.id, ("Backlog", "Done")[place > 2]) for place, row in enumerate(ours)))
    assert cancelled(World(three_dragged, records(*ours)).plan()) == 8


def test_the_brake_stops_everything_that_rests_on_the_same_look():
    """Under the brake nothing starts, no task ends, no drag lifts a hold; a dead worker is still found."""
    ours = [*fleet(5), waiting("A-6"), held("A-7"), running("A-8", lease=PAST)]
    look = board(*(item(row.id, "Backlog") for row in ours), item("A-9"))
    plan = World(look, records(*ours)).plan()
    assert [action for action in plan.actions if not isinstance(action, Refresh)] == [Expire(ours[-1])]
    assert plan.reasons["A-9"].reason is NotDispatched.HELD_WORKFLOW


def test_the_brake_stays_until_a_whole_look_contradicts_it():
    """A look at two due items neither lifts the brake nor lets single cancels drip through it."""
    ours = fleet(5)
    two = board(item("A-1", "Backlog"), item("A-2", "Backlog"), whole=False)
    drip = World(two, records(*ours, braked=True, held_workflow="mass cancel")).plan()
    assert (cancelled(drip), drip.mass_cancel) == (0, True)
    back = World(dragged(ours, 2), records(*ours, braked=True, held_workflow="mass cancel")).plan()
    assert (cancelled(back), back.mass_cancel) == (2, False)
