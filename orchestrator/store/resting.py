"""A workflow's rest, kept on its row: begun and ended by the conclusions of its turns. The caller holds the row."""

from __future__ import annotations

from orchestrator.domain import rest
from orchestrator.domain.turn import Conclusion, Handoff, Parked, Recheck, StopReason, TurnStatus
from orchestrator.store.database import Session

_WAIT = """
    update workflow set rest_until = greatest(rest_until, :at), rest_why = 'a provider asked to wait'
    where name = :workflow
"""
# Where a rest stands already this was the one that was tried; else it counts with those before it.
_COUNT = """
    with counted as (
        select case
            when failing_stop = :stop and failing_at > stationkeeper_clock() - make_interval(secs => :window)
            then array_append(array_remove(failing, cast(:item_key as bigint)), cast(:item_key as bigint))
            else array[cast(:item_key as bigint)] end as failing
        from workflow where name = :workflow
    )
    update workflow set failing = counted.failing, failing_stop = :stop, failing_at = stationkeeper_clock()
    from counted where name = :workflow
    returning cardinality(workflow.failing) as cards, workflow.rest_until is not null as tried, workflow.rests
"""
_BEGIN = """
    update workflow
    set rest_until = stationkeeper_clock() + make_interval(secs => :seconds), rests = rests + 1, failing = '{}',
        rest_why = :why
    where name = :workflow
"""
_END = """
    update workflow set rest_until = null, rest_why = null, rests = 0, failing = '{}', failing_stop = null
    where name = :workflow and (rest_until is not null or failing <> '{}' or rests > 0)
"""


def note(session: Session, conclusion: Conclusion, *, workflow: str, item_key: int) -> None:
    """What a turn's end says about what all turns stand on."""
    turn = TurnStatus.SUCCEEDED if isinstance(conclusion, Handoff) else conclusion.turn
    if turn is TurnStatus.SUCCEEDED:
        end(session, workflow)
    elif isinstance(conclusion, Recheck) and conclusion.stop is StopReason.QUOTA:
        session.change(_WAIT, workflow=workflow, at=conclusion.at)
    elif isinstance(conclusion, Recheck | Parked) and turn is TurnStatus.FAILED:
        _count(session, conclusion, workflow=workflow, item_key=item_key)


def end(session: Session, workflow: str) -> bool:
    """It is over, if it stood: work goes on."""
    return session.change(_END, workflow=workflow) == 1


def _count(session: Session, conclusion: Recheck | Parked, *, workflow: str, item_key: int) -> None:
    spent = conclusion.stop is StopReason.ATTEMPTS_SPENT
    stop = StopReason.AGENT_FAILED if spent else conclusion.stop
    if stop not in rest.CORRELATED:
        return
    values = {"stop": stop.value, "window": rest.WINDOW_SECONDS, "item_key": item_key}
    found = session.row(_COUNT, workflow=workflow, **values)
    if found is not None and (found.tried or found.cards >= rest.FAILURES):
        why = f"{rest.FAILURES} cards in a row failed alike ({stop.value})"
        session.change(_BEGIN, workflow=workflow, seconds=rest.seconds(found.rests), why=why)
