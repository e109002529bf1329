"""Looks at the cards that no listing shows, on a board whose whole listing would cost: so that each has its answer.

Comes last in a tick, so that nothing that starts or stops waits for it, and does neither itself. A card that has just
left the listed columns is read by id; all others are met in rounds over the board, a stretch with each listing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from orchestrator import telemetry
from orchestrator.domain import walk
from orchestrator.domain.item import Item
from orchestrator.domain.records import Board, Malformed, Records
from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.domain.walk import Walk
from orchestrator.domain.workflow import Workflow
from orchestrator.engine.run import TickLost
from orchestrator.ports import Ports
from orchestrator.ports.store import TickGrant
from orchestrator.ports.tracker import Standing, Stretch, Tracker, TrackerError, TrackerFault, Walked


@dataclass(slots=True)
class _Seen:
    """What was met beside the listing: the reasons of cards, and those that are not there."""

    workflow: Workflow
    waits: dict[str, Wait] = field(default_factory=dict)
    identifiers: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def card(self, card: Item | Standing) -> None:
        """One in an active column has come there since the listing, and is the next one's matter."""
        if not self.workflow.contract.is_active(card.state):
            self.waits[card.id] = Wait(NotDispatched.NOT_ACTIVE, card.state)
            self.identifiers[card.id] = card.identifier

    def bad(self, malformed: Malformed) -> None:
        """A record that cannot be read."""
        self.waits[malformed.id] = Wait(NotDispatched.MALFORMED, malformed.reason)
        self.identifiers[malformed.id] = malformed.id


def told_anew(
    tracker: Tracker, grant: TickGrant, *, workflow: Workflow, board: Board, records: Records
) -> dict[str, str]:
    """The stored reasons that this tick's listing has a say about; the others stay, and `look` sees to them."""
    if not _walks(tracker, grant, board=board, records=records) or grant.walk.scope != workflow.scope:
        return dict(records.waits)  # also those of another board, which was this workflow's until now
    kept = walk.kept(records, board)
    beside = {*kept, *walk.left(records, board, kept)}
    return {item_id: text for item_id, text in records.waits.items() if item_id not in beside}


def look(ports: Ports, grant: TickGrant, *, workflow: Workflow, board: Board, records: Records) -> Walk | None:
    """Read what left the listed columns and the next stretch, and store it; how far that has come. Raises TickLost.

    None where there is nothing to go on with: this tick listed nothing, or the tracker does not answer.
    """
    tracker = ports.tracker(workflow)
    if not isinstance(tracker, Walked) or not _walks(tracker, grant, board=board, records=records):
        whole = tracker.profile.whole_board and grant.listing and board.whole
        return Walk(workflow.scope, whole_at=grant.began_at) if whole else None
    came, seen = grant.walk, _Seen(workflow)
    if came.scope != workflow.scope:
        came, records = Walk(workflow.scope), replace(records, waits={})
    try:
        kept = walk.kept(records, board)
        _read_left(tracker, walk.left(records, board, kept)[: walk.MAX_LEFT], seen)
        if came.is_due(grant.began_at, workflow.whole_board_ms):
            stretch = tracker.walk(came.behind, records.waits.keys())
            _take(stretch, seen, board)
            came = came.gone_on(grant.began_at, stretch.behind)
    except TrackerError as error:
        telemetry.service_failed("tracker", error=error)
    written = ports.store.items.save_elsewhere(
        grant, seen.waits, gone=seen.gone, identifiers=seen.identifiers, known=records.waits
    )
    if written is None:
        raise TickLost
    return came


def _walks(tracker: Tracker, grant: TickGrant, *, board: Board, records: Records) -> bool:
    listed = grant.listing and board.whole and not records.retired
    return listed and not tracker.profile.whole_board and isinstance(tracker, Walked)


def _read_left(tracker: Tracker, ids: Sequence[str], seen: _Seen) -> None:
    """Where they went; a record that cannot be read fails a whole call, and is found by halves. Raises TrackerError."""
    waiting = [ids] if ids else []
    while waiting:
        part = waiting.pop()
        try:
            found = tracker.get_items(part)
        except TrackerError as error:
            if error.fault is not TrackerFault.PAYLOAD:
                raise
            if len(part) == 1:
                seen.bad(Malformed(part[0], str(error)))
                continue
            waiting += [part[: len(part) // 2], part[len(part) // 2 :]]
            continue
        for card in found.values():
            seen.card(card)
        seen.gone.update(item_id for item_id in part if item_id not in found)


def _take(stretch: Stretch, seen: _Seen, board: Board) -> None:
    """What this tick's listing or a reading by id showed of a card stands."""
    shown = {*board.items, *seen.waits, *(bad.id for bad in board.malformed)}
    for card in stretch.cards:
        if card.id not in shown:
            seen.card(card)
    for malformed in stretch.malformed:
        if malformed.id not in shown:
            seen.bad(malformed)
    seen.gone.update(stretch.gone - shown)
