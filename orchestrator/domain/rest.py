"""When a workflow rests: a provider asked to wait, or several cards failed alike. One card is tried after it.

What one card met the next would meet too. So nothing of the workflow starts until the rest is over, and then a single
turn: its clean end ends the rest, another failure begins the next one, twice as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from orchestrator.domain.turn import StopReason

# So many different cards in a row, each soon after the one before, and none that ended well in between.
FAILURES = 3
WINDOW_SECONDS = 120
FIRST_SECONDS = 60
LONGEST_SECONDS = 900

# Ends that may come from what all agents stand on: the provider of the model, the code host, the machine.
CORRELATED = frozenset(
    {
        StopReason.AGENT_FAILED,
        StopReason.STALLED,
        StopReason.REPEATED,
        StopReason.TIMED_OUT,
        StopReason.HOOK_FAILED,
        StopReason.CONTRACT_BROKEN,
    }
)


@dataclass(frozen=True, slots=True)
class Rest:
    """A workflow's rest. Past `until` it is not over: it is to be found out whether it is."""

    until: datetime
    why: str

    def is_over(self, now: datetime) -> bool:
        """Whether one turn may be tried."""
        return self.until <= now


def seconds(times: int) -> int:
    """How long the rest is after so many in a row before it."""
    return min(FIRST_SECONDS << min(times, 10), LONGEST_SECONDS)
