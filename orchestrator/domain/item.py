"""An item is one ticket of the tracker, as a tick read it; a frozen snapshot, never the truth."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Blocker:
    """Another ticket that must be terminal first. `state` is None when the tracker could not say."""

    id: str
    identifier: str
    state: str | None


@dataclass(frozen=True, slots=True)
class Item:
    """One ticket, normalised: labels folded, times aware, everything optional empty rather than absent.

    `revision` is the tracker's own version of the ticket (an ETag, a digest of the file's bytes), by which a write can
    be made conditional; None where the tracker has none. `blockers_readable` is False when the list of blockers could
    not be read whole: the item is then held back, since an unread blocker is not an absent one.
    """

    id: str
    identifier: str
    title: str
    state: str
    description: str = ""
    priority: int | None = None
    labels: tuple[str, ...] = ()
    assignee: str | None = None
    author: str | None = None
    issue_type: str | None = None
    parent: str | None = None
    blocked_by: tuple[Blocker, ...] = ()
    blockers_readable: bool = True
    branch_name: str | None = None
    url: str | None = None
    native_ref: str | None = None
    dispatchable: bool = True
    created_at: datetime | None = None
    updated_at: datetime | None = None
    revision: str | None = None
