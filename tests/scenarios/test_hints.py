"""A hint brings a listing forward and is never the only way: none of them, one of them, a thousand of them."""

from dataclasses import replace

import pytest

from orchestrator.engine import hint
from orchestrator.ports.tracker import Tracker, TrackerError, TrackerFault
from tests.store.scene import together

STORM = 1_000


def listings(world) -> int:
    """How many rings in a minute, one each half second, list the board."""
    found = 0
    for _ in range(120):
        world.jump(0.5)
        grant = world.store.reconciler.begin(None)
        if grant is not None:
            found += grant.listing
            world.store.reconciler.finish(grant, {})
    return found


def test_a_hint_sets_the_request_and_nothing_else(world):
    """Not one row of a card, a turn or a write is touched; the ring asks for a listing."""
    world.add("A-1")
    world.tick()
    before = world.fingerprint()
    world.jump(1)
    assert world.store.reconciler.hint("world")
    assert world.fingerprint() == before
    assert world.rows("select list_requested_at > list_began_at from reconciler") == [(True,)]


@pytest.mark.proves("H20", "FS-53")
def test_a_storm_of_hints_is_one_listing(world):
    """A thousand at once write once; the ring that follows serves them all, and the next one finds nothing."""
    world.tick()
    world.jump(1)
    asked = together(*[lambda: [world.store.reconciler.hint(None) for _ in range(STORM // 8)]] * 8)
    assert sum(map(sum, asked)) == 1
    grant = world.store.reconciler.begin(None)
    assert grant.listing
    world.store.reconciler.finish(grant, {})
    world.jump(1)
    assert world.store.reconciler.begin(None) is None


@pytest.mark.proves("H20")
def test_hints_without_end_are_two_listings_a_second_at_most(world):
    """Somebody's loop sends them between all rings: the board is read no more often than the small gap allows."""
    quiet = listings(world)
    begin = world.store.reconciler.begin

    def ring(workflow):
        world.store.reconciler.hint(None)
        return begin(workflow)

    world.store.reconciler.begin = ring
    try:
        stormy = listings(world)
    finally:
        del world.store.reconciler.begin
    assert quiet <= 3
    assert 3 < stormy <= 120


@pytest.mark.proves("H20", "H34")
def test_with_every_hint_dropped_a_move_is_seen_one_interval_later(world):
    """Rings that find nothing due do nothing; then the interval has passed, and the card is worked on."""
    world.tick()
    world.add("A-1")
    for _ in range(28):
        world.tick(full=False)
    assert world.rows("select count(*) from turn") == [(0,)]
    for _ in range(4):
        world.tick(full=False)
    assert world.rows("select count(*) from turn") == [(1,)]


def test_a_hint_that_comes_during_a_listing_is_served_after_it(world):
    """What it speaks of may stand on a page that was read already."""
    grant = world.store.reconciler.begin(None)
    world.jump(1)
    assert world.store.reconciler.hint("world")
    world.store.reconciler.finish(grant, {})
    again = world.store.reconciler.begin(None)
    assert again.listing


@pytest.mark.proves("TW-12", "FS-43")
def test_what_we_and_other_bots_write_starts_nothing(world):
    """Our move, our comment and another bot's comments, each with a hint behind it: one run, and no more."""
    world.add("A-1")
    world.run_until_quiet()
    ran = list(world.agents.log)
    for number in range(5):
        world.board.say("A-1", f"@stationkeeper please work on this again ({number})", author="reviewer[bot]")
        world.store.reconciler.hint("world")
        world.settle_down()
    world.run_until_quiet()
    assert world.agents.log == ran
    assert world.state("A-1") == "In Review"


class Touchy:
    """A board that says when it was touched."""

    def __init__(self, board: Tracker) -> None:
        self._board, self.touched = board, False

    def __getattr__(self, name: str) -> object:
        return getattr(self._board, name)

    def disturbed(self) -> bool:
        """As the test says, once."""
        said, self.touched = self.touched, False
        return said


def test_a_board_that_is_touched_hints_for_its_workflow(world):
    """The watch asks for a listing where a board says so, and for none where it does not or cannot."""
    ports = world.process.ports
    board = Touchy(ports.tracker(world.workflow))
    watch = hint.Watch(replace(ports, tracker=lambda _workflow: board))
    assert watch.look() == ()
    board.touched = True
    assert [watch.look(), watch.look()] == [("world",), ()]
    assert hint.Watch(ports).look() == ()


def test_a_board_that_cannot_be_looked_at_is_told_once_and_stops_nothing(world, said):
    """It is read at its interval, as ever; what went wrong is one line, however long it lasts."""

    def broken(_workflow):
        raise TrackerError(TrackerFault.CONFIG, "the folder is not there")

    watch = hint.Watch(replace(world.process.ports, tracker=broken))
    assert [watch.look() for _ in range(3)] == [()] * 3
    assert said().count("watch failed") == 1
