"""Write-backs: the head row of one item at a time, permitted at the last moment, settled by compare-and-set.

A person's decision wins by `only_from` in the move itself; the re-read here only saves calls and finds what to say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orchestrator import telemetry
from orchestrator.domain import writeback
from orchestrator.domain.contract import StateContract, fold
from orchestrator.domain.item import Item
from orchestrator.domain.writeback import Comment, Defer, Move, Post, Role, Suppress
from orchestrator.engine import renamed, serving
from orchestrator.ports import Ports
from orchestrator.ports.store import Claimed, Settlement
from orchestrator.ports.tracker import PASSING, Moved, NotMoved, Tracker, TrackerError, TrackerFault
from orchestrator.ports.workflows import WorkflowInvalid

# Longer than the re-read and the write may take together (each has a 30 s time-out of its own, TE-04).
CLAIM_SECONDS = 75.0
# Below this much claim left the write is not begun: another relay may take the row while ours is under way.
_MARGIN_SECONDS = 35.0
# Somebody else wrote the card at the same moment; they are done in milliseconds.
_CONFLICT_PAUSE_SECONDS = 0.2
# A renamed column is put right by a person; the next listing notices it.
_BROKEN_PAUSE_SECONDS = 5.0
_FIRST_PAUSE_SECONDS = 1.0
# A write is given up for what two reads by id say, this long apart: one alone may be of an old copy of the board.
_SECOND_LOOK_SECONDS = 1.0
# A move that is refused is a hold, and a person is asked. A comment has no hold: it is tried again while somebody mends
# the credential, and given up when the tracker refuses its text so often (over some minutes).
_COMMENT_TRIES = 8
_LONGEST_PAUSE_SECONDS = 300.0
# One task of the relay ends after so many rows, so that a flood of one kind never keeps a thread for good.
_ROWS_A_DRAIN = 500


@dataclass(frozen=True, slots=True)
class _Settled:
    """What became of one claimed row."""

    settlement: Settlement
    detail: str = ""
    state: str | None = None
    pause_seconds: float = 0.0


def drain(ports: Ports) -> int:
    """Post what is due until nothing is; returns how many rows were looked at."""
    ports.store.outbox.renew_marks()
    for count in range(_ROWS_A_DRAIN):
        sent_at = ports.clock.boot_seconds()
        claimed = ports.store.outbox.claim(seconds=CLAIM_SECONDS)
        if claimed is None:
            return count
        settled = _post(ports, claimed, sent_at)
        ports.store.outbox.settle(
            claimed,
            settled.settlement,
            detail=settled.detail,
            state=settled.state,
            pause_seconds=settled.pause_seconds,
        )
        telemetry.write_settled(
            claimed.identifier,
            write=claimed.write.kind,
            outcome=settled.settlement.value,
            detail=settled.detail,
        )
    return _ROWS_A_DRAIN


def _post(ports: Ports, claimed: Claimed, sent_at: float) -> _Settled:
    try:
        workflow = ports.workflows.parse(claimed.workflow.body, path=claimed.workflow.source())
        contract = _contract(ports, claimed, workflow.contract)
        tracker = ports.tracker(workflow)
        item = tracker.get_items([claimed.item_id]).get(claimed.item_id)
    except (TrackerError, WorkflowInvalid) as fault:
        return _Settled(Settlement.DEFERRED, str(fault), pause_seconds=_pause(claimed, fault))
    already = _landed(tracker, claimed, item, contract=contract)
    if already is not None:
        return already
    verdict = writeback.permit(claimed.write, item, contract)
    match verdict:
        case Suppress():
            return _not_permitted(tracker, claimed, verdict, item=item, contract=contract)
        case Defer(reason=reason):
            return _Settled(Settlement.DEFERRED, reason, pause_seconds=_pause(claimed))
        case Post(state=state):
            if ports.clock.boot_seconds() - sent_at > claimed.local_seconds - _MARGIN_SECONDS:
                return _Settled(Settlement.DEFERRED, "the claim ran out before the write began")
            settled = _write(ports, tracker, claimed, item=item, state=state)
            if isinstance(settled, NotMoved):
                return _refused(tracker, claimed, settled.state, contract=contract)
            return settled


def _not_permitted(
    tracker: Tracker, claimed: Claimed, verdict: Suppress, *, item: Item | None, contract: StateContract
) -> _Settled:
    """A look speaks against a write. One that is surely a later one stands at once: the card may be back soon.

    One that may be old has the board asked, where that can be; else it takes two of them, so that nothing is lost.
    """
    act, reason, again = claimed.write.act, verdict.reason, claimed.detail != verdict.reason
    second = _Settled(Settlement.DEFERRED, reason, pause_seconds=_SECOND_LOOK_SECONDS)
    if item is None:
        return second if again else _Settled(Settlement.SUPPRESSED, reason)
    if not isinstance(act, Move):
        return _Settled(Settlement.SUPPRESSED, reason)
    if act.is_decided or act.may_leave(item.state) or writeback.is_sure(act, item):
        return _kept_back(tracker, claimed, verdict, state=item.state, contract=contract)
    answer = _asked(tracker, claimed, item, state=writeback.target(act.role, contract))
    if answer is not None:
        return _refused(tracker, claimed, answer.state, contract=contract)
    if act.role is Role.HANDOFF and again:
        return second
    return _kept_back(tracker, claimed, Suppress(reason), state=item.state, contract=contract)


def _asked(tracker: Tracker, claimed: Claimed, item: Item, *, state: str | None) -> NotMoved | None:
    """What the board itself says of a card that a look shows where it may not be moved from; None: it said nothing.

    A move on condition of that very revision writes nothing, whichever of the two is true, and its refusal is as the
    card stands.
    """
    act = claimed.write.act
    if state is None or item.revision is None or not isinstance(act, Move) or not tracker.profile.conditional_moves:
        return None
    try:
        answer = tracker.move(claimed.item_id, state, only_from=act.only_from, revision=item.revision)
    except TrackerError:
        return None
    return answer if isinstance(answer, NotMoved) else None


def _refused(tracker: Tracker, claimed: Claimed, state: str | None, *, contract: StateContract) -> _Settled:
    """The board refused a move, for where the card stands. Where it may be moved from there, nobody decided.

    Somebody edited the card, or our read was old.
    """
    act = claimed.write.act
    if state is not None and isinstance(act, Move) and act.may_leave(state):
        moment = "the card was changed while the move was made, and stands where it may be moved from"
        return _Settled(Settlement.DEFERRED, moment, pause_seconds=_CONFLICT_PAUSE_SECONDS)
    first = Suppress(f"a person moved the card first ({state})", state)
    return _kept_back(tracker, claimed, first, state=state, contract=contract)


def _kept_back(
    tracker: Tracker, claimed: Claimed, verdict: Suppress, *, state: str | None, contract: StateContract
) -> _Settled:
    """A move that a person's decision keeps back; it waits where the column was renamed and the card not moved."""
    if state is None:
        return _Settled(Settlement.SUPPRESSED, verdict.reason)
    try:
        live = renamed.columns(tracker, state, contract)
    except TrackerError as fault:
        return _Settled(Settlement.DEFERRED, str(fault), pause_seconds=_pause(claimed, fault))
    lacking = renamed.missing(contract, live) if live is not None else None
    if lacking is not None:
        return _Settled(Settlement.DEFERRED, lacking, pause_seconds=_BROKEN_PAUSE_SECONDS)
    if live is not None and not renamed.has(live, state) and claimed.detail != verdict.reason:
        # Its column was renamed back since that look, or a hand wrote what the board does not have.
        return _Settled(Settlement.DEFERRED, verdict.reason, pause_seconds=_SECOND_LOOK_SECONDS)
    return _Settled(Settlement.SUPPRESSED, verdict.reason, state=verdict.put)


