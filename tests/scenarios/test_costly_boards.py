"""A board whose whole listing would cost: each card has its stored answer all the same, and no slow look decides."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.domain.turn import Outcome
from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.trackers.memory import PAGE_SIZE, MemoryTracker
from tests.stage import Stage
from tests.world import World

ROUND_SECONDS = 600


class Interrupted(MemoryTracker):
    """The tracker, with something that happens right after a stretch was read and before anything is made of it."""

    def __init__(self, door: MemoryTracker) -> None:
        super().__init__(door.board)
        self.meanwhile: Callable[[], None] = lambda: None
        self.torn: str | None = None

    def get_items(self, ids: Sequence[str]) -> Any:
        """By id one record makes no sense, which no listing shows."""
        if self.torn in ids:
            raise TrackerError(TrackerFault.PAYLOAD, "it has no title")
        return super().get_items(ids)

    def walk(self, *asked: Any) -> Any:
        """The stretch as it was read."""
        stretch = super().walk(*asked)
        then, self.meanwhile = self.meanwhile, lambda: None
        then()
        return stretch


@pytest.fixture
def costly(stage: Stage) -> World:
    """A world whose board lists only what it is asked for."""
    world = stage.world(wrap=lambda _pid, name, door: Interrupted(door) if name == "tracker" else door)
    world.board.costly = True
    return world


def tracker(world: World) -> Any:
    """The door of whoever acts now."""
    return world.process.ports.tracker(world.workflow)


def answer(world: World, item_id: str) -> tuple[str, str] | None:
    """The one stored reason of a card with its detail."""
    told = world.store.queries.explain(item_id)
    return (told[0].wait.reason, told[0].wait.detail) if told and told[0].wait else None


@pytest.mark.proves("CS-17")
def test_every_card_of_a_costly_board_has_one_answer(costly: World):
    """A stretch with each listing until the board's end; a second round over the same board writes nothing."""
    cards = {
        costly.add(f"A-{number}", state=state): state
        for number, state in enumerate(["Done", "Backlog", "In Review", "Cancelled"] * 30)
    }
    costly.tick()
    assert 0 < costly.one("select count(*) from wait") <= PAGE_SIZE
    assert costly.store.queries.boards()[1][0].whole_at is None
    costly.tick()
    costly.tick()
    assert {card: answer(costly, card) for card in cards} == {
        card: ("not_active", state) for card, state in cards.items()
    }
    assert costly.store.queries.boards()[1][0].whole_at is not None
    assert costly.store.queries.overview().waits == {("world", "not_active"): len(cards)}
    before = costly.fingerprint()
    costly.jump(ROUND_SECONDS)
    for _ in range(3):
        costly.tick()
    assert costly.fingerprint() == before
    assert not costly.rows("select 1 from task")


@pytest.mark.proves("CS-17")
def test_a_card_that_leaves_the_listed_columns_is_told_with_the_next_listing(costly: World):
    """Handed over by us, or moved by a person: nobody waits for the next round to learn where it is."""
    costly.add("A-1")
    costly.add("A-2", labels=())
    costly.script("A-1", Outcome.DONE)
    costly.run_until_quiet()
    assert answer(costly, "A-1") == ("not_active", "In Review")
    costly.drag("A-1", "Done")
    costly.tick()
    assert answer(costly, "A-1") == ("not_active", "In Review")  # from one column that is not listed to another
    costly.jump(ROUND_SECONDS)
    costly.tick()
    assert answer(costly, "A-1") == ("not_active", "Done")
    costly.delete("A-1")
    costly.jump(ROUND_SECONDS)
    costly.tick()
    assert answer(costly, "A-1") is None


def test_a_card_that_comes_back_is_the_listings_matter(costly: World):
    """It starts with the next listing, whatever the slow look stored of it; and what that stored is gone."""
    costly.add("A-1", state="Backlog")
    costly.tick()
    assert answer(costly, "A-1") == ("not_active", "Backlog")
    costly.drag("A-1", "Todo")
    costly.tick()
    assert (answer(costly, "A-1"), costly.one("select count(*) from turn")) == (None, 1)
    costly.tick()
    assert costly.reason("A-1") == "running"


