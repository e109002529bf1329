"""What one tick should do. Never reads the world: takes a board and our records, returns actions and reasons.

Each action carries the item's version as the records showed it, because a plan is old the moment it is made: it is
carried out by compare-and-set on that version, and what it cannot do the next tick decides again. So an item gets at
most one action that moves its version; what else is to be done for it, the next tick sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from orchestrator.domain import leaving, select, shares
from orchestrator.domain.contract import StateContract, fold
from orchestrator.domain.item import Item
from orchestrator.domain.leaving import HostIsBack, LeaveHost
from orchestrator.domain.records import Board, ItemRecord, Records
from orchestrator.domain.select import Limits, NotDispatched, View, Wait
from orchestrator.domain.turn import StopReason, TurnStatus

# A plan that would stop more turns than this, and more than half of the fleet's, is taken for a mistake on the board.
MASS_CANCEL_FLOOR = 3


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Open the item's next turn; for the workers of `host` alone, where its work lies there."""

    item: Item
    record: ItemRecord | None
    host: str | None = None

    @property
    def version(self) -> int:
        """The version that the records showed; 0 when they showed no row."""
        return self.record.version if self.record else 0


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop the item's open turn: a person took the item away."""

    record: ItemRecord
    stop: StopReason


@dataclass(frozen=True, slots=True)
class Expire:
    """Take a running turn for lost: its lease ran out and nobody renewed it."""

    record: ItemRecord


@dataclass(frozen=True, slots=True)
class Requeue:
    """Enqueue the same queued turn again, with the same fence: its message seems to be lost. Moves no version."""

    record: ItemRecord


@dataclass(frozen=True, slots=True)
class EndTask:
    """Close a task that has no open turn: its item is not wanted any more."""

    record: ItemRecord
    stop: StopReason


@dataclass(frozen=True, slots=True)
class LiftHold:
    """End the item's holds that a person's hand on the board ends: a move that is not ours, or a terminal state.

    `state` is where the board showed the card.
    """

    record: ItemRecord
    state: str
    reason: str


@dataclass(frozen=True, slots=True)
class NoteAbsence:
    """Remember that the item was missing from this read, or (`times` 0) that it is back. Moves no version."""

    record: ItemRecord
    times: int


@dataclass(frozen=True, slots=True)
class Refresh:
    """Remember in which active state the board shows an item with an open turn. Moves no version."""

    record: ItemRecord
    state: str


Action = Dispatch | Cancel | Expire | Requeue | EndTask | LiftHold | NoteAbsence | Refresh | LeaveHost | HostIsBack


@dataclass(frozen=True, slots=True)
class Plan:
    """The actions in the order in which they are carried out, and one reason for each candidate left out.

    `mass_cancel`: the brake stands after this look at the board, whether it was set by it or only not contradicted.
    `yields_to`: the workflows whose turn it is to take free slots that this one could use.
    """

    actions: tuple[Action, ...]
    reasons: Mapping[str, Wait]
    mass_cancel: bool = False
    yields_to: tuple[str, ...] = ()

    def counts(self) -> Counter[str]:
        """How many actions of each kind and how many items left out for each reason."""
        tally = Counter(type(action).__name__.lower() for action in self.actions)
        tally.update(wait.reason.value for wait in self.reasons.values())
        return tally


def plan(board: Board, records: Records, contract: StateContract, *, limits: Limits, now: datetime) -> Plan:
    """Compare what the board wants with what our records say is running, and say how to close the gap.

    Running items come first, dispatches after: what this plan stops does not free a slot in the same plan, since only a
    confirmed end does.
    """
    view = View(board, records, contract, limits, now)
    ours = tuple(records.live())
    stops = {record.id: stop for record in ours if (stop := unwanted(record, view)) is not None}
    braked = _is_braked(ours, stops, view)
    if braked or records.contract_broken:
        view, stops = view.in_doubt(), {key: stop for key, stop in stops.items() if stop is StopReason.TERMINAL_SEEN}
    steps = [step for record in ours if (step := _next_step(record, stops.get(record.id), view)) is not None]
    slots = max(records.free_slots - sum(1 for record in ours if _is_on_its_way(record, view)), 0)
    stale = (step for step in steps if isinstance(step, Requeue))
    requeues = sorted(stale, key=lambda step: step.record.key)[:slots]
    reasons: dict[str, Wait] = {}
    candidates = [] if records.retired else list(_candidates(view, reasons))
    dealt = _dealt(slots - len(requeues), len(candidates), view)
    chosen = select.fill_slots(candidates, view, worker_slots=dealt[_OURS], reasons=reasons)
    yields_to = _yielded(dealt, reasons)
    actions = [
        *(note for record in ours if (note := _note(record, view)) is not None),
        *(step for step in steps if not isinstance(step, Requeue)),
        *requeues,
        *leaving.strays(view, reasons),
        *(Dispatch(item, records.items.get(item.id), select.host_for(item, view)) for item in chosen),
    ]
    return Plan(tuple(actions), reasons, mass_cancel=braked, yields_to=yields_to)


# No workflow's name is empty, so this one's claim is told from every other.
_OURS = ""


def _dealt(free: int, wanted: int, view: View) -> Counter[str]:
    """The free worker slots by the workflow that may take them."""
    records = view.records
    room = select.room(view)
    if not records.rivals:
        return Counter({_OURS: free})
    ours = shares.Claim(_OURS, records.open_turns(), min(wanted, room), records.served_at)
    return shares.deal(free, (ours, *records.rivals))


