"""What we may write on a card, and whether it may still be written now.

A closed list, each an observed fact and never an opinion about the work. `permit` stands right before every write: a
person who moved the card since wins, and what could not be read is not written over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from orchestrator.domain.contract import StateContract, fold
from orchestrator.domain.effect import EffectStatus
from orchestrator.domain.item import Item
from orchestrator.domain.sighting import Age, Sighting


class WriteKind(Enum):
    """Each fact that we report on a card."""

    STARTED = "started"  # a turn was admitted
    TURN_ENDED = "turn_ended"  # an agent finished; the item goes to handoff
    NO_CHANGE = "no_change"  # an agent found nothing to change
    MERGED = "merged"  # the work was merged
    CANCELLED = "cancelled"  # a person stopped the turn
    HOLD = "hold"  # the item is held
    KEPT = "kept"  # unfinished work was preserved, and its workspace goes
    ESCALATION = "escalation"  # a person is asked for


class WriteStatus(Enum):
    """Where a write-back stands on its way to the card."""

    PENDING = "pending"  # set with the fact that it reports; a relay's claim ends it
    CLAIMED = "claimed"  # a relay looks at the card and writes; its settling, or its claim's end, ends it
    UNKNOWN = "unknown"  # the answer was lost, or the claim ended without a word; a look at the card ends it
    SENT = "sent"  # the card bears it; final
    SUPPRESSED = "suppressed"  # a person decided first, or nothing was left to say; final
    SUPERSEDED = "superseded"  # a later write of the same kind took its place; final
    WITHDRAWN = "withdrawn"  # its task was stopped or held before it was sent; final
    PARKED = "parked"  # the tracker will not take it; a person resumes it, and a new row is written


# A write-back is an effect like any other: what its status means in the ledger's own words. Only what surely did not
# happen may be sent (again): that is what waits in the outbox.
STANDS_FOR: dict[WriteStatus, EffectStatus] = {
    WriteStatus.PENDING: EffectStatus.ABSENT,
    WriteStatus.CLAIMED: EffectStatus.INTENDED,
    WriteStatus.UNKNOWN: EffectStatus.UNKNOWN,
    WriteStatus.SENT: EffectStatus.COMMITTED,
    WriteStatus.SUPPRESSED: EffectStatus.REFUSED,
    WriteStatus.SUPERSEDED: EffectStatus.REFUSED,
    WriteStatus.WITHDRAWN: EffectStatus.REFUSED,
    WriteStatus.PARKED: EffectStatus.REFUSED,
}


class Role(Enum):
    """Where a move goes; resolved by the contract in force when it is sent."""

    IN_PROGRESS = "in_progress"
    HANDOFF = "handoff"


# What a closed card may still be told: that its agent was stopped, its work merged, or where unfinished work is kept.
# Anything else implies progress.
_TOLD_AFTER_TERMINAL = frozenset({WriteKind.CANCELLED, WriteKind.MERGED, WriteKind.KEPT})


# Why nothing is written any more on a card that a look does not find.
GONE = "the card is not on the board any more"


@dataclass(frozen=True, slots=True)
class Move:
    """A permitted change of state: only from the states that the run was allowed to start from.

    `seen` is the last look at the card before the move was written, None where nobody remembers. A state in it that the
    move may not leave is a person's decision, whatever the card shows later.
    """

    role: Role
    only_from: tuple[str, ...]
    seen: Sighting | None = None

    @property
    def is_decided(self) -> bool:
        """Whether a person was seen to have put the card elsewhere."""
        return self.seen is not None and not self.may_leave(self.seen.state)

    def may_leave(self, state: str) -> bool:
        """Whether it is made from there."""
        return fold(state) in {fold(allowed) for allowed in self.only_from}

    def after_sent(self, state: str) -> Move:
        """The same, once an earlier move of its turn put the card there: it leaves no other state any more.

        A sighting of the state that the turn began from may be of before that move, and says nothing of what followed.
        """
        if self.seen is None or self.is_decided or fold(self.seen.state) == fold(state):
            return replace(self, only_from=(state,))
        return replace(self, only_from=(state,), seen=Sighting(state))

    def after_refused(self, state: str) -> Move:
        """The same, once an earlier move of its turn was not made because a person had put the card there."""
        return replace(self, only_from=(), seen=Sighting(state))


@dataclass(frozen=True, slots=True)
class Comment:
    """Text under a hidden key: made once, edited in place afterwards."""

    key: str
    body: str


@dataclass(frozen=True, slots=True)
class Write:
    """One row for the outbox."""

    kind: WriteKind
    act: Move | Comment


@dataclass(frozen=True, slots=True)
class Post:
    """Write it now. `state` is the tracker state for a move, None for a comment."""

    state: str | None = None


@dataclass(frozen=True, slots=True)
class Suppress:
    """Never write it: a person decided first, or there is nothing left to say.

    `put` is where the person put the card, None where it is not for that.
    """

    reason: str
    put: str | None = None


@dataclass(frozen=True, slots=True)
class Defer:
    """Not now: the card could not be read, or the contract does not name the state."""

    reason: str


Verdict = Post | Suppress | Defer


def permit(write: Write, item: Item | None, contract: StateContract, *, readable: bool = True) -> Verdict:
    """Whether `write` may be made on `item` as just re-read; None with `readable` means that the card is gone."""
    if not readable:
        return Defer("the card could not be read")
    if item is None:
        return Suppress(GONE)
    closed = contract.is_terminal(item.state)
    if closed and (isinstance(write.act, Move) or write.kind not in _TOLD_AFTER_TERMINAL):
        return Suppress(f"a person closed the card ({item.state})", item.state)
    if isinstance(write.act, Comment):
        return Post()
    return _permit_move(write.act, item, contract)


def target(role: Role, contract: StateContract) -> str | None:
    """The tracker state that a role stands for, None where the contract does not name it."""
    return contract.handoff if role is Role.HANDOFF else contract.in_progress


def is_sure(move: Move, item: Item) -> bool:
    """Whether that look at the card is no older than what was seen before the move was written."""
    return move.seen is not None and move.seen.age(item) is Age.LATER


def _permit_move(move: Move, item: Item, contract: StateContract) -> Verdict:
    state = target(move.role, contract)
    if state is None:
        return Suppress(f"the workflow names no {move.role.value} state any more")
    if fold(item.state) == fold(state):
        return Suppress("the card is there already")
    if move.seen is not None and move.is_decided:
        return Suppress(f"a person moved the card to {move.seen.state} during the run", move.seen.state)
    if not move.may_leave(item.state):
        return Suppress(f"a person moved the card to {item.state}", item.state)
    return Post(state)
