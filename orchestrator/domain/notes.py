"""What the status comment says: observed facts in plain words, never an opinion about the work."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from orchestrator.domain import hold, keys
from orchestrator.domain.hold import HoldKind, HoldScope, Lift
from orchestrator.domain.turn import Conclusion, End, Handoff, Parked, Recheck, StopReason
from orchestrator.domain.writeback import Comment, Write, WriteKind

# What a person reads for a stop that came from outside; every other reason is the agent's and speaks for itself.
_WHY_STOPPED = {
    StopReason.TERMINAL_SEEN: "the card was closed",
    StopReason.MOVED_AWAY: "the card was moved out of its active columns",
    StopReason.NOT_VISIBLE: "the card is no longer visible",
    StopReason.CANCELLED: "a person stopped it",
    StopReason.SERVED_ELSEWHERE: "another installation works on the card",
    StopReason.DEPLOY: "the worker was asked to stop",
    StopReason.LOST_WORKER: "its worker was lost",
}


def started(ordinal: int, *, attempt: int, branch: str | None) -> str:
    """An agent began a turn."""
    again = f" (attempt {attempt})" if attempt > 1 else ""
    return f"Turn {ordinal}{again} is running{_on(branch)}."


def ended(conclusion: Conclusion, ordinal: int, *, summary: str, branch: str | None) -> str:
    """A turn ended, with what its end means for the card."""
    lines = [_headline(conclusion, ordinal, branch)]
    if summary.strip():
        lines += ["", summary.strip()]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who tells of a turn's end: this installation, about which turn, its number on the card, and where its work is."""

    installation: str
    turn_id: UUID
    ordinal: int
    branch: str | None


def parting(speaker: Speaker, conclusion: Conclusion, summary: str) -> tuple[Write, ...]:
    """What every end of a turn leaves on its card: the status comment, and the one comment of a hold."""
    body = ended(conclusion, speaker.ordinal, summary=summary, branch=speaker.branch)
    status = Comment(keys.status_comment_key(speaker.installation), body)
    match conclusion:
        case End():
            return (Write(WriteKind.CANCELLED, status),)
        case Handoff(stop=StopReason.NO_CHANGE):
            return (Write(WriteKind.NO_CHANGE, status),)
        case Parked():
            key = keys.hold_comment_key(speaker.installation, str(speaker.turn_id))
            parked = Comment(key, held(conclusion, branch=speaker.branch))
            return Write(WriteKind.TURN_ENDED, status), Write(WriteKind.HOLD, parked)
        case _:
            return (Write(WriteKind.TURN_ENDED, status),)


def held(conclusion: Parked, *, branch: str | None) -> str:
    """The card is held: why, and the way out."""
    return f"{_standing(conclusion.kind)} {conclusion.reason}{_on(branch)}.\n\n{_WAY_OUT}"


def stuck(installation: str, turn_id: UUID, reason: str) -> Write:
    """The card is held because a move of it cannot be made: a person who looks at it must not take it for worked on."""
    body = f"{_standing(HoldKind.PARKED_MOVE)} the card could not be moved; {reason}.\n\n{_WAY_OUT}"
    return Write(WriteKind.HOLD, Comment(keys.hold_comment_key(installation, f"{turn_id}:move"), body))


def kept_back(told: str, reason: str) -> str:
    """What a turn's status comment says once its hand-off was kept back: a person's move stands."""
    return f"{told}\n\nThe card stays where it is: {reason}."


def over(told: str, kinds: Collection[HoldKind], *, why: str) -> str | None:
    """What a hold's comment says once its hold has ended; None for a comment of other kinds, or of one that is over.

    A card that goes on must not be read as one that stands still.
    """
    if not told.startswith(tuple(map(_standing, kinds))):
        return None
    return f"No longer held: {why}.\n\nUntil then: {told.removesuffix(_WAY_OUT).strip()}"


def _standing(kind: HoldKind) -> str:
    return f"Held ({kind.value}):"


def left_behind(installation: str, turn_id: UUID, reason: str, *, name: str) -> Write:
    """The card is held because its work lies on a host that is gone; `name` is the card's, as it is typed."""
    out = hold.way_out(HoldScope.ITEM, HoldKind.WORK_LEFT, Lift.CONDITION, name=name)
    body = f"Held ({HoldKind.WORK_LEFT.value}): {reason}.\n\nThe way out: {out}."
    return Write(WriteKind.HOLD, Comment(keys.hold_comment_key(installation, f"{turn_id}:host"), body))


_WAY_OUT = "Move the card to another column, and it starts again when it is back in an active one."


def kept(ordinal: int, *, where: str, branch: str | None) -> str:
    """Unfinished work was preserved before its workspace went."""
    return f"The workspace was removed after turn {ordinal}{_on(branch)}. Unfinished work is kept: `{where}`."


def _headline(conclusion: Conclusion, ordinal: int, branch: str | None) -> str:
    match conclusion:
        case Handoff(stop=stop):
            found = "found nothing to change" if stop is StopReason.NO_CHANGE else "is done"
            return f"Turn {ordinal} {found}{_on(branch)}."
        case End(stop=stop):
            return f"Turn {ordinal} was stopped: {_WHY_STOPPED.get(stop, stop.value)}{_on(branch)}."
        case Recheck(stop=StopReason.DONE):
            return f"Turn {ordinal} ended and goes on{_on(branch)}."
        case Recheck(stop=stop, at=at):
            why = _WHY_STOPPED.get(stop, stop.value.replace("_", " "))
            return f"Turn {ordinal} did not finish ({why}); tried again from {at:%H:%M:%S} UTC{_on(branch)}."
        case Parked(kind=kind):
            return f"Turn {ordinal} ended and the card is held ({kind.value}){_on(branch)}."


def _on(branch: str | None) -> str:
    return f" on branch `{branch}`" if branch else ""
