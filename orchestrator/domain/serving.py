"""The mark by which an installation says on a card that it works on it, so that another one leaves the card alone.

It is a line of the status comment, whose hidden key names the installation. A mark is never believed for longer than
it stands unchanged by the reader's own clock, so clocks that disagree, a forged line and a dead installation cost one
wait. The second line of the comment is ours alone: what an agent says stands further down.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

# How long a mark is good for, and so how often it is renewed: thrice in that time.
SERVED_SECONDS = 900.0
RENEWALS = 3
# The first renewal comes sooner: it finds a mark that was written at the very moment of ours.
FIRST_LOOK_SECONDS = 60.0
# What says that it ended so long ago is nobody's, seen for the first time or not; no two clocks are that far apart.
OVER_SECONDS = 86_400.0

_STATUS = ":status"
_TIME = "%Y-%m-%d %H:%M:%S"
_AT = r"([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})"
_LINE = re.compile(rf"Served since {_AT} UTC; other installations leave the card alone until {_AT} UTC\.")


@dataclass(frozen=True, slots=True)
class Mark:
    """An installation works on the card: since when it does in this turn, and until when it says so, by its clock."""

    installation: str
    since: datetime
    until: datetime

    def line(self) -> str:
        """As it stands on the card."""
        since, until = (at.astimezone(UTC).strftime(_TIME) for at in (self.since, self.until))
        return f"Served since {since} UTC; other installations leave the card alone until {until} UTC."

    def is_before(self, other: Mark) -> bool:
        """Whether of two that work on one card this one stays: every reader says the same of the same two marks."""
        return (self.since, self.installation) < (other.since, other.installation)


def stamped(body: str, mark: Mark) -> str:
    """A status comment with the mark behind its first line."""
    first, _, rest = body.partition("\n")
    return f"{first}\n{mark.line()}" + (f"\n{rest}" if rest else "")


def read(key: str | None, body: str) -> Mark | None:
    """The mark that a comment bears, None for any other comment."""
    lines = body.split("\n", 2)
    found = _LINE.fullmatch(lines[1].strip()) if len(lines) > 1 else None
    if key is None or not key.endswith(_STATUS) or found is None:
        return None
    try:
        since, until = (datetime.strptime(at, _TIME).replace(tzinfo=UTC) for at in found.groups())
    except ValueError:
        return None  # a day that no calendar has
    return Mark(key.removesuffix(_STATUS), since, until)
