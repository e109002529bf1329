"""The tick's room: what it reads and does. Every action on an item is a compare-and-set on the version that it saw."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from orchestrator.domain import contract
from orchestrator.domain.hold import Hold, HoldKind
from orchestrator.domain.records import ItemRecord, Records
from orchestrator.domain.select import Wait
from orchestrator.domain.serving import Mark
from orchestrator.domain.turn import StopReason, TurnLimits
from orchestrator.ports.store import Opened, Opening, Refused, Sight, TickGrant
from orchestrator.store import cancelling, holds, leaving, losing, opening, records, serving, waits
from orchestrator.store.database import Database
from orchestrator.store.records import Bounds

_MARK_ENQUEUED = """
    update turn set enqueued_at = stationkeeper_clock() where id = any(:turn_ids) and status = 'queued'
"""
_NOTE_ABSENCE = "update item set absences = :times where key = :key"
_REFRESH = """
    with shown as (update item set state = :state where key = :key returning key)
    update turn set state = :state, state_folded = :state_folded
    from shown where turn.item_key = shown.key and turn.status in ('queued', 'running')
"""


class Items:
    """The room of the items."""

    def __init__(self, database: Database, *, requeue_seconds: float, bounds: Bounds) -> None:
        self._database = database
        self._bounds = bounds
        self._requeue_seconds = requeue_seconds

    def records(self, grant: TickGrant) -> Records:
        """Our side of a workflow, in one REPEATABLE READ snapshot, versions included."""
        return records.read(self._database, grant, self._bounds)

    def due_ids(self, found: Records, now: datetime) -> tuple[str, ...]:
        """The ids of items that something is due for without a listing: a retry, an expired lease, a stale message."""
        return records.due_ids(found, now, requeue_seconds=self._requeue_seconds)

    def open_turns(self, wanted: Sequence[Opening]) -> Sequence[Opened | Refused]:
        """Open each item's next turn `queued` with the next fence, or say why not; in one transaction."""
        return opening.open_turns(self._database, wanted, max_turns=self._bounds.max_turns)

    def give_way(self, sight: Sight) -> Mark | None:
        """Remember others' marks; where one is fresh and comes before ours, hold the item and stop its turn."""
        return serving.give_way(self._database, sight, served_seconds=self._bounds.served_seconds)

    def mark_enqueued(self, turn_ids: Sequence[UUID]) -> None:
        """Remember that the turns' messages were given to the broker just now."""
        self._database.change(_MARK_ENQUEUED, turn_ids=list(turn_ids))

    def cancel(self, record: ItemRecord, stop: StopReason, *, workflow: str) -> bool:
        """End a queued turn with its task; set the cancel flag of a running one. False: not as the record shows it."""
        return cancelling.cancel(self._database, record, stop, workflow=workflow)

    def lose(self, record: ItemRecord, limits: TurnLimits, *, workflow: str) -> bool:
        """Take a running turn whose lease ran out for lost, and conclude it. False: not as the record shows it."""
        return losing.expire(self._database, record, limits, workflow=workflow)

    def end_task(self, record: ItemRecord, stop: StopReason, *, workflow: str) -> bool:
        """Cancel a task without an open turn. False: not as the record shows it."""
        return cancelling.end_task(self._database, record, stop, workflow=workflow)

    def lift_holds(self, record: ItemRecord, reason: str) -> bool:
        """End the holds of an item because of what a person did on the board. False: not as the record shows it."""
        return cancelling.lift_holds(self._database, record, reason)

    def holds_follow(self, record: ItemRecord, state: str) -> bool:
        """The holds of an item that a machine moved stand on it where it is now. False: not as the record shows it."""
        return cancelling.holds_follow(self._database, record, state)

    def leave_host(self, record: ItemRecord, reason: str | None, *, workflow: str) -> bool:
        """End the queued turn of an item whose host is gone, and hold it where `reason` says why. False: changed."""
        return leaving.leave(self._database, record, reason, workflow=workflow)

    def rejoin(self, record: ItemRecord, *, workflow: str) -> bool:
        """End the hold that named a host which is back. False: not as the record shows it."""
        return leaving.rejoin(self._database, record, workflow=workflow)

    def note_absence(self, record: ItemRecord, times: int) -> None:
        """Remember in how many separate reads in a row the item was missing. Raises no version."""
        self._database.change(_NOTE_ABSENCE, key=record.key, times=times)

    def refresh(self, record: ItemRecord, state: str) -> None:
        """Remember where the board shows the item of an open turn. Raises no version."""
        self._database.change(_REFRESH, key=record.key, state=state, state_folded=contract.fold(state))

    def hold_workflow(
        self, workflow: str, hold: Hold | None, kind: HoldKind, *, seen_at: datetime | None = None
    ) -> None:
        """Place the hold of `kind` on a workflow, once; None lifts it. A person's later release stands."""
        holds.hold_workflow(self._database, workflow, hold, kind=kind, seen_at=seen_at)

    def save_elsewhere(
        self,
        grant: TickGrant,
        waiting: Mapping[str, Wait],
        *,
        gone: Collection[str],
        identifiers: Mapping[str, str],
        known: Mapping[str, str],
    ) -> int | None:
        """Store the reasons of cards that no listing showed; None when the right to the tick is lost."""
        return waits.save_elsewhere(self._database, grant, waiting, gone=gone, identifiers=identifiers, known=known)

    def save_waits(
        self,
        workflow: str,
        waiting: Mapping[str, Wait],
        *,
        identifiers: Mapping[str, str],
        whole: bool,
        known: Mapping[str, str],
    ) -> int:
        """Store one reason per candidate left out, changes only; returns how many rows were written."""
        return waits.save(self._database, workflow, waiting, identifiers=identifiers, whole=whole, known=known)
