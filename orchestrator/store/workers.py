"""The workers' rows: who is there, and with how many turn slots."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from orchestrator.domain.select import ON_HOST
from orchestrator.ports.store import Hand, WorkerRow
from orchestrator.store.database import Database

# Ten beats: a worker that is busy for a moment stays, one that died stops counting before anybody waits for it.
SEEN_WITHIN_SECONDS = 10

# A free slot is news for whoever waits for one: only a listing knows who is next. Asked for at every beat and not once,
# because the tick that stores such a wait may have looked at the workers before this beat. A slot of one host is none
# for whoever waits for another's.
_BEAT = """
    with told as (
        insert into worker (id, host, boot_id, pid, slots, busy, queues, seen_at)
        values (:id, :host, :boot_id, :pid, :slots, :busy, :queues, stationkeeper_clock())
        on conflict (id) do update
        set slots = excluded.slots, busy = excluded.busy, queues = excluded.queues, seen_at = excluded.seen_at
        returning slots > busy as has_free, draining_at is not null as draining
    ), there as (
        insert into host (name, seen_at)
        select :host, stationkeeper_clock() where 'turns' = any(:queues)
        on conflict (name) do update set seen_at = excluded.seen_at
        where host.seen_at not between excluded.seen_at - interval '1 second' and excluded.seen_at
    ), asked as (
        update reconciler
        set list_requested_at = greatest(stationkeeper_clock(), list_began_at + interval '1 microsecond')
        from told
        where told.has_free and exists (
            select from wait
            where wait.workflow = reconciler.workflow and wait.reason = 'no_worker_slot'
                and (wait.detail not like :on_any_host or wait.detail = :on_this_host))
    )
    select draining from told
"""
_DRAIN = """
    with asked as (
        update worker set draining_at = coalesce(draining_at, stationkeeper_clock())
        where seen_at > stationkeeper_clock() - make_interval(secs => :seen_within)
            and (cast(:name as text) is null or host = :name or host || ':' || pid = :name)
        returning id, host || ':' || pid as name
    ), told as (
        insert into history (kind, detail)
        select 'drained', jsonb_build_object('worker', name, 'by', cast(:by as text), 'reason', cast(:reason as text))
        from asked
    )
    select id, name from asked order by name
"""
_LEAVE = "delete from worker where id = :id"


class Workers:
    """The room of the workers themselves."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def beat(self, row: WorkerRow) -> bool:
        """Say that the worker is alive, and ask for a listing where an item waits for a slot that it has.

        True when a person wants it to hand its turns back and take no more.
        """
        found = self._database.row(
            _BEAT,
            id=row.id,
            host=row.host,
            boot_id=row.boot_id,
            pid=row.pid,
            slots=row.slots,
            busy=row.busy,
            queues=list(row.queues),
            on_any_host=f"{ON_HOST}%",
            on_this_host=f"{ON_HOST}{row.host}",
        )
        return found is not None and found.draining

    def drain(self, name: str | None, hand: Hand) -> Mapping[UUID, str]:
        """Ask the live workers of that name (HOST or HOST:PID; None: all) to drain; returns who was asked."""
        values = {"name": name, "by": hand.by, "reason": hand.reason, "seen_within": SEEN_WITHIN_SECONDS}
        return {row.id: row.name for row in self._database.rows(_DRAIN, **values)}

    def leave(self, worker_id: UUID) -> None:
        """Say that it has ended."""
        self._database.change(_LEAVE, id=worker_id)
