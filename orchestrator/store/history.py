"""What happened, for people: one line an event. Nothing decides by it."""

from __future__ import annotations

import json

from orchestrator.store.database import Session

_WRITE = """
    insert into history (item_key, workflow, kind, detail)
    values (:item_key, :workflow, :kind, cast(:detail as jsonb))
"""


def note(session: Session, kind: str, *, item_key: int | None, workflow: str | None, **detail: object) -> None:
    """Write a line in the transaction of what it tells about."""
    session.change(_WRITE, item_key=item_key, workflow=workflow, kind=kind, detail=json.dumps(detail, default=str))
