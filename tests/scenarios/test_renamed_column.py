"""Somebody renames a column: that is a typo fix, not a decision about every card in it."""

import pytest

CARDS = [f"A-{number}" for number in range(1, 6)]


@pytest.fixture
def renamed(stage):
    """Five turns are queued from Todo, and then the column gets another name."""
    world = stage.world(slots=10)
    for card in CARDS:
        world.add(card)
    world.tick()
    world.board.states = tuple("To do" if state == "Todo" else state for state in world.board.states)
    for card in CARDS:
        world.drag(card, "To do")
    world.tick()
    return world


@pytest.mark.proves("H8", "SC-14", "SC-17")
def test_renaming_a_column_stops_no_run_in_it(renamed):
    """Every turn is open still, nothing new starts, and the workflow says what it lacks and what is closest."""
    assert renamed.rows("select count(*) from turn where status = 'queued' and cancel is null") == [(5,)]
    assert "'Todo'; the closest that it has is 'To do'" in renamed.one("select problem from workflow")
    renamed.add("A-9", state="Rework")
    renamed.tick()
    assert renamed.reason("A-9") == "contract_broken"


@pytest.mark.proves("H8", "SC-17")
def test_a_closed_card_still_counts_while_the_contract_is_broken(renamed):
    """Terminal wins also then: the closed card's turn is ended, the others go on."""
    renamed.close("A-1")
    renamed.tick()
    assert renamed.rows("select status, count(*) from turn group by status order by status") == [
        ("cancelled", 1),
        ("queued", 4),
    ]


@pytest.mark.proves("SC-14")
def test_a_column_that_gets_its_name_back_heals_the_contract(renamed):
    """Nobody has to do anything else: the next look finds the contract whole, and the work goes on."""
    renamed.board.states = tuple("Todo" if state == "To do" else state for state in renamed.board.states)
    for card in CARDS:
        renamed.drag(card, "Todo")
    renamed.run_until_quiet()
    assert renamed.one("select problem from workflow") is None
    assert {renamed.state(card) for card in CARDS} == {"In Review"}


@pytest.mark.proves("SC-14", "SC-17")
def test_a_renamed_column_is_one_alarm_and_not_one_a_tick(renamed, said):
    """However many ticks look at the broken board there is one line, and one more when it has healed."""
    for _ in range(3):
        renamed.tick()
    assert said().count("contract broken") == 0  # the fixture's tick has said it
    renamed.board.states = tuple("Todo" if state == "To do" else state for state in renamed.board.states)
    for _ in range(3):
        renamed.tick()
    assert said().count("contract healed") == 1
    renamed.board.states = tuple("To do" if state == "Todo" else state for state in renamed.board.states)
    for _ in range(3):
        renamed.tick()
    assert said().count("contract broken") == 1


@pytest.mark.proves("SC-14", "FS-19")
def test_a_missing_review_column_is_an_alarm_and_a_hold_and_no_success(stage):
    """The card stays where it is, nothing on it says that it is to be reviewed, and a person's move brings it back."""
    world = stage.world()
    world.add("A-1")
    world.tick()
    world.board.states = tuple(state for state in world.board.states if state != "In Review")
    world.run_until_quiet()
    assert world.state("A-1") == "Todo"
    assert "'In Review'" in world.one("select problem from workflow")
    assert world.rows("select kind from hold where lifted_at is null") == [("parked_move",)]
    done, held = (comment.body.splitlines()[0] for comment in world.board.said("A-1"))
    assert done == "Turn 1 is done."
    assert held.startswith("Held (parked_move): the card could not be moved; the board has no state 'In Review'")
    world.board.states = (*world.board.states, "In Review")
    world.drag("A-1", "Rework")
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
