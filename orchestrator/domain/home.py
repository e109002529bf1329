"""Where an item's work lies, and what that means for its next turn: follow it, wait, ask a person, or begin elsewhere.

Work leaves a host only as a commit that was pushed. Of a silent host nobody can tell what it holds beside that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Reach(Enum):
    """How a host stands towards the turns of its workspaces."""

    SERVED = "served"  # a worker of it is there for turns, be it full or drained
    SILENT = "silent"  # none is just now: it starts again, or is cut off
    GONE = "gone"  # its workers have been silent past the bound (`STATIONKEEPER_HOST_SILENCE_SECONDS`)


@dataclass(frozen=True, slots=True)
class Home:
    """The workspace in which an item was worked on last, on a host of its own.

    `is_pushed` says that nothing would be lost with it: the last checkpoint found the folder clean, and what its branch
    had was pushed. An agent that began since makes that unknown, which counts as no.
    """

    host: str
    path: str
    branch: str | None = None
    reach: Reach = Reach.SERVED
    is_pushed: bool = False


def host_of(home: Home | None) -> str | None:
    """The only host whose workers may take the item's next turn; None where any may."""
    return None if home is None or may_leave(home) else home.host


def may_leave(home: Home) -> bool:
    """Whether the item is worked on elsewhere without asking anybody: its host is gone and holds nothing else."""
    return home.reach is Reach.GONE and home.is_pushed


def is_left(home: Home | None) -> bool:
    """Whether a person has to decide: its host is gone, and work may lie there that is nowhere else."""
    return home is not None and home.reach is Reach.GONE and not home.is_pushed


def why_unreachable(home: Home | None) -> str | None:
    """Why no turn can be opened where the work lies, in words that stay the same while it lasts; None when one can."""
    if home is None or home.reach is Reach.SERVED or may_leave(home):
        return None
    state = "is silent" if home.reach is Reach.SILENT else "is gone"
    return f"its workspace is on {home.host}, which {state}"


def left_behind(home: Home) -> str:
    """Why the item is held: the host, the folder, the branch."""
    on = f" on branch {home.branch}" if home.branch else ""
    return f"work that is not pushed lies on {home.host} in {home.path}{on}, and that host is silent"
