"""A silent database is waited out, and nothing else is."""

import pytest
import stamina

from orchestrator.engine import patience
from orchestrator.ports.store import StoreUnavailable


@pytest.fixture(autouse=True)
def without_pauses():
    """Retries without pauses: a test does not wait for a time."""
    with stamina.set_testing(True, attempts=5):
        yield


def test_a_call_is_made_again_while_the_store_is_away():
    """Two outages, then the answer."""
    answers = iter([StoreUnavailable(), StoreUnavailable(), "here"])

    def call():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert patience.persist(call) == "here"


def test_a_store_that_stays_away_is_given_up():
    """Patience ends, and says why."""

    def call():
        raise StoreUnavailable("nobody there")

    with pytest.raises(StoreUnavailable, match="nobody there"):
        patience.persist(call)


def test_a_mistake_of_ours_is_not_repeated():
    """Only an outage is waited out."""
    calls = []

    def call():
        calls.append(1)
        raise LookupError

    with pytest.raises(LookupError):
        patience.persist(call)
    assert calls == [1]
