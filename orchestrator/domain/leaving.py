"""What a tick does about a host that is gone, or back again: two actions on an item whose work lies there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orchestrator.domain import home
from orchestrator.domain.records import ItemRecord
from orchestrator.domain.select import NotDispatched, View, Wait, queued_for


@dataclass(frozen=True, slots=True)
class LeaveHost:
    """The host of the item's work is gone: its queued turn gives its slot back, and with `reason` the item is held.

    Without one everything there is pushed, and the next turn begins elsewhere from that.
    """

    record: ItemRecord
    reason: str | None


@dataclass(frozen=True, slots=True)
class HostIsBack:
    """The host of the item's work serves turns again, or nothing lies there: the hold that named it ends, no other."""

    record: ItemRecord


def step(record: ItemRecord) -> LeaveHost | HostIsBack | None:
    """What is to be done for an item of ours that the board does not take away."""
    if record.turn is None:
        is_back = record.is_left_behind and home.why_unreachable(record.home) is None
        return HostIsBack(record) if is_back else None
    if queued_for(record) is None or record.home is None or record.home.reach is not home.Reach.GONE:
        return None
    return _leave(record)


def strays(view: View, reasons: Mapping[str, Wait]) -> Iterator[LeaveHost]:
    """The candidates that nothing else keeps from starting, and whose work lies on a host that is gone."""
    for item_id, wait in reasons.items():
        record = view.records.items.get(item_id)
        if wait.reason is NotDispatched.WORKSPACE_UNREACHABLE and record is not None and home.is_left(record.home):
            yield _leave(record)


def waits_for_host(record: ItemRecord) -> bool:
    """Whether an item's queued turn is for a host that takes none now: its message would only lie there."""
    return queued_for(record) is not None and record.home is not None and record.home.reach is not home.Reach.SERVED


def _leave(record: ItemRecord) -> LeaveHost:
    assert record.home is not None  # noqa: S101 -- both callers looked
    return LeaveHost(record, home.left_behind(record.home) if home.is_left(record.home) else None)
