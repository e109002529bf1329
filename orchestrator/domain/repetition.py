"""Whether an agent goes round in circles: the same few calls of its tools, over and over, and nothing new in between.

Work repeats itself too: a test is run after each edit, a file is read again. What tells a circle is that nothing new
comes. So a call that was among the last few different ones counts up, and a new one takes several back.
"""

from __future__ import annotations

from dataclasses import dataclass

# So many different calls are remembered: a circle of two or three is one as well.
REMEMBERED = 4
# What a new call is worth: an edit excuses the test, the look at its output and the status that follow it.
WORTH = 5


@dataclass(frozen=True, slots=True)
class Calls:
    """What was heard of a turn's calls: the last different ones, the newest first, and the repetitions that count."""

    recent: tuple[str, ...] = ()
    repeated: int = 0

    def heard(self, call: str) -> Calls:
        """The same with one more call, by a name that tells it from every other (its tool, a digest of arguments)."""
        others = tuple(known for known in self.recent if known != call)
        repeated = self.repeated + 1 if call in self.recent else max(self.repeated - WORTH, 0)
        return Calls((call, *others)[:REMEMBERED], repeated)
