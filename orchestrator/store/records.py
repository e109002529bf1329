"""Our side of a workflow, read in one REPEATABLE READ snapshot before the board: versions, open turns, holds, moves.

A row is read while the tick wants to see it (it was on the last listing) or something of ours is going on with it. A
finished item's row is left out, and a dispatch that then knows no version is refused by the row that it meets.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from orchestrator.domain.hold import BRAKE_RELEASED_SECONDS, HoldKind
from orchestrator.domain.home import Home, Reach
from orchestrator.domain.records import ItemRecord, Records, TaskRecord, TurnRecord
from orchestrator.domain.rest import Rest
from orchestrator.domain.serving import SERVED_SECONDS
from orchestrator.domain.shares import Claim
from orchestrator.domain.turn import TurnStatus
from orchestrator.ports.store import TickGrant
from orchestrator.store.database import Database, Row, Session
from orchestrator.store.workers import SEEN_WITHIN_SECONDS

_ITEMS = """
    with wanted as (
        select key from item where workflow = :workflow and listed
        union
        select item_key from task
        where workflow = :workflow and status not in ('succeeded', 'failed', 'cancelled')
        union
        select hold.item_key from hold join item on item.key = hold.item_key
        where item.workflow = :workflow and hold.lifted_at is null
            and (hold.until is null or hold.until > stationkeeper_now()) -- nobody closes one whose time passed
        union
        select outbox.item_key from outbox
        where outbox.workflow = :workflow and outbox.act = 'move' and outbox.status in ('pending', 'claimed', 'unknown')
    )
, hosts as materialized (
        select host.name, host.seen_at < stationkeeper_now() - make_interval(secs => :silence) as gone,
            exists (
                select from worker
                where worker.host = host.name and 'turns' = any(worker.queues)
                    and worker.seen_at > stationkeeper_now() - make_interval(secs => :seen_within)) as served
        from host
    )
    select item.key, item.item_id, item.identifier, item.version, item.fence, item.moved_at, item.absences,
        task.id as task_id, task.due_at,
        turn.id as turn_id, turn.fence as turn_fence, turn.status, turn.state, turn.enqueued_at, turn.lease_until,
        turn.cancel is not null as cancelled, turn.death is not null as dead,
        coalesce(turn.opened_at <= (
            select max(brake.lifted_at) from hold brake
            where brake.workflow = :workflow and brake.kind = 'mass_cancel' and brake.by_hand
                and brake.lifted_at > stationkeeper_now() - make_interval(secs => :released)
        ), false) as vouched,
        held.reason as held, held.state_seen, coalesce(held.firmly, false) as held_firmly,
        coalesce(held.left_behind, false) as left_behind, turn.for_host,
        lodging.host, lodging.path, lodging.branch, lodging.settled, hosts.gone, hosts.served,
        exists (
            select from outbox where outbox.item_key = item.key and outbox.act = 'move'
                and outbox.status in ('pending', 'claimed', 'unknown')
        ) as unsent_move
    from wanted
    join item on item.key = wanted.key
    left join task on task.item_key = item.key and task.status not in ('succeeded', 'failed', 'cancelled')
    left join turn on turn.item_key = item.key and turn.status in ('queued', 'running')
    left join lateral (
        select min(hold.kind || ': ' || hold.reason) as reason, max(hold.state_seen) as state_seen,
            bool_or(hold.kind in ('operator', 'served_elsewhere', 'recovery') or hold.lift <> 'person') as firmly,
            bool_or(hold.kind = 'work_left') as left_behind
        from hold
        where hold.item_key = item.key and hold.lifted_at is null
            and (hold.until is null or hold.until > stationkeeper_now())
    ) held on true
    left join workspace lodging on lodging.item_key = item.key and lodging.host = item.host
        and lodging.path = item.workspace and lodging.removed_at is null and not lodging.shared
    left join hosts on hosts.name = lodging.host
    where item.workflow = :workflow and item.scope = (select scope from workflow where name = :workflow)
