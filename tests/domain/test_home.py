"""Where work lies: follow it, wait, ask a person, or begin elsewhere; and what a found branch means."""

import itertools

import pytest
from hypothesis import given

from orchestrator.domain import home
from orchestrator.domain.home import Home, Reach
from orchestrator.domain.leaving import HostIsBack, LeaveHost
from orchestrator.domain.push import Branch, ForeignWork
from orchestrator.domain.reconcile import Dispatch, Requeue
from tests.domain.worlds import worlds

HOMES = [Home("h", "/w/A-1", "b", reach, pushed) for reach, pushed in itertools.product(Reach, (False, True))]


@pytest.mark.proves("H6")
@pytest.mark.parametrize("where", HOMES, ids=lambda each: f"{each.reach.value}, pushed: {each.is_pushed}")
def test_each_home_means_exactly_one_thing(where):
    """Follow it there, go anywhere, wait for it, or ask a person."""
    follow = home.host_of(where) == "h" and home.why_unreachable(where) is None
    anywhere = home.host_of(where) is None
    ask = home.is_left(where)
    wait = home.why_unreachable(where) is not None and not ask
    assert [follow, anywhere, ask, wait].count(True) == 1
    assert anywhere == (where.reach is Reach.GONE and where.is_pushed)
    assert ask == (where.reach is Reach.GONE and not where.is_pushed)


def test_no_home_binds_nothing():
    """Work that was never begun, or lies where all see it."""
    assert (home.host_of(None), home.why_unreachable(None), home.is_left(None)) == (None, None, False)


@pytest.mark.proves("H6")
@given(worlds())
def test_nothing_starts_where_its_work_is_not(world):
    """A turn is opened for the host of the work, or anywhere if that host is gone and holds nothing else."""
    for action in world.plan().actions:
        if isinstance(action, Dispatch):
            where = action.record.home if action.record else None
            assert home.why_unreachable(where) is None
            assert action.host == home.host_of(where)
        if isinstance(action, Requeue) and action.record.turn.for_host is not None and action.record.home is not None:
            assert action.record.home.reach is Reach.SERVED


@pytest.mark.proves("H6")
@given(worlds())
def test_a_host_is_left_only_when_it_is_gone(world):
    """A running turn is never taken away by it, and a hold is placed only where work may be lost."""
    for action in world.plan().actions:
        if isinstance(action, LeaveHost):
            assert action.record.home.reach is Reach.GONE
            assert action.record.turn is None or action.record.turn.lease_until is None
            assert (action.reason is not None) == home.is_left(action.record.home)
        if isinstance(action, HostIsBack):
            assert action.record.is_left_behind
            assert home.why_unreachable(action.record.home) is None


@given(worlds())
def test_a_host_gets_no_more_turns_than_it_has_slots(world):
    """However many slots are free elsewhere."""
    for host, free in world.records.free_on.items():
        opened = [action for action in world.plan().actions if isinstance(action, Dispatch) and action.host == host]
        assert len(opened) <= free


@pytest.mark.proves("H6")
def test_what_the_remote_has_settles_a_push_that_was_left_open():
    """What was meant, what was there before, or nothing; all else is somebody's work."""
    branch = Branch("old", "new")
    assert branch.settle("new") == Branch("new")
    assert branch.settle("old") == Branch("old")
    assert branch.settle(None) == Branch(None)
    with pytest.raises(ForeignWork, match="it is at theirs, and we pushed old last"):
        branch.settle("theirs")