def _yielded(dealt: Counter[str], reasons: dict[str, Wait]) -> tuple[str, ...]:
    """The workflows to which a card of this one leaves a slot now; the card's reason names them."""
    others = tuple(sorted(name for name in dealt if name != _OURS))
    short = [item_id for item_id, wait in reasons.items() if wait == select.NO_WORKER_SLOT]
    if not others or not short:
        return ()
    wait = Wait(NotDispatched.NO_WORKER_SLOT, f"the free ones are the share of {', '.join(others)}")
    reasons.update(dict.fromkeys(short, wait))
    return others


def unwanted(record: ItemRecord, view: View) -> StopReason | None:
    """Why the board does not want this item to run, or None. What was not read is neither wanted nor unwanted."""
    item = view.board.items.get(record.id)
    if item is None:
        missing_again = record.id in view.board.gone and record.absences > 0
        return StopReason.NOT_VISIBLE if missing_again else None
    if view.contract.is_terminal(item.state):
        return StopReason.TERMINAL_SEEN
    if not view.contract.is_active(item.state) or select.not_routable(item, view.limits) is not None:
        return StopReason.MOVED_AWAY
    return None


def _is_braked(ours: Iterable[ItemRecord], stops: Mapping[str, StopReason], view: View) -> bool:
    """Whether this look would stop most of the fleet, or an earlier one would have and this one does not contradict it.

    A card that a person closed is a decision and does not count, and neither does a turn that a person let be stopped
    by releasing the brake. A broken contract stops nothing else anyway.
    """
    if view.records.braked and (view.records.contract_broken or not view.board.whole):
        return True
    doubtful = sum(
        1
        for record in ours
        if record.turn is not None
        and not (record.turn.cancelled or record.turn.vouched)
        and stops.get(record.id) not in {None, StopReason.TERMINAL_SEEN}
    )
    is_mass = doubtful > MASS_CANCEL_FLOOR and 2 * doubtful > view.records.open_turns()
    return is_mass and not view.records.contract_broken


def _next_step(record: ItemRecord, stop: StopReason | None, view: View) -> Action | None:
    """The one thing to be done for an item of ours, strongest first."""
    turn = record.turn
    if view.records.retired and stop is None and (turn is None or turn.status is TurnStatus.QUEUED):
        stop = StopReason.CANCELLED  # what has not begun does not begin, whatever holds it
    if turn is None:
        if record.task is not None and stop is not None:
            return EndTask(record, stop)
        return _lift(record, view) or leaving.step(record)
    if stop is not None and not turn.cancelled:
        return Cancel(record, stop)
    if turn.status is TurnStatus.RUNNING:
        ran_out = view.records.trusted and turn.lease_until is not None and turn.lease_until < view.now
        return Expire(record) if ran_out or turn.dead else None
    if (left := leaving.step(record)) is not None:
        return left
    if _is_on_its_way(record, view) or _is_held(record, view.records) or leaving.waits_for_host(record):
        return None
    return Requeue(record)


def _is_on_its_way(record: ItemRecord, view: View) -> bool:
    """Whether a queued turn's message is young enough to be waited for; it will take a worker's slot."""
    turn = record.turn
    if turn is None or turn.status is not TurnStatus.QUEUED or turn.enqueued_at is None:
        return False
    return (view.now - turn.enqueued_at).total_seconds() < view.limits.requeue_seconds


def _is_held(record: ItemRecord, records: Records) -> bool:
    """Whether admission would refuse the item's queued turn: then its message is not worth sending."""
    return record.held is not None or records.held_workflow is not None or records.held_fleet is not None


def _lift(record: ItemRecord, view: View) -> LiftHold | None:
    """The person's move that ends a hold: the card is closed, or stands elsewhere and no write of ours did that."""
    item = view.board.items.get(record.id)
    if record.held is None or item is None:
        return None
    if view.contract.is_terminal(item.state):
        return LiftHold(record, item.state, f"a person closed the card ({item.state})")
    if record.held_firmly or view.doubtful or select.may_hide_our_move(record, view.board):
        return None
    if _was_moved(record.held_state, item.state, view.contract):
        return LiftHold(record, item.state, f"a person moved the card from {record.held_state} to {item.state}")
    return None


def _was_moved(held_state: str | None, state: str, contract: StateContract) -> bool:
    """A state that the contract does not name any more was perhaps only renamed: nobody moved the card then."""
    if held_state is None or fold(held_state) == fold(state):
        return False
    return any(fold(held_state) == fold(known) for _, known in contract.roles())


def _note(record: ItemRecord, view: View) -> NoteAbsence | Refresh | None:
    """What to remember of this look, so that the next one can tell: absence is believed the second time (RC-05)."""
    item = view.board.items.get(record.id)
    if item is None:
        missing = record.id in view.board.gone and record.absences == 0
        return NoteAbsence(record, 1) if missing else None
    if record.absences:
        return NoteAbsence(record, 0)
    moved = record.turn is not None and fold(record.turn.state) != fold(item.state)
    return Refresh(record, item.state) if moved and view.contract.is_active(item.state) else None


def _candidates(view: View, reasons: dict[str, Wait]) -> Iterator[Item]:
    """The items that could start if there were slots; every other one gets its reason."""
    for malformed in view.board.malformed:
        reasons[malformed.id] = Wait(NotDispatched.MALFORMED, malformed.reason)
    for item in view.board.items.values():
        wait = select.wait_of(item, view.records.items.get(item.id), view)
        if wait is None:
            yield item
        else:
            reasons[item.id] = wait