"""
_HOLDS = """
    select scope, kind, kind || ': ' || reason as reason from hold
    where lifted_at is null and (until is null or until > stationkeeper_now())
        and (scope = 'fleet' or (scope = 'workflow' and workflow = :workflow))
    order by placed_at desc
"""
_WAITS = "select item_id, reason, detail from wait where workflow = :workflow"
_WORKFLOW = """
    select problem, served_at, retired_at is not null as retired, rest_until, rest_why
    from workflow where name = :workflow
"""
# Who else waits for a worker. One that did not look at its board lately, or could not, would only keep slots idle.
_RIVALS = """
    select workflow.name, workflow.open_turns, workflow.served_at, count(*) as waiting
    from workflow
    join reconciler ring on ring.workflow = workflow.name
    join wait on wait.workflow = workflow.name and wait.reason = 'no_worker_slot'
    where workflow.name <> :workflow and workflow.problem is null and workflow.retired_at is null
        and ring.report ->> 'fault' is null
        and ring.list_began_at > stationkeeper_now() - make_interval(secs => 3 * workflow.interval_ms / 1000.0 + 60)
    group by workflow.name
"""
# What the live workers can take, less what waits for them already; a tick counts the queued turns of its own workflow.
# The fleet's cap leaves no more than this many; no cap is null, which `least` passes over.
_FREE_SLOTS = """
    select least(
        coalesce(sum(greatest(worker.slots - greatest(worker.busy, running.turns), 0)), 0)
            - (select count(*) from turn where status = 'queued' and workflow <> :workflow),
        cast(:max_turns as integer)
            - (select count(*) from turn
                where status = 'running' or (status = 'queued' and workflow <> :workflow))) as free
    from worker, lateral (
        select count(*) as turns from turn where turn.worker_id = worker.id and turn.status = 'running'
    ) running
    where worker.seen_at > stationkeeper_now() - make_interval(secs => :seen_within)
"""
# The same for each host, for the cards whose work lies there.
_FREE_ON = """
    select worker.host, sum(greatest(worker.slots - greatest(worker.busy, running.turns), 0))
        - (select count(*) from turn
            where status = 'queued' and workflow <> :workflow and turn.for_host = worker.host) as free
    from worker, lateral (
        select count(*) as turns from turn where turn.worker_id = worker.id and turn.status = 'running'
    ) running
    where worker.seen_at > stationkeeper_now() - make_interval(secs => :seen_within)
    group by worker.host
"""


# A machine that boots again is back within minutes; past it a person wants to know, or the work goes on elsewhere.
HOST_SILENCE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """`max_turns` is the fleet's cap (None: none), `host_silence_seconds` the silence past which a host is gone.

    `served_seconds` is how long a mark of ours or of another installation counts that stands unchanged.
    """

    max_turns: int | None = None
    host_silence_seconds: float = HOST_SILENCE_SECONDS
    served_seconds: float = SERVED_SECONDS


def read(database: Database, grant: TickGrant, bounds: Bounds) -> Records:
    """Everything that a tick of the grant's workflow compares the board with."""
    with database.snapshot() as session:
        items = session.rows(
            _ITEMS,
            workflow=grant.workflow,
            released=BRAKE_RELEASED_SECONDS,
            silence=bounds.host_silence_seconds,
            seen_within=SEEN_WITHIN_SECONDS,
        )
        standing = session.rows(_HOLDS, workflow=grant.workflow)
        waits = session.rows(_WAITS, workflow=grant.workflow)
        workflow = session.row(_WORKFLOW, workflow=grant.workflow)
        rivals = session.rows(_RIVALS, workflow=grant.workflow)
        slots = _slots(session, grant.workflow, bounds.max_turns)
        free_on = session.rows(_FREE_ON, workflow=grant.workflow, seen_within=SEEN_WITHIN_SECONDS)
    holds = {row.scope: row.reason for row in standing}
    return Records(
        items={row.item_id: _record(row, trusted=grant.trusted) for row in items},
        free_slots=slots,
        free_on={row.host: max(int(row.free), 0) for row in free_on},
        held_workflow=holds.get("workflow"),
        held_fleet=holds.get("fleet"),
        contract_broken=workflow is not None and workflow.problem is not None,
        braked=any(row.kind == HoldKind.MASS_CANCEL.value for row in standing),
        trusted=grant.trusted,
        rivals=tuple(Claim(row.name, row.open_turns, row.waiting, row.served_at) for row in rivals),
        served_at=workflow.served_at if workflow is not None else None,
        retired=workflow is not None and workflow.retired,
        rest=_rest(workflow),
        waits={row.item_id: as_text(row.reason, row.detail) for row in waits},
    )


