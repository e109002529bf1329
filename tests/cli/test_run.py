"""One card is asked for and followed; when it cannot start for a reason that stays, the command says so and ends."""

import threading

from orchestrator.cli import launch, run
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.cli.up import Asked
from orchestrator.engine import reconcile
from tests.stage import stage, world
from tests.waiting import until

__all__ = ["stage", "world"]


def given_up(world, key):
    """The trouble that is told once a whole look at the board is over, or None while the card may still start."""
    since = world.store.queries.overview().now
    run._give_up(world.store, key, since)  # nobody has looked yet: nothing is known
    world.tick()
    try:
        run._give_up(world.store, key, since)
    except Trouble as trouble:
        return trouble
    return None


def test_a_card_that_nobody_asked_to_work_on_is_refused_with_its_reason(world):
    """As `explain` tells it, with the exit code of a refusal."""
    world.add("A-1", state="Backlog")
    trouble = given_up(world, "A-1")
    assert trouble.exit_code is Exit.REFUSED
    assert "not_active (Backlog)" in str(trouble)


def test_a_card_without_a_slot_is_waited_for(stage):
    """What passes by itself ends no command."""
    world = stage.world(slots=0)
    world.add("A-1")
    assert given_up(world, "A-1") is None
    assert world.reason("A-1") == "no_worker_slot"


def test_a_card_that_is_not_on_the_board_is_unknown(world):
    """A whole look at the board found no such card."""
    assert given_up(world, "A-9").exit_code is Exit.BROKEN


def test_a_turn_is_followed_to_its_end_and_an_older_one_is_not(world):
    """The turn that was over before the question is no answer to it."""
    world.add("A-1")
    world.run_until_quiet()
    world.drag("A-1", "Todo")
    answers = []
    follower = threading.Thread(target=lambda: answers.append(run._follow(world.store, "A-1", Asked())))
    asked_at = world.one("select list_requested_at from reconciler")
    follower.start()
    until(lambda: world.one("select list_requested_at from reconciler") != asked_at, what="the question")
    world.tick()
    world.tick()  # the row of a card that is back on the board is seen again
    world.deliver()
    follower.join(30)
    assert [(turn.ordinal, turn.status) for turn in answers] == [(2, "succeeded")]


def test_only_the_card_that_was_asked_for_starts(world):
    """The others keep their place, each with the reason."""
    for card in ("A-1", "A-2"):
        world.add(card)
    world.jump(1.0)
    reconcile.ring(world.process.ports, full=True, only="a-2")
    assert world.rows("select item.item_id from turn join item on item.key = turn.item_key") == [("A-2",)]
    assert world.one("select detail from wait where item_id = 'A-1'") == "only a-2 is run now"


def test_records_without_a_worker_are_no_running_system(world):
    """Postgres is there and nobody works: then a system is started, instead of waiting for one for ever."""
    assert run.has_workers(world.store.queries.overview())
    world.processes.clear()
    world.jump(31)
    assert not run.has_workers(world.store.queries.overview())


def test_a_launcher_is_known_by_its_lock(tmp_path):
    """A file that a dead one left behind is none; one whose workers are still starting is."""
    assert not launch.is_running(tmp_path)
    with launch._only_launcher(tmp_path):
        assert launch.is_running(tmp_path)
    assert (tmp_path / "launcher.lock").exists()
    assert not launch.is_running(tmp_path)
