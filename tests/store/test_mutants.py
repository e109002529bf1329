"""Mutants: each rule of our statements, left out, lets exactly that happen which it forbids; with it, it does not.

So a rule that somebody deletes is missed by a test, and a test that could not fail is found here.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from orchestrator.domain.turn import Handoff, StopReason
from orchestrator.ports.store import Opened, Settlement
from orchestrator.store import rules
from orchestrator.store.open import open_store
from tests.store.scene import LEASE_SECONDS, Scene, handoff_move, item, owner, started_move


def second_delivery_starts(scene: Scene) -> bool:
    """A message that is delivered twice starts two runs."""
    opened = scene.open()
    scene.admit(opened)
    return scene.store.turns.admit(opened.turn_id, opened.fence, owner(), lease_seconds=LEASE_SECONDS) is not None


def step_after_cancel(scene: Scene) -> bool:
    """A turn that was flagged goes on writing."""
    ref = scene.run().ref
    scene.store.items.cancel(scene.record(), StopReason.TERMINAL_SEEN, workflow="demo")
    return scene.step(ref, 1, started_move())


def step_after_deadline(scene: Scene) -> bool:
    """A turn past its deadline goes on writing."""
    ref = scene.run().ref
    scene.change("update turn set deadline_at = stationkeeper_clock() - interval '1 second'")
    return scene.step(ref, 1)


def more_turns_than_the_cap(scene: Scene) -> bool:
    """A second turn opens where one is allowed."""
    scene.open("X-1", cap=1)
    return isinstance(scene.store.items.open_turns([scene.opening(item("X-2"), cap=1)])[0], Opened)


def finished_work_again(scene: Scene) -> bool:
    """A dispatch that was planned before our move was settled opens another turn."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE), handoff_move())
    stale = scene.opening(seen=scene.record().version)
    scene.store.outbox.settle(scene.store.outbox.claim(seconds=10), Settlement.SENT, state="In Review")
    return isinstance(scene.store.items.open_turns([stale])[0], Opened)


def start_under_a_hold(scene: Scene) -> bool:
    """A queued turn of a held item starts."""
    opened = scene.open()
    scene.hold()
    return scene.store.turns.admit(opened.turn_id, opened.fence, owner(), lease_seconds=LEASE_SECONDS) is not None


def start_on_another_host(scene: Scene) -> bool:
    """A turn whose workspace is on one host starts on another."""
    opened = scene.store.items.open_turns([replace(scene.opening(), host="host-b")])[0]
    return scene.store.turns.admit(opened.turn_id, opened.fence, owner(), lease_seconds=LEASE_SECONDS) is not None


def two_relays_at_one_write(scene: Scene) -> bool:
    """A write that one relay has in its hands is given to another."""
    scene.step(scene.run().ref, 1, started_move())
    return None not in (scene.store.outbox.claim(seconds=60), scene.store.outbox.claim(seconds=60))


FORBIDDEN: dict[str, Callable[[Scene], bool]] = {
    "cancel": step_after_cancel,
    "cap": more_turns_than_the_cap,
    "claim": two_relays_at_one_write,
    "deadline": step_after_deadline,
    "fence": second_delivery_starts,
    "hold": start_under_a_hold,
    "host": start_on_another_host,
    "version": finished_work_again,
}


@contextmanager
def scene_without(url: str, *left_out: str) -> Iterator[Scene]:
    """A scene on a store that does not look at some rules."""
    store = open_store(url, left_out=frozenset(left_out))
    yield Scene(store, url)
    store.close()


def test_every_rule_has_something_that_it_forbids():
    """The list here is the list of the statements."""
    assert FORBIDDEN.keys() == rules.NAMES


@pytest.mark.parametrize("rule", sorted(FORBIDDEN))
def test_what_a_rule_forbids_does_not_happen(scene, rule):
    """With every rule in place."""
    assert not FORBIDDEN[rule](scene)


@pytest.mark.parametrize("rule", sorted(FORBIDDEN))
def test_without_the_rule_it_happens(url, rule):
    """One rule left out is one law broken."""
    with scene_without(url, rule) as scene:
        assert FORBIDDEN[rule](scene)