def _rest(workflow: Row | None) -> Rest | None:
    return None if workflow is None or workflow.rest_until is None else Rest(workflow.rest_until, workflow.rest_why)


def free_slots(database: Database, workflow: str, *, max_turns: int | None) -> int:
    """How many more turns the live workers can take, those of `workflow` that are queued already included."""
    with database.session() as session:
        return _slots(session, workflow, max_turns)


def due_ids(records: Records, now: datetime, *, requeue_seconds: float) -> tuple[str, ...]:
    """The ids of items that something is due for without a listing: a retry, an expired lease, a stale message."""
    stale_at = now - timedelta(seconds=requeue_seconds)
    return tuple(record.id for record in records.live() if _is_due(record, now, stale_at))


def as_text(reason: str, detail: str) -> str:
    """A stored reason as one text, to be compared."""
    return f"{reason}: {detail}" if detail else reason


def _slots(session: Session, workflow: str, max_turns: int | None) -> int:
    found = session.row(_FREE_SLOTS, workflow=workflow, seen_within=SEEN_WITHIN_SECONDS, max_turns=max_turns)
    return max(int(found.free), 0) if found is not None else 0


def _is_due(record: ItemRecord, now: datetime, stale_at: datetime) -> bool:
    turn, task = record.turn, record.task
    if turn is None:
        return task is not None and task.due_at is not None and task.due_at <= now
    if turn.status is TurnStatus.RUNNING:
        return turn.lease_until is not None and turn.lease_until < now
    return turn.enqueued_at is None or turn.enqueued_at <= stale_at


def _record(row: Row, *, trusted: bool) -> ItemRecord:
    return ItemRecord(
        key=row.key,
        id=row.item_id,
        identifier=row.identifier,
        version=row.version,
        fence=row.fence,
        task=TaskRecord(row.task_id, row.due_at) if row.task_id is not None else None,
        turn=_turn(row) if row.turn_id is not None else None,
        held=row.held,
        held_state=row.state_seen,
        held_firmly=row.held_firmly,
        unsent_move=row.unsent_move,
        moved_at=row.moved_at,
        absences=row.absences,
        home=None if row.host is None else Home(row.host, row.path, row.branch, _reach(row, trusted), row.settled),
        is_left_behind=row.left_behind,
    )


def _reach(row: Row, trusted: bool) -> Reach:  # noqa: FBT001 -- of the grant
    """After a blind spell every host seems to have been silent: none is taken for gone then."""
    if row.served:
        return Reach.SERVED
    return Reach.GONE if row.gone and trusted else Reach.SILENT


def _turn(row: Row) -> TurnRecord:
    return TurnRecord(
        id=row.turn_id,
        fence=row.turn_fence,
        status=TurnStatus(row.status),
        state=row.state,
        enqueued_at=row.enqueued_at,
        lease_until=row.lease_until,
        cancelled=row.cancelled,
        dead=row.dead,
        vouched=row.vouched,
        for_host=row.for_host,
    )
