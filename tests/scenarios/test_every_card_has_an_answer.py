"""Whatever stands on the board, somebody who asks why it does not move gets one stored answer."""

import pytest

from orchestrator.domain.turn import Outcome
from tests.world import LONG_SECONDS


@pytest.mark.proves("FS-22")
def test_a_cancelled_card_is_never_told_as_a_success(stage):
    """Both terminal columns end the turn, and neither ends the task as if the work had been done."""
    for column in ("Cancelled", "Done"):
        world = stage.world()
        world.add("A-1")
        world.tick()
        world.drag("A-1", column)
        world.run_until_quiet()
        assert world.rows("select status, stop_reason from task") == [("cancelled", "terminal_seen")]
        assert world.state("A-1") == column


@pytest.mark.proves("CS-17")
def test_every_card_on_the_board_has_one_answer(stage):
    """Also one that nobody asked us to work on: its state is the answer, stored, and a second look writes nothing."""
    world = stage.world()
    for column in world.board.states:
        world.add(f"A-{column}", state=column)
    world.run_until_quiet()
    told = {card: world.store.queries.explain(card)[0] for card in world.board.ids()}
    assert {card: one.wait.reason for card, one in told.items() if one.wait} == dict.fromkeys(
        world.board.ids(), "not_active"
    )
    before = world.fingerprint()
    world.tick()
    assert world.fingerprint() == before
    assert world.one("select count(*) from item where listed") == 0


@pytest.mark.proves("FS-08", "CS-15")
def test_a_spent_cap_of_sessions_holds_the_card_and_is_no_release(stage):
    """The brake is a hold that no tick of ours lifts, so the next one does not feed the loop."""
    world = stage.world()
    world.add("A-1")
    world.script("A-1", *[Outcome.FAILED] * 20)
    world.run_until_quiet()
    turns = world.one("select count(*) from turn")
    for _ in range(3):
        world.jump(LONG_SECONDS)
        world.settle_down()
    assert world.one("select count(*) from turn") == turns
    assert world.rows("select kind from hold where lifted_at is null") == [("dead_letter",)]
    assert world.reason("A-1") == "held_item"
