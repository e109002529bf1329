"""A hold is a durable stop with a reason, an owner and the one thing that lifts it.

Holds stand on an item, a workflow or the fleet and leave every status alone. Our own writes lift nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class HoldScope(Enum):
    """What a hold stops."""

    ITEM = "item"  # set by a turn's end or a person; that item is not dispatched
    WORKFLOW = "workflow"  # set by the tick or a person; nothing of the workflow is dispatched
    FLEET = "fleet"  # set by a person; nothing is dispatched


class HoldKind(Enum):
    """Why it stands; each line says who sets it and what ends it."""

    BLOCKED = "blocked"  # the agent reported that it cannot go on; a person lifts it
    FINISHED = "finished"  # done, on a board without a review column; a person lifts it
    DEAD_LETTER = "dead_letter"  # attempts or sessions used up; `resume` lifts it, `discard` fails the task
    DISCARDED = "discarded"  # a person gave a dead letter up; a person's move or release lifts it
    MASS_CANCEL = "mass_cancel"  # a plan would cancel most of the fleet; a contradicting read or a person lifts it
    SERVED_ELSEWHERE = "served_elsewhere"  # another installation's mark is on the card; its age or a person lifts it
    PARKED_MOVE = "parked_move"  # a move cannot be made (forbidden, missing state); a person's release tries it again
    UNKNOWN_EFFECT = "unknown_effect"  # nobody but a person can tell whether it happened; `task settle` lifts it
    WORK_LEFT = "work_left"  # unpushed work lies on a host that is gone; the host's return or a person lifts it
    RECOVERY = "recovery"  # the database was restored or failed over; `recover` lifts it, of a flow's task a release
    OPERATOR = "operator"  # a person's command; a person lifts it


# A person's permission to stop what a tick held back is for the turns that ran then, and for this long: after it the
# board may be wrong again.
BRAKE_RELEASED_SECONDS = 600


class Lift(Enum):
    """The only thing that ends a hold."""

    TIME = "time"  # `until` has passed
    CONDITION = "condition"  # the tick observes it
    PERSON = "person"  # a command, or a move on the board that is not ours


@dataclass(frozen=True, slots=True)
class Hold:
    """A hold to be placed: reason in words for the card, owner who is asked to act."""

    scope: HoldScope
    kind: HoldKind
    lift: Lift
    reason: str
    owner: str = "a person"
    until: datetime | None = None


# What no other write of ours or hand on the board may lift: a person has to say so.
FIRM = frozenset({HoldKind.OPERATOR, HoldKind.SERVED_ELSEWHERE, HoldKind.RECOVERY})


def way_out(scope: HoldScope, kind: HoldKind, lift: Lift, *, name: str) -> str:
    """What a person does to lift a hold; `name` is the card's or the workflow's, as it is typed in a command."""
    target = {HoldScope.ITEM: name, HoldScope.WORKFLOW: f"--workflow {name}", HoldScope.FLEET: "--fleet"}[scope]
    release = f"`orchestrator release {target}`"
    if kind is HoldKind.DEAD_LETTER:
        return f"`orchestrator resume {target}` or `orchestrator discard {target}`, or move the card away and back"
    if kind is HoldKind.RECOVERY and scope is HoldScope.FLEET:
        return "`orchestrator recover`"
    if kind is HoldKind.MASS_CANCEL:
        return f"a board that shows the cards again, or {release}, which lets their turns be stopped"
    if kind is HoldKind.WORK_LEFT:
        return f"the host's return, or {release}, which begins afresh on another from what was pushed last"
    if kind is HoldKind.SERVED_ELSEWHERE:
        return f"by itself once the other's mark stands unchanged till then; {release} when nobody works there any more"
    if lift is Lift.TIME:
        return f"by itself when its time has passed, or {release}"
    if scope is HoldScope.ITEM and kind not in FIRM:
        return f"{release}, or move the card away and back"
    return release
