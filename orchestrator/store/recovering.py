"""After a restore or a failover: what is open, and the one commit by which the fleet goes on.

What ran since the copy was made is unknown, and the board is the truth. So nothing that anybody may still hold is given
out again (fences, versions), nothing is taken for unsent (moves and effects are looked up first), no old text goes over
a newer one, every board is read anew, and no lease is judged for the length of one.
"""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.domain.hold import HoldKind
from orchestrator.ports.store.operators import Hand
from orchestrator.store import history
from orchestrator.store.database import Database, Session
from orchestrator.store.witness import Mark
from orchestrator.store.workflows import LOCK_FLEET

_FOUND = """
    select (select reason from hold where scope = 'fleet' and kind = 'recovery' and lifted_at is null) as reason,
        (select count(*) from turn where status in ('queued', 'running')) as turns,
        (select count(*) from outbox where status in ('pending', 'claimed', 'unknown')) as writes,
        (select count(*) from effect where status in ('intended', 'unknown')) as effects
"""
# In the order of locks: fleet, workflows, items.
_LOCK_WORKFLOWS = "select name from workflow order by name for no key update"
# Seconds since 1970 grow faster than the fences of one item, and past those of an earlier recovery that was forgotten.
_RAISE_BASE = """
    with old as (select fence_base from installation)
    update installation
    set fence_base = greatest(old.fence_base + 1, extract(epoch from clock_timestamp())::bigint)
    from old
    returning installation.fence_base - old.fence_base as leap
"""
_RAISE_ITEMS = "update item set fence = fence + :leap, version = version + :leap"
# A move may have been made since: it is looked up, and goes only from where it may. The status comment on a card may be
# newer than ours.
_DOUBT_MOVES = """
    update outbox set status = 'unknown', uncertain = true, seen = null, claim_token = null, due_at = null
    where act = 'move' and status in ('pending', 'claimed', 'unknown')
"""
_DOUBT_COMMENTS = """
    update outbox set status = 'suppressed', claim_token = null, settled_at = stationkeeper_clock(),
        detail = 'the database went back: what the card says may be newer'
    where act = 'comment' and status in ('pending', 'claimed', 'unknown')
"""
_DOUBT_EFFECTS = "update effect set status = 'unknown' where status = 'intended'"
# A flow's task has no board to read. What its steps did since the copy was made, no row of ours knows.
_HOLD_FLOWS = """
    insert into hold (scope, workflow, item_key, kind, lift, reason, owner)
    select 'item', task.workflow, task.item_key, :kind, 'person',
        'the database went back, and nobody knows what its steps did since: look before it goes on', 'an operator'
    from task
    where starts_with(task.workflow, 'flow:') and task.status not in ('succeeded', 'failed', 'cancelled')
    on conflict do nothing
"""
_KNOW = """
    update pulse
    set lineage = stationkeeper_lineage(), server_start = pg_postmaster_start_time(),
        rung_at = clock_timestamp(),
        mark = greatest(mark, clock_timestamp(), cast(:seen_at as timestamptz)) + interval '1 microsecond',
        blind_until = clock_timestamp() + make_interval(secs => :lease)
"""
_LIFT = """
    update hold
    set lifted_at = stationkeeper_clock(), lifted_by = :by, lifted_reason = :reason, by_hand = true
    where scope = 'fleet' and kind = :kind and lifted_at is null
"""
_LIST = """
    update reconciler
    set list_requested_at = greatest(stationkeeper_clock(), list_began_at + interval '1 microsecond'),
        run = null, running_until = null
"""


@dataclass(frozen=True, slots=True)
class Open:
    """What is open in the database as it is: why the fleet is held (None: it is not), and how many of each."""

    reason: str | None
    turns: int
    writes: int
    effects: int


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was done: rows raised, moves and effects to be looked up, comments given up, flow tasks held."""

    items: int
    moves: int
    comments: int
    effects: int
    flow_tasks: int


class Recovery:
    """The room of `orchestrator recover`."""

    def __init__(self, database: Database, *, lease_seconds: float) -> None:
        self._database = database
        self._lease_seconds = lease_seconds

    def look(self) -> Open:
        """What is open now; writes nothing but the hold itself, where the database is found to have changed."""
        self._database.recognise()
        row = self._database.one(_FOUND)
        return Open(row.reason, row.turns, row.writes, row.effects)

    def recover(self, hand: Hand) -> Recovered:
        """Let the fleet go on with this database; one commit. Asked for again, it does the same once more."""
        with self._database.transaction() as session:
            session.row(LOCK_FLEET)
            session.rows(_LOCK_WORKFLOWS)
            done = _doubt(session)
            _know(session, self._database.witness.mark, lease_seconds=self._lease_seconds)
            session.change(_LIFT, kind=HoldKind.RECOVERY.value, by=hand.by, reason=hand.reason)
            session.change(_LIST)
            told = {"by": hand.by, "reason": hand.reason, "moves": done.moves, "effects": done.effects}
            history.note(session, "recovered", item_key=None, workflow=None, **told)
        return done


def _doubt(session: Session) -> Recovered:
    base = session.row(_RAISE_BASE)
    assert base is not None  # noqa: S101 -- the first migration puts the installation there
    return Recovered(
        items=session.change(_RAISE_ITEMS, leap=base.leap),
        moves=session.change(_DOUBT_MOVES),
        comments=session.change(_DOUBT_COMMENTS),
        effects=session.change(_DOUBT_EFFECTS),
        flow_tasks=session.change(_HOLD_FLOWS, kind=HoldKind.RECOVERY.value),
    )


def _know(session: Session, mark: Mark | None, *, lease_seconds: float) -> None:
    """From now on this is the database that is known; whatever process saw more of another has seen less than this."""
    session.change(_KNOW, seen_at=mark.at if mark is not None else None, lease=lease_seconds)
