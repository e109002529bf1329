"""A plan that would stop most of the fleet is taken for a mistake: held, until the board says otherwise."""

import pytest

CARDS = [f"A-{number}" for number in range(1, 6)]


@pytest.fixture
def emptied(stage):
    """Five turns are queued, and all of their cards are dragged away at once."""
    world = stage.world(slots=10)
    for card in CARDS:
        world.add(card)
    world.tick()
    for card in CARDS:
        world.drag(card, "Backlog")
    world.tick()
    return world


@pytest.mark.proves("H8")
def test_a_plan_that_would_stop_the_fleet_is_held(emptied):
    """No turn is cancelled, and the workflow carries the hold."""
    assert emptied.rows("select count(*) from turn where status = 'queued' and cancel is null") == [(5,)]
    assert emptied.rows("select kind, lift from hold where lifted_at is null") == [("mass_cancel", "condition")]


@pytest.mark.proves("H8")
def test_the_brake_stands_while_the_board_stays_as_it_is(emptied):
    """Looking again is no contradiction."""
    emptied.tick()
    emptied.tick()
    assert emptied.rows("select kind from hold where lifted_at is null") == [("mass_cancel",)]


@pytest.mark.proves("H8")
def test_a_board_that_comes_back_lifts_the_brake(emptied):
    """The cards are there again: the work goes on by itself."""
    for card in CARDS:
        emptied.drag(card, "Todo")
    emptied.run_until_quiet()
    assert emptied.rows("select count(*) from hold where lifted_at is null") == [(0,)]
    assert {emptied.state(card) for card in CARDS} == {"In Review"}


@pytest.mark.proves("H8")
def test_cards_that_a_person_closed_are_no_mass_cancel(stage):
    """Terminal states are decisions: all five turns end at once."""
    world = stage.world(slots=10)
    for card in CARDS:
        world.add(card)
    world.tick()
    for card in CARDS:
        world.close(card)
    world.run_until_quiet()
    assert world.rows("select status, stop_reason, count(*) from turn group by 1, 2") == [
        ("cancelled", "terminal_seen", 5)
    ]