def _contract(ports: Ports, claimed: Claimed, current: StateContract) -> StateContract:
    """The contract in force, with every state that was terminal when the turn was opened: neither is written over."""
    if claimed.pinned.version == claimed.workflow.version:
        return current
    pinned = ports.workflows.parse(claimed.pinned.body, path=claimed.pinned.source()).contract
    return replace(current, terminal=tuple(dict.fromkeys((*current.terminal, *pinned.terminal))))


def _landed(tracker: Tracker, claimed: Claimed, item: Item | None, *, contract: StateContract) -> _Settled | None:
    """A move that nobody knows to have been made is looked up before it is sent again; None: it may be sent.

    A card that bears neither our state nor what it bore before was touched since: maybe the move landed and a person
    moved on. What two looks show there then stands.
    """
    act = claimed.write.act
    if not claimed.uncertain or item is None or not isinstance(act, Move):
        return None
    state = writeback.target(act.role, contract)
    if state is not None and fold(item.state) == fold(state):
        return _Settled(Settlement.SENT, "found on the card", state=item.state)
    if claimed.seen is None:
        return None
    shown, put = _not_shown(item, bore=claimed.seen, stood=claimed.stood, state=state)
    again = claimed.detail == shown
    if claimed.seen == _bears(item):
        return _Settled(Settlement.PARKED, shown) if again else None
    if not again:
        return _Settled(Settlement.DEFERRED, shown, pause_seconds=_SECOND_LOOK_SECONDS)
    return _kept_back(tracker, claimed, Suppress(shown, put), state=item.state, contract=contract)


