"""Rules by name: one can be left out, and then exactly its law is broken, without an error that would hide it."""

import pytest

from orchestrator.domain.turn import Handoff, Recheck, StopReason, TurnStatus
from orchestrator.store import rules
from orchestrator.store.open import open_store
from tests.store.scene import LEASE_SECONDS, Scene, comment, handoff_move, owner

SQL = """
    update turn set status = 'running'
    where id = 1
        and fence = 2 -- rule: fence
        and cancel is null -- rule: cancel
"""


@pytest.fixture
def lawless(url):
    """A scene on a store that does not look at the fence."""
    store = open_store(url, left_out=frozenset({"fence"}))
    yield Scene(store, url)
    store.close()


def test_a_statement_with_nothing_left_out_is_the_source():
    """The rules are comments then."""
    assert rules.statement(SQL, frozenset()).strip() == SQL.strip()


def test_a_rule_left_out_takes_its_line_and_no_other():
    """What remains is a statement still."""
    text = rules.statement(SQL, frozenset({"fence"}))
    assert ("fence" in text, "cancel is null" in text) == (False, True)


def test_a_misspelt_rule_is_an_error(url):
    """A demonstration of nothing would look like a proof."""
    with pytest.raises(rules.UnknownRule, match="no rule is called 'fense'"):
        open_store(url, left_out=frozenset({"fense"}))
    with pytest.raises(rules.UnknownRule):
        rules.rule_of("and true -- rule: fense")


def test_without_the_fence_a_second_delivery_starts_a_second_run(lawless):
    """The demonstration shows two agents at one item, and no statement fails on the way."""
    opened = lawless.open()
    first = lawless.admit(opened)
    second = lawless.admit(opened)
    for admitted in (first, second):
        assert lawless.store.turns.renew([admitted.ref], lease_seconds=30)[opened.turn_id].ours
        assert lawless.step(admitted.ref, 1, comment())
    assert lawless.conclude(first.ref, Handoff(StopReason.DONE), handoff_move())
    assert lawless.conclude(second.ref, Handoff(StopReason.DONE), handoff_move())
    assert lawless.one("select open_turns from workflow") == 0


def test_without_the_fence_a_zombie_writes_over_the_turn_that_took_over(lawless):
    """What the fence refuses a worker that thawed too late is let through."""
    zombie = lawless.run()
    lawless.take_over()
    lawless.run()
    before = lawless.one("select count(*) from outbox")
    assert lawless.store.turns.renew([zombie.ref], lease_seconds=30)[zombie.ref.turn_id].ours
    assert lawless.step(zombie.ref, 1, comment("late"))
    assert lawless.conclude(zombie.ref, Handoff(StopReason.DONE), handoff_move())
    assert lawless.one("select count(*) from outbox") == before + 2


def test_without_the_fence_a_redelivered_old_turn_is_refused_only_by_its_status(lawless):
    """An ended turn does not start again: one rule is broken, not the table of statuses."""
    admitted = lawless.run()
    again = Recheck(lawless.now(), TurnStatus.FAILED, StopReason.STALLED, admitted.counters)
    lawless.conclude(admitted.ref, again)
    turns = lawless.store.turns
    assert turns.admit(admitted.ref.turn_id, 1, owner(), lease_seconds=LEASE_SECONDS) is None
