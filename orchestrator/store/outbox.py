"""The relay's room: the head row of one item at a time, in order for each item, in parallel across items.

A claim is a token with an end; what became of the row is written by compare-and-set on it. A claim that ended without
a word is offered again as uncertain, and stays so until it is settled for good: it is looked up before it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID, uuid4

from orchestrator.domain import contract, keys, notes
from orchestrator.domain.hold import Hold, HoldKind, HoldScope, Lift
from orchestrator.domain.sighting import Sighting
from orchestrator.domain.writeback import Comment, Move, Role, Write, WriteKind, WriteStatus
from orchestrator.ports.store import Claimed, Settlement, WorkflowRow
from orchestrator.store import concluding, holds, serving, writes
from orchestrator.store.database import Database, Row, Session

# The head of an item is its first row that is in the order still; one that is claimed or not due keeps the others back.
# Nothing is posted from a database that went back, before a person has looked.
_CLAIM = """
    with head as materialized (
        select outbox.id, outbox.status, outbox.act, outbox.turn_id, outbox.seq from outbox
        where outbox.status in ('pending', 'claimed', 'unknown')
            and (outbox.due_at is null or outbox.due_at <= stationkeeper_now())
            and (outbox.status <> 'claimed' or outbox.claim_until <= stationkeeper_now()) -- rule: claim
            and not exists (
                select from hold where scope = 'fleet' and kind = 'recovery' and lifted_at is null)
            and outbox.seq = (
                select min(first.seq) from outbox first
                where first.item_key = outbox.item_key and first.status in ('pending', 'claimed', 'unknown'))
        order by outbox.id
        limit 1
        for no key update of outbox skip locked
    )
    update outbox
    set status = 'claimed', claim_token = :token, claim_until = stationkeeper_clock() + make_interval(secs => :seconds),
        tries = outbox.tries + 1, uncertain = outbox.uncertain or head.status <> 'pending'
    from head
        left join lateral (
            select earlier.status, earlier.state from outbox earlier
            where head.act = 'move' and earlier.turn_id = head.turn_id and earlier.act = 'move'
                and earlier.seq < head.seq and earlier.status in ('sent', 'suppressed') and earlier.state is not null
            order by earlier.seq desc
            limit 1) before on true,
        item, installation, workflow, workflow_version current, workflow_version pinned
    where outbox.id = head.id and item.key = outbox.item_key and workflow.name = outbox.workflow
        and current.workflow = workflow.name and current.version = workflow.version
        and pinned.workflow = workflow.name and pinned.version = outbox.workflow_version
    returning outbox.id, outbox.item_key, item.item_id, item.identifier, outbox.kind, outbox.act, outbox.role,
        outbox.only_from, outbox.sighted, outbox.sighted_stamp, before.status as before_status,
        before.state as before_state, outbox.key, outbox.body, outbox.tries - 1 as tries, outbox.uncertain, outbox.seen,
        outbox.stood, outbox.detail, outbox.written_at, installation.id as installation,
        case when outbox.key = installation.id || cast(:told as text)
            and (exists (select from turn where turn.item_key = item.key and turn.status = 'running')
                or exists (select from task
                    where task.item_key = item.key and task.status not in ('succeeded', 'failed', 'cancelled')
                        and not exists (select from hold where hold.item_key = item.key and hold.lifted_at is null
                            and (hold.until is null or hold.until > stationkeeper_clock()))))
            then stationkeeper_clock() + make_interval(secs => :served) end as served_until,
        workflow.name, workflow.scope, workflow.problem,
        current.version, current.digest, current.body as current_body, current.path,
        pinned.version as pinned_version, pinned.digest as pinned_digest, pinned.body as pinned_body,
        pinned.path as pinned_path
"""
# The intent of a move, with the last look at the card: committed before anything is sent.
_BEGIN_MOVE = """
    update outbox set seen = :seen, stood = :stood
    where id = :id and status = 'claimed'
        and claim_token = :token -- rule: claim