def _not_shown(item: Item, *, bore: str, stood: str | None, state: str | None) -> tuple[str, str | None]:
    """What a look says of a move that it does not show, and where somebody surely put the card since."""
    if _bears(item) == bore:
        message = f"the tracker said that the card was moved to {state!r}, and it stands in {item.state!r} untouched"
        return message, None
    if stood is None or fold(item.state) == fold(stood):
        return "the card changed after the move may have been made", None
    return f"a person, or a rule of the tracker, moved the card to {item.state} after our move was sent", item.state


def _bears(item: Item) -> str:
    """By what a later look at a card tells whether anybody touched it: its revision, else its state."""
    return item.revision or fold(item.state)


def _write(
    ports: Ports, tracker: Tracker, claimed: Claimed, *, item: Item | None, state: str | None
) -> _Settled | NotMoved:
    act = claimed.write.act
    try:
        if isinstance(act, Comment):
            first = serving.say(ports, tracker, claimed, state=item.state if item else "")
            return _Settled(Settlement.SENT if first is None else Settlement.SUPPRESSED, first or "")
        if item is None or not ports.store.outbox.begin_move(claimed, _bears(item), state=item.state):
            return _Settled(Settlement.DEFERRED, "another relay has the write")
        answer = tracker.move(claimed.item_id, state or "", only_from=act.only_from, revision=item.revision)
    except TrackerError as fault:
        return _failed(claimed, fault)
    if isinstance(answer, Moved):
        return _read_back(tracker, claimed, item, state=state) or _Settled(Settlement.SENT, state=state)
    return answer


def _read_back(tracker: Tracker, claimed: Claimed, before: Item, *, state: str | None) -> _Settled | None:
    """What is wrong with a move of which the tracker said that it was made, where it moves without comparing (TW-04).

    One look may be of an old copy of the board, so the next claim looks again (`_landed`). A card that bears what it
    bore was moved nowhere, and saying so again would not help: a person looks. One that is gone, or stands elsewhere,
    was moved on: that stands, and nobody claims that ours does.
    """
    if tracker.profile.conditional_moves:
        return None
    try:
        now = tracker.get_items([claimed.item_id]).get(claimed.item_id)
    except TrackerError as fault:
        return _Settled(Settlement.UNKNOWN, str(fault), pause_seconds=_pause(claimed, fault))
    if now is not None and fold(now.state) == fold(state or ""):
        return None
    shown = writeback.GONE
    if now is not None:
        shown, _ = _not_shown(now, bore=_bears(before), stood=before.state, state=state)
    return _Settled(Settlement.UNKNOWN, shown, pause_seconds=_SECOND_LOOK_SECONDS)


def _failed(claimed: Claimed, fault: TrackerError) -> _Settled:
    if fault.fault is TrackerFault.CONFLICT:
        return _Settled(Settlement.DEFERRED, str(fault), pause_seconds=_CONFLICT_PAUSE_SECONDS)
    if fault.sent:
        return _Settled(Settlement.UNKNOWN, str(fault), pause_seconds=_pause(claimed, fault))
    if fault.fault in PASSING:
        return _Settled(Settlement.DEFERRED, str(fault), pause_seconds=_pause(claimed, fault))
    if isinstance(claimed.write.act, Comment) and (fault.fault is TrackerFault.AUTH or claimed.tries < _COMMENT_TRIES):
        return _Settled(Settlement.DEFERRED, str(fault), pause_seconds=_pause(claimed, fault))
    return _Settled(Settlement.PARKED, str(fault))


def _pause(claimed: Claimed, fault: Exception | None = None) -> float:
    """Doubling with each try, up to five minutes; a Retry-After wins when it is longer."""
    asked = fault.retry_after_seconds if isinstance(fault, TrackerError) else None
    doubled = min(_FIRST_PAUSE_SECONDS * (1 << min(claimed.tries, 16)), _LONGEST_PAUSE_SECONDS)
    return max(doubled, asked or 0.0)
