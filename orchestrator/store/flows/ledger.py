"""The ledger's statements: an intent needs the fence and nothing in the way, what happened needs nothing.

`refused` and `absent` need the fence too: they let somebody act again, and a late word must not do that.
"""

from __future__ import annotations

import json

from orchestrator.domain.effect import MARGIN_SECONDS, EffectStatus, sources
from orchestrator.ports.store import FlowStep, Intent, Kept, TurnRef
from orchestrator.store.database import Database
from orchestrator.store.flows.recording import EXTEND, MAY_GO_ON, OURS, named, recorded

# The second half is a second send: the same row, the same parameters, a new deadline. Only an effect that is absent, or
# whose target takes a key once and whose last act is surely over, gets there.
_INTEND = f"""
    with mine as (
        {EXTEND}
        where {MAY_GO_ON}
        returning turn.id, turn.task_id, turn.fence
    )
    insert into effect (key, task_id, node, turn_id, fence, parameters, undone_by, act_until, safe_until)
    select :key, mine.task_id, :node, mine.id, mine.fence, cast(:parameters as jsonb), :undone_by,
        stationkeeper_clock() + make_interval(secs => :act_seconds),
        stationkeeper_clock() + make_interval(secs => :safe_seconds)
    from mine
    on conflict (key) do update
    set turn_id = excluded.turn_id, fence = excluded.fence, act_until = excluded.act_until, status = 'intended',
        sends = effect.sends + 1
    where effect.task_id = excluded.task_id and effect.node = excluded.node
        and (effect.status = 'absent'
            or (effect.status in ('intended', 'unknown') and effect.turn_id <> excluded.turn_id
                and effect.act_until + make_interval(secs => :margin) < stationkeeper_clock()))
    returning 1
"""
_INTENDED_BEFORE = f"""
    select 1 from effect join turn on turn.id = effect.turn_id
    where effect.key = :key and effect.status = 'intended'
        and {MAY_GO_ON}
"""
_COMMIT = f"""
    with mine as (
        {EXTEND}
        where {MAY_GO_ON}
        returning turn.id
    ), told as (
        update effect
        set status = 'committed', outcome = cast(:output as jsonb), settled_at = stationkeeper_clock()
        where effect.key = :key and effect.status = any(:sources)
            and (select count(*) from mine) >= 0 -- the turn's row first, as everybody takes them
        returning effect.task_id, effect.node
    ), kept as (
        insert into step (turn_id, task_id, ordinal, name, output, ends)
        select :turn_id, told.task_id, :ordinal, told.node, cast(:output as jsonb), :ends from told
        on conflict do nothing
        returning 1
    )
    select exists (select from mine) as ours, exists (select from kept) as kept
"""
_COMMITTED_BEFORE = "select 1 from step where turn_id = :turn_id and ordinal = :ordinal and name = :name"
# The turn's row is locked first: it is read again after a wait, as a plain join would not be.
_SETTLE = f"""
    with mine as (
        select turn.task_id from turn
        where {OURS}
        for no key update
    )
    update effect
    set status = :status, reason = :reason, settled_at = case when :status = 'refused' then stationkeeper_clock() end
    from mine
    where effect.key = :key and effect.task_id = mine.task_id and effect.status = any(:sources)
    returning 1
"""
_SETTLED_BEFORE = "select 1 from effect where key = :key and status = :status"
_LOOKED = "update effect set looks = looks + 1, reason = :reason where key = :key returning 1"


def intend(hot: Database, ref: TurnRef, intent: Intent, *, lease_seconds: float) -> bool:
    """Write the intent; False when it must not be done by this turn, or the key is another task's."""
    values = {
        **named(ref),
        "lease_seconds": lease_seconds,
        "key": intent.key,
        "node": intent.node,
        "parameters": json.dumps(dict(intent.parameters)),
        "undone_by": intent.undone_by,
        "act_seconds": intent.act_seconds,
        "safe_seconds": intent.safe_seconds,
        "margin": MARGIN_SECONDS,
    }
    if hot.row(_INTEND, **values) is not None:
        return True
    return hot.row(_INTENDED_BEFORE, **{**named(ref), "key": intent.key}) is not None


def committed(hot: Database, ref: TurnRef, key: str, *, step: FlowStep, lease_seconds: float) -> Kept:
    """Record that it happened, with its step, whoever brings the news."""
    values = {**named(ref), **recorded(step), "lease_seconds": lease_seconds, "key": key}
    row = hot.one(_COMMIT, **{**values, "sources": _sources(EffectStatus.COMMITTED)})
    if row.kept:
        return Kept(row.ours, kept=True)
    told = {"turn_id": ref.turn_id, "ordinal": step.ordinal, "name": step.name}
    return Kept(row.ours, kept=hot.row(_COMMITTED_BEFORE, **told) is not None)


def settle(hot: Database, ref: TurnRef, key: str, *, status: EffectStatus, reason: str) -> bool:
    """Record `refused` or `absent`; False when the turn is not ours any more."""
    values = {**named(ref), "key": key, "status": status.value, "reason": reason}
    if hot.row(_SETTLE, **{**values, "sources": _sources(status)}) is not None:
        return True
    return hot.row(_SETTLED_BEFORE, key=key, status=status.value) is not None


def looked(hot: Database, key: str, reason: str) -> None:
    """Count a look-up that found out nothing."""
    hot.row(_LOOKED, key=key, reason=reason)


def _sources(status: EffectStatus) -> list[str]:
    return sorted(source.value for source in sources(status))
