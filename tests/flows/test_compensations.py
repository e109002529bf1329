"""What is wrong with a compensation is found where it is written, with the place and the reason."""

import pytest

from orchestrator.flows import IRREVERSIBLE, BadFlow, Effect, Flow
from tests.flows import trip


@pytest.mark.proves("DE-07", "DE-10")
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda undo: undo.act, "expected an Effect, with a key of its own"),
        (lambda undo: _again(undo, name="hotel"), "another step or compensation bears that name"),
        (lambda undo: _again(undo, compensation=undo), "what undoes is not undone"),
        (lambda undo: _again(undo, act=trip.cancel_flight), "takes 'flight'; expected one of input, task, hotel, key"),
    ],
)
def test_a_compensation_that_cannot_be_run_is_refused_where_it_is_written(change, expected):
    """With the place and the reason."""
    hotel = trip.FLOW.steps[0]
    with pytest.raises(BadFlow, match=expected) as refused:
        Flow("bad", version=1, steps=[_again(hotel, compensation=change(hotel.compensation))])
    assert "trip.py" in str(refused.value) or "test_compensations.py" in str(refused.value)


def test_an_irreversible_effect_has_no_compensation():
    """It is one or the other."""
    with pytest.raises(BadFlow, match="is said to be irreversible"):
        Flow("bad", version=1, steps=[_again(trip.FLOW.steps[0], effect=IRREVERSIBLE)])


def _again(found, **changed):
    values = {name: getattr(found, name) for name in ("name", "act", "key", "lookup", "compensation", "effect")}
    values |= changed
    return Effect(values.pop("name"), values.pop("act"), **values)
