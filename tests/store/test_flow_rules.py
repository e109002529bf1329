"""Broken statements: each rule of a flow's statements, left out, lets exactly that happen which it forbids."""

from collections.abc import Callable

import pytest

from orchestrator.domain.hold import HoldScope
from orchestrator.store.open import open_store
from tests.store.flow_scene import FlowScene
from tests.store.scene import Scene


def an_old_owner_decides(flows: FlowScene) -> bool:
    """A worker that lost the turn has its decision recorded."""
    flows.run()
    flows.ref = flows.take_over()
    return flows.step(is_decision=True).kept


def an_effect_begins_after_the_cancel(flows: FlowScene) -> bool:
    """A flagged turn intends something."""
    flows.run()
    flows.scene.change("update turn set cancel = 'cancelled'")
    return flows.intend()


def an_effect_begins_after_the_deadline(flows: FlowScene) -> bool:
    """A late turn intends something."""
    flows.run()
    flows.scene.change("update turn set deadline_at = stationkeeper_clock() - interval '1 s'")
    return flows.intend()


def a_held_flow_goes_on(flows: FlowScene) -> bool:
    """A turn is opened although everything is held."""
    flows.start()
    flows.scene.hold(HoldScope.FLEET)
    return flows.open() is not None


RULES: dict[str, Callable[[FlowScene], bool]] = {
    "fence": an_old_owner_decides,
    "cancel": an_effect_begins_after_the_cancel,
    "deadline": an_effect_begins_after_the_deadline,
    "hold": a_held_flow_goes_on,
}


@pytest.mark.proves("DE-08", "DE-13", "H11", "H16")
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_of_a_flows_statements_forbids_what_it_says(scene, rule):
    """With the rule it does not happen, and without it it does."""
    assert RULES[rule](FlowScene(scene)) is False
    left_out = open_store(scene.url, left_out=frozenset({rule}))
    try:
        other = Scene(left_out, scene.url)
        other.change("update hold set lifted_at = now()")
        assert RULES[rule](FlowScene(other)) is True
    finally:
        left_out.close()
