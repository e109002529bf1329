"""One ledger: what a flow does outside and what the loop writes on cards, with the same closed statuses."""

import pytest

from orchestrator.domain.effect import OPEN, EffectStatus
from orchestrator.domain.writeback import STANDS_FOR, WriteStatus


def test_every_write_stands_for_one_status_of_an_effect(scene):
    """The schema's list, the domain's, and the view's function are one."""
    allowed = scene.one(
        "select pg_get_constraintdef(oid) from pg_constraint where conname = %s", "a_write_has_one_of_eight_statuses"
    )
    assert {status.value for status in WriteStatus} == {word for word in allowed.split("'") if word.isalpha()}
    assert STANDS_FOR.keys() == set(WriteStatus)
    for status, effect in STANDS_FOR.items():
        assert scene.one("select stationkeeper_effect_status(%s)", status.value) == effect.value


@pytest.mark.proves("DE-08", "TW-13")
def test_what_the_relay_may_send_is_what_surely_did_not_happen():
    """A pending write may be sent; a claimed or unknown one is looked up first; the others have ended."""
    may_be_sent = {status for status, effect in STANDS_FOR.items() if effect is EffectStatus.ABSENT}
    looked_up = {status for status, effect in STANDS_FOR.items() if effect in OPEN - {EffectStatus.ABSENT}}
    assert may_be_sent == {WriteStatus.PENDING}
    assert looked_up == {WriteStatus.CLAIMED, WriteStatus.UNKNOWN}