"""
# What was looked at or written goes into the audit in the same commit. A comment's text before ours was ours as well.
_AUDIT = """
    insert into write_audit (outbox_id, item_key, turn_id, fence, kind, act, key, before, after, outcome, detail)
    select told.id, told.item_key, told.turn_id, told.fence, told.kind, told.act,
        coalesce(told.key, coalesce(told.turn_id::text, told.workflow) || ':' || told.role),
        case when told.act = 'move' then told.stood else (
            select earlier.body from outbox earlier
            where earlier.item_key = told.item_key and earlier.key = told.key and earlier.seq < told.seq
                and earlier.status = 'sent'
            order by earlier.seq desc limit 1) end,
        case when told.status = 'sent' then coalesce(told.state, told.body) end, told.status, told.detail
    from told"""
_SETTLE = f"""
    with told as (
        update outbox
        set status = :status, detail = :detail, state = :state, settled_at = stationkeeper_clock(), claim_token = null
        where id = :id and status = 'claimed'
            and claim_token = :token -- rule: claim
        returning *
    ) {_AUDIT}
"""
# A relay that wrote after its claim had run out may have put an old text over a newer one: that one is sent again.
_SAY_AGAIN = """
    update outbox set status = 'pending', due_at = null, settled_at = null
    where status = 'sent' and id = (
        select newest.id from outbox late join outbox newest using (item_key, key)
        where late.id = :id and newest.seq > late.seq
        order by newest.seq desc
        limit 1)
"""
# Put back, to be looked at after a pause. What was uncertain stays so.
_PUT_BACK = f"""
    with told as (
        update outbox
        set status = case when :unknown or uncertain then 'unknown' else 'pending' end,
            uncertain = uncertain or :unknown, seen = case when :unknown or uncertain then seen end,
            detail = :detail, due_at = stationkeeper_clock() + make_interval(secs => :pause_seconds), claim_token = null
        where id = :id and status = 'claimed'
            and claim_token = :token -- rule: claim
        returning *
    ), audited as ({_AUDIT} where :unknown)
    select id from told
"""
# What the board shows from now on is not a person's move: the open turn and the holds of the item move with the card.
_MOVED = """
    update item set version = version + 1, moved_at = stationkeeper_clock(), state = coalesce(:state, state)
    where key = :item_key
"""
_TURN_MOVED = """
    update turn set state = :state, state_folded = :state_folded
    where item_key = :item_key and status in ('queued', 'running')
"""
_WRITTEN_BY = """
    select outbox.turn_id, installation.id as installation from outbox, installation where outbox.id = :id
"""
# The status comment of the turn whose move it was, unless a later turn tells of the card by now.
_TOLD = """
    select last.body, last.key, moved.turn_id
    from installation, outbox moved cross join lateral (
        select outbox.body, outbox.key, outbox.turn_id from outbox
        where outbox.item_key = moved.item_key and outbox.key = installation.id || cast(:told as text)
        order by outbox.seq desc limit 1) last
    where moved.id = :id and last.turn_id = moved.turn_id
