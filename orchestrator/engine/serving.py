"""Two installations on one board: each says on a card that it works on it, and looks whether another one says so.

Looked at before a turn is opened, before the card is told that it runs, and once it was told: of two that write at one
moment at least one sees the other. Who finds a fresh mark before its own stands back.
"""

from __future__ import annotations

from orchestrator import telemetry
from orchestrator.domain import serving
from orchestrator.domain.item import Item
from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.domain.serving import Mark
from orchestrator.domain.writeback import Comment, WriteKind
from orchestrator.engine.run import Run
from orchestrator.ports import Ports
from orchestrator.ports.store import Claimed, Sight, StoreUnavailable
from orchestrator.ports.tracker import Tracker


def elsewhere(run: Run, tracker: Tracker, item: Item) -> Wait | None:
    """Why a card that is to begin is somebody else's now; None when it is nobody's. Raises TrackerError."""
    ours = run.ports.store.installation
    marks = tuple(mark for mark in _marks(tracker, item.id) if mark.installation != ours)
    if not marks:
        return None
    try:
        first = run.ports.store.items.give_way(Sight(run.row, item.id, item.identifier, item.state, marks))
    except StoreUnavailable as error:  # somebody keeps the card's row: the others can begin
        return Wait(NotDispatched.READ_FAILED, str(error))
    if first is None:
        return None
    return Wait(NotDispatched.SERVED_ELSEWHERE, f"installation {first.installation}")


def may_have_moved(ports: Ports, tracker: Tracker, item_id: str) -> bool:
    """Whether a move of the card may be another installation's, which works on it now. Raises TrackerError."""
    return any(mark.installation != ports.store.installation for mark in _marks(tracker, item_id))


def say(ports: Ports, tracker: Tracker, claimed: Claimed, *, state: str) -> str | None:
    """Post a comment, with our mark while the card's business is open. Raises TrackerError.

    Returns why nothing was posted: another installation was first, and the card is told by this turn's end. One that
    wrote at the same moment is seen by a second look, and whoever of the two comes later ends its turn.
    """
    act, ours = claimed.write.act, claimed.mark
    assert isinstance(act, Comment)  # noqa: S101 -- a move is the relay's
    if ours is None:
        tracker.comment(claimed.item_id, act.key, act.body)
        return None
    runs = claimed.write.kind is WriteKind.STARTED
    if runs and (first := _first(ports, tracker, claimed, state=state)) is not None:
        return first
    tracker.comment(claimed.item_id, act.key, serving.stamped(act.body, ours))
    if runs:
        _first(ports, tracker, claimed, state=state)
    return None


def _first(ports: Ports, tracker: Tracker, claimed: Claimed, *, state: str) -> str | None:
    """One look: who was first, None when nobody or we were. Before ours is on the card, whoever is there was first."""
    marks, ours = _marks(tracker, claimed.item_id), claimed.mark
    assert ours is not None  # noqa: S101 -- asked by a turn that runs
    others = tuple(mark for mark in marks if mark.installation != ours.installation)
    if not others:
        return None
    told = next((mark for mark in marks if mark.installation == ours.installation), None)
    is_told = told is not None and told.since == ours.since.replace(microsecond=0)
    workflow, identifier = claimed.workflow, claimed.identifier
    sight = Sight(workflow, claimed.item_id, identifier, state, others, told if is_told else None)
    first = ports.store.items.give_way(sight)
    if first is None:
        return None
    telemetry.refused(identifier, reason=NotDispatched.SERVED_ELSEWHERE, detail=first.installation)
    return f"another installation works on the card ({first.installation})"


def _marks(tracker: Tracker, item_id: str) -> tuple[Mark, ...]:
    found = (serving.read(comment.key, comment.body) for comment in tracker.comments(item_id))
    return tuple(mark for mark in found if mark is not None)
