"""Starts a queued turn, in one statement: of ten deliveries of one message, one gets the row.

The item's row is locked first, and whatever is checked besides it stands on the turn's row or is read after that
lock: a hold that was placed while we waited is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from orchestrator.domain.push import Branch
from orchestrator.domain.sighting import Sighting
from orchestrator.domain.turn import Counters
from orchestrator.ports.store import Admitted, Owner, TurnRef, WorkflowRow
from orchestrator.store.database import Database, Row

_ADMIT = """
    with asked as materialized (
        select * from unnest(
            cast(:turn_ids as uuid[]), cast(:fences as bigint[]), cast(:lease_seconds as float8[]),
            cast(:hosts as text[]), cast(:boot_ids as text[]), cast(:pids as integer[]),
            cast(:worker_ids as uuid[]), cast(:tokens as uuid[])
        ) as asked (turn_id, fence, lease_seconds, host, boot_id, pid, worker_id, token)
    ), locked as materialized (
        select asked.*, item.key, item.attempt
        from asked join turn on turn.id = asked.turn_id join item on item.key = turn.item_key
        for no key update of item {wait}
    ), started as (
        update turn
        set status = 'running', admitted_at = stationkeeper_clock(),
            lease_until = stationkeeper_clock() + make_interval(secs => locked.lease_seconds),
            host = locked.host, boot_id = locked.boot_id, pid = locked.pid, worker_id = locked.worker_id,
            token = locked.token, attempt = locked.attempt + 1
        from locked
        where turn.id = locked.turn_id and turn.item_key = locked.key and turn.status in ('queued', 'running')
            and turn.status = 'queued' and turn.fence = locked.fence -- rule: fence
            and (turn.for_host is null or turn.for_host = locked.host) -- rule: host
            and turn.cancel is null -- rule: cancel
            and (turn.deadline_at is null or turn.deadline_at > stationkeeper_clock()) -- rule: deadline
            and stationkeeper_held(locked.key, turn.workflow) is null -- rule: hold
        returning turn.*
    ), counted as (
        update item
        set attempt = item.attempt + 1, turns_in_row = item.turns_in_row + 1, conversing = true,
            sessions = item.sessions + case when item.conversing and item.sessions > 0 then 0 else 1 end
        from started where item.key = started.item_key
        returning item.key, item.item_id, item.identifier, item.attempt, item.turns_in_row, item.sessions, item.session,
            item.host, item.pushed, item.pushing
    ), begun as (
        update task set status = 'running' from started
        where task.id = started.task_id and task.status = 'accepted'
    )
    select counted.*, started.id as turn_id, started.state, started.seen_updated_at, started.ordinal,
        started.retry_kind, started.deadline_at, started.admitted_at, started.fence, started.token,
        workflow.name, version.version, version.digest, version.body, version.path, workflow.scope, workflow.problem
    from started
    join counted on counted.key = started.item_key
    join workflow on workflow.name = started.workflow
    join workflow_version version on version.workflow = started.workflow and version.version = started.workflow_version
"""
_ADMIT_ONE = _ADMIT.format(wait="")
_ADMIT_TOGETHER = _ADMIT.format(wait="skip locked")


class Candidate(NamedTuple):
    """A queued turn, and who wants to start it."""

    turn_id: UUID
    fence: int
    owner: Owner
    lease_seconds: float


def admit(database: Database, wanted: Candidate) -> Admitted | None:
    """Start the turn for its owner; None when it is not queued with this fence, cancelled, held or another host's."""
    row = database.row(_ADMIT_ONE, **_columns([wanted]))
    return _admitted(row) if row is not None else None


def admit_together(database: Database, wanted: Sequence[Candidate]) -> Sequence[Admitted | None]:
    """The same for several turns in one statement; None for one that has to be asked for alone."""
    found = {row.turn_id: _admitted(row) for row in database.rows(_ADMIT_TOGETHER, **_columns(wanted))}
    return [found.get(each.turn_id) for each in wanted]


def _columns(wanted: Sequence[Candidate]) -> dict[str, list[Any]]:
    owners = [each.owner for each in wanted]
    return {
        "turn_ids": [each.turn_id for each in wanted],
        "fences": [each.fence for each in wanted],
        "lease_seconds": [each.lease_seconds for each in wanted],
        "hosts": [owner.host for owner in owners],
        "boot_ids": [owner.boot_id for owner in owners],
        "pids": [owner.pid for owner in owners],
        "worker_ids": [owner.worker_id for owner in owners],
        "tokens": [owner.token for owner in owners],
    }


def _admitted(row: Row) -> Admitted:
    return Admitted(
        ref=TurnRef(row.turn_id, row.fence, row.token),
        item_key=row.key,
        item_id=row.item_id,
        identifier=row.identifier,
        sighting=Sighting(row.state, row.seen_updated_at),
        ordinal=row.ordinal,
        counters=Counters(row.attempt, row.turns_in_row, row.sessions),
        session=row.session,
        retry_kind=row.retry_kind,
        workflow=WorkflowRow(row.name, row.version, row.digest, row.body, row.path, row.scope, row.problem),
        deadline_at=row.deadline_at,
        admitted_at=row.admitted_at,
        home=row.host,
        branch=Branch(row.pushed, row.pushing),
    )
