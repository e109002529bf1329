"""The rings: one row a workflow, so that any number of beats, hints and hands is one tick.

A request is never cleared: it is due while it is later than the last begin, and it is made later than that even when
both happen in one microsecond. Whatever is due by time alone (a retry, a lease) rings once when it becomes due, and
then only every few seconds, since a tick may find that it cannot be served yet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import UUID, uuid4

from orchestrator.domain import walk
from orchestrator.ports.store import TickGrant
from orchestrator.store import set_back
from orchestrator.store.database import Database
from orchestrator.store.witness import Mark

# How long a tick may be silent, between two pages or actions, before another may begin.
_RUN_SECONDS = 10
# Between two listings: a storm of hints becomes two listings a second at most.
_LIST_GAP_SECONDS = 0.5
# A due item that could not be served (no slot, a hold) is looked at again after this.
_AGAIN_SECONDS = 5

_REQUEST = """
    update reconciler set {column} = greatest(stationkeeper_clock(), {began} + interval '1 microsecond')
    where cast(:workflow as text) is null or workflow = :workflow
"""
_REQUEST_LISTING = _REQUEST.format(column="list_requested_at", began="list_began_at")
_REQUEST_DUE = _REQUEST.format(column="due_requested_at", began="due_began_at")

# A hint writes only where no listing is asked for yet, so that a storm of them touches the row once between two ticks,
# and never holds it when a tick wants to begin. Whoever reads the board begins by writing to this row: a request that
# this statement still sees is served by a listing that reads after it.
_HINT = """
    update reconciler
    set list_requested_at = greatest(stationkeeper_clock(), list_began_at + interval '1 microsecond')
    where (cast(:workflow as text) is null or workflow = :workflow)
        and (list_requested_at is null or list_requested_at <= list_began_at)
"""

# A listing: asked for, or its interval passed.
_LISTING = """(
        ring.list_began_at is null
        or (ring.list_requested_at > ring.list_began_at
            and ring.list_began_at <= stationkeeper_now() - make_interval(secs => :gap))
        or ring.list_began_at <= stationkeeper_now() - make_interval(secs => workflow.interval_ms / 1000.0))"""
# The moment at which each thing of a workflow became due by time alone.
_BECAME_DUE = """
        select task.due_at as at from task where task.workflow = ring.workflow and task.due_at <= stationkeeper_now()
        union all
        select turn.lease_until from turn
        where turn.workflow = ring.workflow and turn.status = 'running' and turn.lease_until < stationkeeper_now()
        union all
        select coalesce(turn.enqueued_at + make_interval(secs => :requeue), turn.opened_at) from turn
        where turn.workflow = ring.workflow and turn.status = 'queued'
            and coalesce(turn.enqueued_at + make_interval(secs => :requeue), turn.opened_at) <= stationkeeper_now()"""
_DUE = f"""(
        {_LISTING}
        or ring.due_requested_at > coalesce(ring.due_began_at, '-infinity')
        or exists (select from ({_BECAME_DUE}) due
            where due.at > ring.due_began_at
                or ring.due_began_at <= stationkeeper_now() - make_interval(secs => :again)))"""
# A retired workflow is looked at once more, and then for as long as something of it is open.
_SERVED = """(
        workflow.retired_at is null or ring.due_began_at is null or ring.due_began_at <= workflow.retired_at
        or exists (select from task where task.workflow = ring.workflow
            and task.status not in ('succeeded', 'failed', 'cancelled')))"""
_NOT_RUNNING = "(ring.running_until is null or ring.running_until <= stationkeeper_now())"

_TRUSTED = "(select coalesce(blind_until <= clock_timestamp(), true) from pulse)"

# One due workflow, the one that waited longest. A row that somebody is writing to is left for the next ring.
_BEGIN = f"""
    with due as (
        select ring.workflow, {_LISTING} as listing
        from reconciler ring join workflow on workflow.name = ring.workflow
        where (cast(:workflow as text) is null or ring.workflow = :workflow) and {_NOT_RUNNING} and {_SERVED}
            and {_DUE}
        order by ring.due_began_at nulls first, ring.workflow
        limit 1
        for no key update of ring skip locked
    )
    update reconciler ring
    set run = :run, running_until = stationkeeper_clock() + make_interval(secs => :seconds),
        due_began_at = stationkeeper_clock(),
        list_began_at = case when due.listing then stationkeeper_clock() else ring.list_began_at end
    from due where ring.workflow = due.workflow
    returning ring.workflow, ring.due_began_at as began_at, due.listing, ring.blockers_read_to, ring.walk,
        {_TRUSTED} as trusted