def test_another_board_under_the_same_workflow_is_walked_anew(costly: World):
    """What is known of the old one is no knowledge of this: it goes, and what is the same by chance is stored again."""
    for card in ("A-1", "A-2"):
        costly.add(card, state="Done")
    costly.tick()
    row = costly.store.workflows.current("world")
    assert row is not None
    costly.workflow = costly.bodies["other"] = replace(costly.workflow, scope="memory:other")
    costly.store.workflows.publish(replace(row, body="other", digest="other", scope="memory:other"), interval_ms=30_000)
    costly.delete("A-2")
    costly.tick()
    assert (answer(costly, "A-1"), answer(costly, "A-2")) == (("not_active", "Done"), None)
    assert costly.one("select walk ->> 'scope' from reconciler") == "memory:other"


def test_the_slow_look_starts_nothing(costly: World):
    """A card that a stretch shows in an active column starts with the next listing, which looks at everything else."""
    costly.tick()
    costly.jump(ROUND_SECONDS)
    listing, costly.board.costly = tracker(costly).list_items, True
    tracker(costly).list_items = lambda states: (
        page for page in [*listing(states), costly.add("A-1")] if page != "A-1"
    )
    costly.tick()
    assert costly.board.ids() == ("A-1",)
    assert (costly.one("select count(*) from turn"), costly.reason("A-1")) == (0, None)
    tracker(costly).list_items = listing
    costly.tick()
    assert costly.one("select count(*) from turn") == 1


def test_an_old_stretch_overrules_no_fresher_listing(costly: World):
    """The tick that read it was silent for so long that another one began and ended: what it read is thrown away."""
    costly.add("A-1", state="Backlog")
    old = costly.process

    def meanwhile() -> None:
        costly.jump(11.0)
        costly.drag("A-1", "Todo")
        costly.hire()
        costly.tick()

    tracker(costly).meanwhile = meanwhile
    report = costly.tick()
    assert report is not None
    assert report.walk is None
    assert (answer(costly, "A-1"), costly.one("select count(*) from turn")) == (None, 1)
    costly.process = old
    costly.tick()
    assert costly.reason("A-1") == "running"


def test_a_look_that_fails_costs_the_tick_nothing(costly: World):
    """The card starts, the round goes on where it was, and nothing is taken for gone."""
    for number in range(PAGE_SIZE + 1):
        costly.add(f"B-{number}", state="Done")
    costly.tick()
    told = costly.one("select count(*) from wait")

    def fail() -> None:
        raise TrackerError(TrackerFault.TRANSPORT, "no answer")

    tracker(costly).meanwhile = fail
    costly.add("A-1")
    costly.tick()
    assert (costly.one("select count(*) from turn"), costly.one("select count(*) from wait")) == (1, told)
    costly.tick()
    assert answer(costly, f"B-{PAGE_SIZE}") == ("not_active", "Done")
    assert costly.one("select count(*) from wait where reason = 'not_active'") == PAGE_SIZE + 1


def test_one_torn_card_hides_no_other_that_left(costly: World):
    """A record that cannot be read fails the reading of all; it is told by itself, and the others by theirs."""
    for number in range(3):
        costly.add(f"A-{number}", labels=())
    costly.command(None, "hold")
    costly.tick()
    assert costly.reason("A-1") == "held_fleet"
    for number in range(3):
        costly.drag(f"A-{number}", "Backlog")
    tracker(costly).torn = "A-1"
    costly.tick()
    elsewhere = ("not_active", "Backlog")
    assert [answer(costly, f"A-{number}") for number in range(3)] == [
        elsewhere,
        ("malformed", "it has no title"),
        elsewhere,
    ]
    before = costly.fingerprint()
    costly.tick()
    assert costly.fingerprint() == before
