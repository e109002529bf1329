"""Extends the leases of a worker's turns in one statement, in id order, past any row that is locked.

A lease that ran out is renewed too while nobody took the turn: the fence decides, not the clock, and an hour's work
survives an outage of the database. The new end is counted from the clock after a wait, never from a time already past.
A turn without a row is lost: a database that went back never knew it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import Renewal, TurnRef
from orchestrator.store.database import Database
from orchestrator.store.plans import RUNNING

_RENEW = f"""
    with locked as (
        select turn.id, turn.cancel,
            (true
                and turn.fence = asked.fence and turn.token = asked.token -- rule: fence
                and {RUNNING} and turn.death is null -- rule: fence
            ) as ours
        from turn join unnest(cast(:ids as uuid[]), cast(:fences as bigint[]), cast(:tokens as uuid[]))
            as asked (id, fence, token) on asked.id = turn.id
        order by turn.id
        for no key update of turn skip locked
    ), renewed as (
        update turn
        set lease_until = least(stationkeeper_clock() + make_interval(secs => :lease_seconds),
            coalesce(turn.step_deadline_at, 'infinity'))
        from locked where turn.id = locked.id and locked.ours
    )
    select id, ours, cancel from locked
    union all
    select asked.id, false, null
    from unnest(cast(:ids as uuid[])) as asked (id) where not exists (select from turn where turn.id = asked.id)
"""


_LOST = f"""
    select asked.id
    from unnest(cast(:ids as uuid[]), cast(:fences as bigint[]), cast(:tokens as uuid[])) as asked (id, fence, token)
    left join turn on turn.id = asked.id
    where not (true
        and turn.fence = asked.fence and turn.token = asked.token -- rule: fence
        and {RUNNING} and turn.death is null -- rule: fence
    ) or turn.id is null
"""


def renew(database: Database, refs: Sequence[TurnRef], *, lease_seconds: float) -> Mapping[UUID, Renewal]:
    """What was found of each turn; one that is missing from the answer was locked and is unknown."""
    if not refs:
        return {}
    rows = database.rows(_RENEW, **_columns(refs), lease_seconds=lease_seconds)
    return {row.id: Renewal(row.ours, StopReason(row.cancel) if row.cancel is not None else None) for row in rows}


def lost_among(database: Database, refs: Sequence[TurnRef]) -> frozenset[UUID]:
    """Which of the turns are not theirs any more who name them; extends nothing."""
    if not refs:
        return frozenset()
    return frozenset(row.id for row in database.rows(_LOST, **_columns(refs)))


def _columns(refs: Sequence[TurnRef]) -> dict[str, object]:
    return {
        "ids": [ref.turn_id for ref in refs],
        "fences": [ref.fence for ref in refs],
        "tokens": [ref.token for ref in refs],
    }