"""

# How the key of a status comment goes on behind the installation.
_STATUS_KEY = keys.status_comment_key("")


class Outbox:
    """The room of the relay."""

    def __init__(self, database: Database, *, served_seconds: float) -> None:
        self._database = database
        self._served_seconds = served_seconds

    def renew_marks(self) -> int:
        """Have the marks of running turns posted again that are getting old; returns how many."""
        return serving.renew(self._database, served_seconds=self._served_seconds)

    def claim(self, *, seconds: float) -> Claimed | None:
        """Claim the head row of one item that is due and unclaimed, skipping locked ones; None when there is none."""
        token = uuid4()
        row = self._database.row(_CLAIM, token=token, seconds=seconds, served=self._served_seconds, told=_STATUS_KEY)
        return _claimed(row, token, seconds) if row is not None else None

    def begin_move(self, claimed: Claimed, seen: str, *, state: str) -> bool:
        """Remember, right before a move is sent, what the card bears; False when another relay has the row."""
        return self._database.change(_BEGIN_MOVE, id=claimed.id, token=claimed.token, seen=seen, stood=state) == 1

    def settle(
        self,
        claimed: Claimed,
        settlement: Settlement,
        *,
        detail: str = "",
        state: str | None = None,
        pause_seconds: float = 0.0,
    ) -> bool:
        """Record what became of it; False when the claim ran out and another relay has the row."""
        if settlement in {Settlement.DEFERRED, Settlement.UNKNOWN}:
            unknown = settlement is Settlement.UNKNOWN
            return self._put_back(claimed, detail, unknown=unknown, pause_seconds=pause_seconds)
        ours = {"id": claimed.id, "token": claimed.token}
        told = {"status": settlement.value, "detail": detail, "state": state}
        if isinstance(claimed.write.act, Comment):
            return self._settle_comment(ours, told)
        with self._database.transaction() as session:
            session.row(concluding.LOCK_ITEM, item_key=claimed.item_key)
            if session.change(_SETTLE, **ours, **told) == 0:
                return False
            _tell_item(session, claimed, state=state if settlement is Settlement.SENT else None)
            if settlement is Settlement.PARKED:
                _hold_item(session, claimed, detail or "the move cannot be made")
            if settlement is Settlement.SUPPRESSED and claimed.write.act.role is Role.HANDOFF:
                _say_kept(session, claimed, detail)
        return True

    def _settle_comment(self, ours: Mapping[str, object], told: Mapping[str, object]) -> bool:
        settled = self._database.change(_SETTLE, **ours, **told) == 1
        if not settled and told["status"] == Settlement.SENT.value:
            self._database.change(_SAY_AGAIN, id=ours["id"])
        return settled

    def _put_back(self, claimed: Claimed, detail: str, *, unknown: bool, pause_seconds: float) -> bool:
        row = self._database.row(
            _PUT_BACK, id=claimed.id, token=claimed.token, detail=detail, unknown=unknown, pause_seconds=pause_seconds
        )
        return row is not None


def _tell_item(session: Session, claimed: Claimed, *, state: str | None) -> None:
    """What a settled move means for its item; `state` is where it put the card, None when it did not."""
    session.change(_MOVED, item_key=claimed.item_key, state=state)
    if state is not None:
        session.change(_TURN_MOVED, item_key=claimed.item_key, state=state, state_folded=contract.fold(state))
        session.change(holds.FOLLOW, item_key=claimed.item_key, state=state)


def _hold_item(session: Session, claimed: Claimed, reason: str) -> None:
    hold = Hold(HoldScope.ITEM, HoldKind.PARKED_MOVE, Lift.PERSON, reason)
    holds.place_on_item(session, hold, item_key=claimed.item_key)
    ours = session.row(_WRITTEN_BY, id=claimed.id)
    assert ours is not None  # noqa: S101 -- the row was settled in this transaction
    writes.put(session, (notes.stuck(ours.installation, ours.turn_id, reason),), turn_id=ours.turn_id)


def _say_kept(session: Session, claimed: Claimed, reason: str) -> None:
    """Finished work that was not handed off: who looks at the card reads why it stands where it does."""
    told = session.row(_TOLD, id=claimed.id, told=_STATUS_KEY)
    if told is not None:
        kept = Write(WriteKind.TURN_ENDED, Comment(told.key, notes.kept_back(told.body, reason)))
        writes.put(session, (kept,), turn_id=told.turn_id)


def _claimed(row: Row, token: UUID, seconds: float) -> Claimed:
    return Claimed(
        id=row.id,
        token=token,
        item_key=row.item_key,
        item_id=row.item_id,
        identifier=row.identifier,
        write=Write(WriteKind(row.kind), _act(row)),
        tries=row.tries,
        uncertain=row.uncertain,
        pinned=WorkflowRow(
            row.name, row.pinned_version, row.pinned_digest, row.pinned_body, row.pinned_path, row.scope, row.problem
        ),
        workflow=WorkflowRow(row.name, row.version, row.digest, row.current_body, row.path, row.scope, row.problem),
        local_seconds=seconds,
        seen=row.seen,
        detail=row.detail,
        mark=serving.mark_of(row),
        stood=row.stood,
    )


def _act(row: Row) -> Move | Comment:
    if row.act != "move":
        return Comment(row.key, row.body)
    seen = Sighting(row.sighted, row.sighted_stamp) if row.sighted is not None else None
    move = Move(Role(row.role), tuple(row.only_from), seen)
    match row.before_status:
        case WriteStatus.SENT.value:
            return move.after_sent(row.before_state)
        case WriteStatus.SUPPRESSED.value:
            return move.after_refused(row.before_state)
        case _:
            return move
