"""A tracker whose listings name blockers without their states: they are read by id, a few in each tick."""

from dataclasses import replace

import pytest

from orchestrator.domain import blockers
from orchestrator.domain.item import Blocker
from orchestrator.engine import dispatch

CARDS = 120


class Shy:
    """A tracker that never says in what state a blocker is; it counts for whom it is asked by id."""

    def __init__(self, tracker, asked):
        self._tracker, self._asked = tracker, asked

    def __getattr__(self, name):
        return getattr(self._tracker, name)

    @property
    def profile(self):
        """It says so, and lists no closed cards."""
        return replace(self._tracker.profile, blockers_have_states=False, whole_board=False)

    def list_items(self, states):
        """Every card, its blockers without a state."""
        for page in self._tracker.list_items(states):
            yield replace(page, items=tuple(map(_silent, page.items)))

    def get_items(self, ids):
        """The same by id."""
        self._asked.append(tuple(ids))
        return {item_id: _silent(item) for item_id, item in self._tracker.get_items(ids).items()}


def _silent(item):
    return replace(item, blocked_by=tuple(replace(blocker, state=None) for blocker in item.blocked_by))


@pytest.fixture
def asked():
    """The ids of each call, in order."""
    return []


@pytest.fixture
def shy(stage, asked):
    """A world on such a tracker, which does not list closed cards either."""

    def wrap(_pid, name, door):
        return Shy(door, asked) if name == "tracker" else door

    world = stage.world(slots=CARDS, wrap=wrap)
    world.workflow = world.bodies["body"] = replace(
        world.workflow, limits=replace(world.workflow.limits, max_concurrent=CARDS)
    )
    return world


def blocked(world, number, state):
    """A card behind a card of its own."""
    world.add(f"B-{number:03d}", state=state)
    blocker = Blocker(f"B-{number:03d}", f"B-{number:03d}", None)
    return world.add(f"A-{number:03d}", blocked_by=(blocker,))


def shared(asked):
    """The calls of one tick that were about more than one card."""
    return [ids for ids in asked if len(ids) > 1]


@pytest.mark.proves("CS-10", "CS-09")
def test_every_card_is_looked_at_in_its_turn_and_no_tick_reads_more_than_its_share(shy, asked):
    """The cards behind a closed one start within three ticks; the one behind an open card does not."""
    for number in range(CARDS):
        blocked(shy, number, "Backlog" if number == 7 else "Done")
    for _ in range(3):
        asked.clear()
        shy.tick()
        assert [len(ids) <= blockers.MOST_READS for ids in shared(asked)] == [True]
    assert shy.one("select count(*) from turn") == CARDS - 1
    assert shy.reason("A-007") == "blocked_by"


@pytest.mark.proves("CS-10", "CS-09")
def test_a_blocker_that_cannot_be_read_keeps_back_its_own_card_only(shy, asked):
    """It fails every call that asks for it: fewer are asked for then, and the ticks after it go on behind it."""
    for number in range(CARDS):
        blocked(shy, number, "Done")
    shy.board.spoil("B-007", "it makes no sense")
    for _ in range(12):
        asked.clear()
        shy.tick()
        assert len(shared(asked)) <= 7
    assert shy.one("select count(*) from turn") == CARDS - 1
    assert shy.reason("A-007") in {"blockers_unreadable", "blocked_by"}


@pytest.mark.proves("CS-14")
def test_a_blocker_that_was_reopened_since_the_tick_read_it_stops_the_start(shy, monkeypatch):
    """The look right before the start reads the blockers again."""
    card = blocked(shy, 1, "Done")
    reread = dispatch.blockers.of

    def reopened(tracker, item):
        shy.drag("B-001", "Todo")
        return reread(tracker, item)

    monkeypatch.setattr(dispatch.blockers, "of", reopened)
    shy.tick()
    assert shy.reason(card) == "blocked_by"
    assert shy.one("select count(*) from turn") == 0
