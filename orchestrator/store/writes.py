"""Puts writes into the outbox, in the commit of what they tell about, numbered from the item's row under its lock.

Only what nobody has begun to send is taken back: a claimed or unknown row stays in the order of its item.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from orchestrator.domain.writeback import Comment, Move, Role, Write
from orchestrator.store.database import Session

# For statements that have a row `source` with the item's key and last number, and the turn that writes. The last move
# and the last text under a key are all that a card has to show, so what waits before them is superseded.
APPEND = """superseded as (
        update outbox set status = 'superseded', settled_at = stationkeeper_clock()
        from source
        where outbox.item_key = source.item_key and outbox.status = 'pending'
            and ((outbox.act = 'move' and :moves > 0) or outbox.key = any(cast(:keys as text[])))
    ), written as (
        insert into outbox
            (item_key, seq, turn_id, fence, workflow, workflow_version, kind, act, role, only_from, sighted,
            sighted_stamp, key, body)
        select source.item_key, source.last_seq + put.number, source.turn_id, source.fence, source.workflow,
            source.workflow_version, put.kind, put.act, put.role, put.only_from, put.sighted, put.sighted_stamp,
            put.key, put.body
        from source, jsonb_to_recordset(cast(:writes as jsonb))
            as put (number int, kind text, act text, role text, only_from text[], sighted text,
                sighted_stamp timestamptz, key text, body text)
    )"""
# A move raises the item's version, a comment does not.
_PUT = f"""
    with source as (
        update item set outbox_seq = item.outbox_seq + :count, version = item.version + :moves
        from turn
        where turn.id = :turn_id and item.key = turn.item_key
        returning item.key as item_key, item.outbox_seq - :count as last_seq,
            turn.id as turn_id, turn.fence, turn.workflow, turn.workflow_version
    ), {APPEND}
    select 1
"""
_WITHDRAW = """
    update outbox set status = 'withdrawn', settled_at = stationkeeper_clock(), detail = :detail
    where item_key = :item_key and status = 'pending' and act = 'move'
        and (cast(:role as text) is null or role = :role)
"""
# A move that was parked is appended as it was written, with the next number: it is permitted anew, and `only_from` says
# whether the card is still where it may leave. Only the item's last move, and an in-progress one only for an open turn.
_APPEND_AGAIN = """
    with last as (
        select * from outbox where item_key = :item_key and act = 'move' order by seq desc limit 1
    ), numbered as (
        update item set outbox_seq = item.outbox_seq + 1
        from last
        where item.key = :item_key and last.status = 'parked'
            and (last.role = 'handoff' or exists (
                select from turn where turn.id = last.turn_id and turn.status in ('queued', 'running')))
        returning item.outbox_seq
    )
    insert into outbox (item_key, seq, turn_id, fence, workflow, workflow_version, kind, act, role, only_from, sighted,
        sighted_stamp)
    select last.item_key, numbered.outbox_seq, last.turn_id, last.fence, last.workflow, last.workflow_version,
        last.kind, last.act, last.role, last.only_from, last.sighted, last.sighted_stamp
    from last, numbered
"""


def put(session: Session, writes: Sequence[Write], *, turn_id: object) -> None:
    """Append writes of a turn to its item's outbox. The caller holds the item's row."""
    if writes:
        session.change(_PUT, turn_id=turn_id, **values(writes))


def withdraw_moves(session: Session, *, item_key: int, detail: str, role: Role | None = None) -> None:
    """Take back the item's moves that nobody has begun to send, of one role or of all. The caller holds the row."""
    session.change(_WITHDRAW, item_key=item_key, detail=detail, role=role.value if role is not None else None)


def append_again(session: Session, *, item_key: int) -> bool:
    """Put the item's parked move back into the order; False when it has none that matters. The caller holds the row."""
    return session.change(_APPEND_AGAIN, item_key=item_key) == 1


def values(writes: Sequence[Write]) -> Mapping[str, object]:
    """What `APPEND` is told of them: how many, how many moves, the comments' keys, and the writes numbered from 1."""
    keys = [write.act.key for write in writes if isinstance(write.act, Comment)]
    numbered = [{"number": number, **_columns(write)} for number, write in enumerate(writes, start=1)]
    return {"count": len(writes), "moves": len(writes) - len(keys), "keys": keys, "writes": json.dumps(numbered)}


def _columns(write: Write) -> dict[str, object]:
    if isinstance(write.act, Move):
        act: dict[str, object] = {
            "act": "move",
            "role": write.act.role.value,
            "only_from": list(write.act.only_from),
            **_sighted(write.act),
        }
    else:
        act = {"act": "comment", "key": write.act.key, "body": write.act.body}
    return {"kind": write.kind.value, **act}


def _sighted(move: Move) -> dict[str, object]:
    if move.seen is None:
        return {}
    stamp = move.seen.updated_at
    return {"sighted": move.seen.state, "sighted_stamp": stamp.isoformat() if stamp is not None else None}