"""
_EXTEND = """
    update reconciler set running_until = stationkeeper_clock() + make_interval(secs => :seconds)
    where workflow = :workflow and run = :run and running_until > stationkeeper_clock()
"""
_FINISH = """
    update reconciler
    set run = null, running_until = null, finished_at = stationkeeper_clock(), report = cast(:report as jsonb),
        blockers_read_to = coalesce(cast(:report as jsonb) ->> 'blockers_read_to', blockers_read_to),
        walk = coalesce(cast(:report as jsonb) -> 'walk', walk)
    where workflow = :workflow and run = :run
"""
_ANY_DUE = f"""
    select 1 from reconciler ring join workflow on workflow.name = ring.workflow
    where {_NOT_RUNNING} and {_SERVED} and {_DUE} limit 1
"""

# Real time throughout: what is asked is whether the database, and with it every renewal, was away. `mark` grows also
# where the clock does not.
_PULSE = """
    with before as (
        select rung_at, rung_at > clock_timestamp() + interval '1 second' as is_ahead from pulse for no key update
    )
    update pulse
    set rung_at = clock_timestamp(), server_start = pg_postmaster_start_time(),
        mark = greatest(clock_timestamp(), pulse.mark + interval '1 microsecond'),
        blind_until = case
            when server_start <> pg_postmaster_start_time() or before.is_ahead
                or before.rung_at < clock_timestamp() - make_interval(secs => :lease)
            then clock_timestamp() + make_interval(secs => :lease)
            else blind_until end
    from before
    where before.rung_at is null or before.is_ahead or before.rung_at < clock_timestamp() - interval '500 milliseconds'
        or server_start <> pg_postmaster_start_time()
    returning mark, (select id from installation) as installation,
        case when before.is_ahead then before.rung_at - pulse.rung_at end as set_back
"""
_PEEK = f"select {_TRUSTED} as trusted, stationkeeper_clock() as now"


class Reconciler:
    """The room of the rings. `lease_seconds` is how long a blind spell keeps leases from being judged."""

    def __init__(self, database: Database, *, lease_seconds: float, requeue_seconds: float) -> None:
        self._database = database
        self._lease_seconds = lease_seconds
        self._pauses = {"gap": _LIST_GAP_SECONDS, "again": _AGAIN_SECONDS, "requeue": requeue_seconds}

    def request(self, workflow: str | None, *, listing: bool) -> None:
        """Ask for a tick of one workflow, or of all."""
        self._database.change(_REQUEST_LISTING if listing else _REQUEST_DUE, workflow=workflow)

    def hint(self, workflow: str | None) -> bool:
        """Ask for a listing of one workflow, or of all, unless one is asked for already; True where that was new."""
        return self._database.change(_HINT, workflow=workflow) > 0

    def begin(self, workflow: str | None) -> TickGrant | None:
        """Begin a tick of a due workflow by compare-and-set; None when none is due, or a tick of it still runs."""
        self._ring()
        run = uuid4()
        row = self._database.row(_BEGIN, workflow=workflow, run=run, seconds=_RUN_SECONDS, **self._pauses)
        if row is None:
            return None
        return TickGrant(
            row.workflow,
            run,
            listing=row.listing,
            began_at=row.began_at,
            trusted=row.trusted,
            blockers_read_to=row.blockers_read_to,
            walk=walk.of_row(row.walk),
        )

    def _ring(self) -> None:
        """Notice a blind spell, a clock that was set back, and a database that is an older copy."""
        self._database.recognise()
        with self._database.transaction() as session:
            rung = session.row(_PULSE, lease=self._lease_seconds)
            if rung is not None and rung.set_back is not None:
                set_back.follow(session, by=rung.set_back)
        if rung is not None:
            self._database.witness.saw(Mark(rung.installation, rung.mark))

    def peek(self, workflow: str) -> TickGrant:
        """A grant to read with: begins nothing, writes nothing, and gives no right to act."""
        row = self._database.row(_PEEK)
        assert row is not None  # noqa: S101 -- it selects from nothing
        return TickGrant(workflow, UUID(int=0), listing=True, began_at=row.now, trusted=row.trusted, binding=False)

    def extend(self, grant: TickGrant) -> bool:
        """Keep the right for ten more seconds; False when it is lost, and the tick must stop."""
        changed = self._database.change(_EXTEND, workflow=grant.workflow, run=grant.run, seconds=_RUN_SECONDS)
        return changed == 1

    def finish(self, grant: TickGrant, report: Mapping[str, object]) -> bool:
        """Give the right back with what was done; True when another tick, of any workflow, is due already."""
        text = json.dumps(dict(report), default=str)
        self._database.change(_FINISH, workflow=grant.workflow, run=grant.run, report=text)
        return self._database.row(_ANY_DUE, **self._pauses) is not None
