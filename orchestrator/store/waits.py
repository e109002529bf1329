"""Why each candidate that was left out did not start: changes only, in bulk; an unchanged board writes nothing."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.ports.store import TickGrant
from orchestrator.store import records
from orchestrator.store.database import Database, Session

# `since` is when the reason came up; a new detail of the same reason keeps it. One JSON text for a whole board is sent
# three times as fast as arrays.
_SAVE = """
    insert into wait (workflow, item_id, identifier, reason, detail)
    select :workflow, put.item_id, put.identifier, put.reason, put.detail
    from json_to_recordset(cast(:changed as json)) as put (item_id text, identifier text, reason text, detail text)
    on conflict (workflow, item_id) do update
    set identifier = excluded.identifier, reason = excluded.reason, detail = excluded.detail,
        since = case when wait.reason = excluded.reason then wait.since else excluded.since end
"""
_FORGET = "delete from wait where workflow = :workflow and item_id = any(:item_ids)"
# While this row is held no other tick of the workflow begins, so nothing fresher can be stored meanwhile.
_OURS = """
    select 1 from reconciler
    where workflow = :workflow and run = :run and running_until > stationkeeper_clock() for no key update
"""
_LISTED = "select item_id from item where workflow = :workflow and listed"
# A row that a listing did not show in an active state any more, and that nothing of ours is going on with, need not be
# read again.
_UNLIST = """
    update item set listed = false
    where key in (
        select key from item
        where workflow = :workflow and item_id = any(:item_ids) and listed
            and not exists (
                select from task
                where task.item_key = item.key and task.status not in ('succeeded', 'failed', 'cancelled'))
        for no key update skip locked)
"""


def save(  # noqa: PLR0913 -- what the door is given
    database: Database,
    workflow: str,
    waits: Mapping[str, Wait],
    *,
    identifiers: Mapping[str, str],
    whole: bool,
    known: Mapping[str, str],
) -> int:
    """Store the reasons that changed against `known`; `whole`: those not named have none. Returns rows written."""
    # Sorted, so that two ticks that overlap take the rows in one order.
    changed = sorted(item_id for item_id, wait in waits.items() if known.get(item_id) != _text(wait))
    over = sorted(known.keys() - waits.keys()) if whole else []
    if whole:
        wanted = {item_id for item_id, wait in waits.items() if wait.reason is not NotDispatched.NOT_ACTIVE}
        _unlist(database, workflow, shown=wanted)
    if changed or over:
        with database.transaction() as session:
            _put(session, workflow, waits, item_ids=changed, identifiers=identifiers)
            session.change(_FORGET, workflow=workflow, item_ids=over)
    return len(changed) + len(over)


def save_elsewhere(  # noqa: PLR0913 -- what the door is given
    database: Database,
    grant: TickGrant,
    waits: Mapping[str, Wait],
    *,
    gone: Collection[str],
    identifiers: Mapping[str, str],
    known: Mapping[str, str],
) -> int | None:
    """Store the reasons that changed against `known`, and none for `gone`; None when the tick is not ours any more."""
    changed = sorted(item_id for item_id, wait in waits.items() if known.get(item_id) != _text(wait))
    over = sorted(item_id for item_id in gone if item_id in known)
    if changed or over:
        with database.transaction() as session:
            if session.row(_OURS, workflow=grant.workflow, run=grant.run) is None:
                return None
            _put(session, grant.workflow, waits, item_ids=changed, identifiers=identifiers)
            session.change(_FORGET, workflow=grant.workflow, item_ids=over)
    return len(changed) + len(over)


def _put(
    session: Session,
    workflow: str,
    waits: Mapping[str, Wait],
    *,
    item_ids: list[str],
    identifiers: Mapping[str, str],
) -> None:
    rows = [
        {
            "item_id": item_id,
            "identifier": identifiers.get(item_id, item_id),
            "reason": waits[item_id].reason.value,
            "detail": waits[item_id].detail,
        }
        for item_id in item_ids
    ]
    session.change(_SAVE, workflow=workflow, changed=json.dumps(rows))


def _unlist(database: Database, workflow: str, *, shown: Collection[str]) -> None:
    """`shown` holds the active items left out; one that was dispatched has a live task instead, which keeps its row."""
    gone = [row.item_id for row in database.rows(_LISTED, workflow=workflow) if row.item_id not in shown]
    if gone:
        database.change(_UNLIST, workflow=workflow, item_ids=gone)


def _text(wait: Wait) -> str:
    return records.as_text(wait.reason.value, wait.detail)
