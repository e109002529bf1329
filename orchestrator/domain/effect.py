"""An effect's row in the ledger: intend, act, settle; and what may be done about one whose outcome is not known.

Pure. Nothing here sends: it says whether one may, and a sentence that says no is always the safe one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from uuid import UUID

from orchestrator.domain.step import StepContract

# How long after its act's deadline a request that a proxy or a queue kept may still arrive (H10).
MARGIN_SECONDS = 2.0
# A target that cannot be read is asked again so often, at most; then a person is asked instead.
MOST_LOOKS = 20
_LOOK_AGAIN_SECONDS = 5.0
_LONGEST_PAUSE_SECONDS = 300.0


class EffectStatus(Enum):
    """What is known of something done outside."""

    INTENDED = "intended"  # set before the act; its settling ends it
    UNKNOWN = "unknown"  # set when its turn ended without settling it; a look-up or a person ends it
    ABSENT = "absent"  # a look-up after the act's deadline found nothing, or it was surely not sent; may be sent again
    COMMITTED = "committed"  # it happened, with the target's own answer; final
    REFUSED = "refused"  # the target said no, or a person gave it up; final


# A fact that comes late is taken: what was absent at one look may turn out to have happened.
TRANSITIONS: dict[EffectStatus, frozenset[EffectStatus]] = {
    EffectStatus.INTENDED: frozenset(
        {EffectStatus.UNKNOWN, EffectStatus.ABSENT, EffectStatus.COMMITTED, EffectStatus.REFUSED}
    ),
    EffectStatus.UNKNOWN: frozenset(
        {EffectStatus.INTENDED, EffectStatus.ABSENT, EffectStatus.COMMITTED, EffectStatus.REFUSED}
    ),
    EffectStatus.ABSENT: frozenset({EffectStatus.INTENDED, EffectStatus.COMMITTED, EffectStatus.REFUSED}),
    EffectStatus.COMMITTED: frozenset(),
    EffectStatus.REFUSED: frozenset(),
}

OPEN = frozenset(status for status, following in TRANSITIONS.items() if following)


@dataclass(frozen=True, slots=True)
class EffectRecord:
    """A row of the ledger as a turn found it.

    `act_until` is when its last act had to be over, `safe_until` until when the target knows the key, by the
    database's clock. `sender_is_dead`: whoever sent it is known not to send any more; its turn was concluded by itself
    or by its supervisor, and not merely given up for its silence.
    """

    key: str
    node: str
    status: EffectStatus
    parameters: Mapping[str, object]
    sends: int
    looks: int
    act_until: datetime
    safe_until: datetime
    turn_id: UUID
    sender_is_dead: bool = True
    reason: str = ""


class Move(Enum):
    """What to do next about an effect."""

    INTEND = "intend"  # no row yet, or nothing happened surely: write the intent, then act
    LOOK_UP = "look_up"  # ask the target by key
    WAIT = "wait"  # too early for "absent" to count
    ASK = "ask"  # nobody but a person can find out
    DONE = "done"  # it happened
    GIVE_UP = "give_up"  # it was refused


@dataclass(frozen=True, slots=True)
class Next:
    """A move, until when a wait lasts, and why in words."""

    move: Move
    at: datetime | None = None
    reason: str = ""


def after(record: EffectRecord | None, step: StepContract, now: datetime) -> Next:
    """What a turn that meets this row may do, before it has done anything about it itself."""
    if record is None:
        return Next(Move.INTEND)
    match record.status:
        case EffectStatus.COMMITTED:
            return Next(Move.DONE)
        case EffectStatus.REFUSED:
            return Next(Move.GIVE_UP, reason=record.reason)
        case EffectStatus.ABSENT:
            return _again(record, step, now)
        case _:
            return _unsettled(record, step, now)


def _unsettled(record: EffectRecord, step: StepContract, now: datetime) -> Next:
    counts_at = record.act_until + timedelta(seconds=MARGIN_SECONDS)
    if step.looks_up:
        if now < counts_at:
            return Next(Move.WAIT, counts_at, "an answer of 'absent' does not count yet")
        if record.looks >= MOST_LOOKS:
            return Next(Move.ASK, reason=f"the target could not be read {record.looks} times")
        return Next(Move.LOOK_UP)
    if step.deduplicates and now < record.safe_until:
        return (
            Next(Move.INTEND)
            if now >= counts_at
            else Next(Move.WAIT, counts_at, "the first act may still be under way")
        )
    return Next(Move.ASK, reason="it may have happened, and the target cannot be asked by key")


def _again(record: EffectRecord, step: StepContract, now: datetime) -> Next:
    """Nothing happened, as far as anybody can see; whoever sent it first must not be able to send it late."""
    if now >= record.safe_until:
        return Next(Move.ASK, reason="its key is too old for the target to know it still")
    if step.deduplicates or record.sender_is_dead:
        return Next(Move.INTEND)
    return Next(Move.ASK, reason="it is absent, but whoever was to send it fell silent and may still be alive")


def look_again_at(now: datetime, looks: int) -> datetime:
    """When a target that could not be read is asked again: 5 s, doubled each time, at most 5 minutes."""
    return now + timedelta(seconds=min(_LOOK_AGAIN_SECONDS * 2 ** min(looks, 10), _LONGEST_PAUSE_SECONDS))


def sources(following: EffectStatus) -> frozenset[EffectStatus]:
    """The statuses from which `following` can be reached."""
    return frozenset(current for current, reachable in TRANSITIONS.items() if following in reachable)
