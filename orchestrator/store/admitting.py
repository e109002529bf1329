"""Starts a queued turn, in one statement: of ten deliveries of one message, one gets the row.

The item's row is locked first, and whatever is checked besides it stands on the turn's row or is read after that
lock: a hold that was placed while we waited is seen.
"""

from __future__ import annotations

from uuid import UUID

from orchestrator.domain.push import Branch
from orchestrator.domain.sighting import Sighting
from orchestrator.domain.turn import Counters
from orchestrator.ports.store import Admitted, Owner, TurnRef, WorkflowRow
from orchestrator.store.database import Database, Row

_ADMIT = """
    with locked as (
        select item.key, item.attempt from item join turn on turn.item_key = item.key
        where turn.id = :turn_id
        for no key update of item
    ), started as (
        update turn
        set status = 'running', admitted_at = stationkeeper_clock(),
            lease_until = stationkeeper_clock() + make_interval(secs => :lease_seconds),
            host = :host, boot_id = :boot_id, pid = :pid, worker_id = :worker_id, token = :token,
            attempt = locked.attempt + 1
        from locked
        where turn.id = :turn_id and turn.item_key = locked.key and turn.status in ('queued', 'running')
            and turn.status = 'queued' and turn.fence = :fence -- rule: fence
            and (turn.for_host is null or turn.for_host = :host) -- rule: host
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
    select counted.*, started.state, started.seen_updated_at, started.ordinal, started.retry_kind, started.deadline_at,
        started.admitted_at, started.fence,
        workflow.name, version.version, version.digest, version.body, version.path, workflow.scope, workflow.problem
    from started
    join counted on counted.key = started.item_key
    join workflow on workflow.name = started.workflow
    join workflow_version version on version.workflow = started.workflow and version.version = started.workflow_version
"""


def admit(database: Database, turn_id: UUID, fence: int, *, owner: Owner, lease_seconds: float) -> Admitted | None:
    """Start the turn for `owner`; None when it is not queued with this fence, cancelled, held or another host's."""
    row = database.row(
        _ADMIT,
        turn_id=turn_id,
        fence=fence,
        lease_seconds=lease_seconds,
        host=owner.host,
        boot_id=owner.boot_id,
        pid=owner.pid,
        worker_id=owner.worker_id,
        token=owner.token,
    )
    if row is None:
        return None
    return _admitted(row, TurnRef(turn_id, row.fence, owner.token))


def _admitted(row: Row, ref: TurnRef) -> Admitted:
    return Admitted(
        ref=ref,
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
