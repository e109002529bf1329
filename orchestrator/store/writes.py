"""Puts writes into the outbox, in the transaction of what they tell about, numbered from the item's row under its lock.

Only what nobody has begun to send is taken back: a claimed or unknown row stays in the order of its item.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.domain.writeback import Comment, Move, Role, Write
from orchestrator.store.database import Session

_NUMBERS = """
    update item set outbox_seq = outbox_seq + :count, version = version + :moves where key = :item_key
    returning outbox_seq - :count as last_seq
"""
# The last move and the last text under a key are all that a card has to show.
SUPERSEDE = """
    update outbox set status = 'superseded', settled_at = stationkeeper_clock()
    where item_key = :item_key and status = 'pending' and ((act = 'move' and :moves > 0) or key = any(:keys))
"""
INSERT = """
    insert into outbox
        (item_key, seq, turn_id, fence, workflow, workflow_version, kind, act, role, only_from, key, body)
    select :item_key, cast(:last_seq as bigint) + put.number, turn.id, turn.fence, turn.workflow, turn.workflow_version,
        put.kind, put.act, put.role, put.only_from, put.key, put.body
    from turn, jsonb_to_recordset(cast(:writes as jsonb))
        as put (number int, kind text, act text, role text, only_from text[], key text, body text)
    where turn.id = :turn_id
"""
_WITHDRAW = """
    update outbox set status = 'withdrawn', settled_at = stationkeeper_clock(), detail = :detail
    where item_key = :item_key and status = 'pending' and act = 'move'
        and (cast(:role as text) is null or role = :role)
"""


def put(session: Session, writes: Sequence[Write], *, item_key: int, turn_id: object) -> None:
    """Append writes of a turn to its item's outbox. The caller holds the item's row."""
    if not writes:
        return
    moves, keys = facts(writes)
    numbers = session.row(_NUMBERS, item_key=item_key, count=len(writes), moves=moves)
    assert numbers is not None  # noqa: S101 -- the caller holds the row
    session.change(SUPERSEDE, item_key=item_key, moves=moves, keys=keys)
    session.change(INSERT, item_key=item_key, last_seq=numbers.last_seq, turn_id=turn_id, writes=as_json(writes))


def withdraw_moves(session: Session, *, item_key: int, detail: str, role: Role | None = None) -> None:
    """Take back the item's moves that nobody has begun to send, of one role or of all. The caller holds the row."""
    session.change(_WITHDRAW, item_key=item_key, detail=detail, role=role.value if role is not None else None)


def facts(writes: Sequence[Write]) -> tuple[int, list[str]]:
    """How many of the writes are moves, and the keys of the comments among them."""
    keys = [write.act.key for write in writes if isinstance(write.act, Comment)]
    return len(writes) - len(keys), keys


def as_json(writes: Sequence[Write]) -> str:
    """The writes as the statements take them, numbered from 1."""
    return json.dumps([{"number": number, **columns(write)} for number, write in enumerate(writes, start=1)])


def columns(write: Write) -> Mapping[str, Any]:
    """A write as its columns."""
    if isinstance(write.act, Move):
        act = {"act": "move", "role": write.act.role.value, "only_from": list(write.act.only_from)}
    else:
        act = {"act": "comment", "key": write.act.key, "body": write.act.body}
    return {"kind": write.kind.value, **act}
