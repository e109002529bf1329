"""The push of an item's branch: what is meant, what is known of the remote, and what follows from what is found there.

An effect in three phases. The commit is recorded as meant by a fenced checkpoint before it is sent, sent on condition
that the remote still has what we pushed last, and recorded as pushed by the next checkpoint. So a push whose answer was
lost is told from somebody else's work.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Branch:
    """What our records say of an item's branch on the remote: the commit that we pushed last, and one that was meant.

    `pushing` stands while nobody knows whether that push arrived.
    """

    pushed: str | None = None
    pushing: str | None = None

    def settle(self, found: str | None) -> Branch:
        """What is known once the remote was asked; `found` is the commit that it has there, None for no such branch.

        A branch that is gone was merged and deleted by a person: pushing it anew goes over nothing. Raises ForeignWork
        when it has a commit that is neither of ours.
        """
        if found not in {self.pushed, self.pushing, None}:
            raise ForeignWork(found, self.pushed)
        return Branch(found)


@dataclass(frozen=True, slots=True)
class Intended:
    """The commit that is about to be pushed."""

    sha: str


@dataclass(frozen=True, slots=True)
class Settled:
    """The commit that the remote has now (None: it was given none), and whether nothing else is in the workspace."""

    sha: str | None
    is_whole: bool


class ForeignWork(Exception):
    """The remote has a commit on the item's branch that is not the one we pushed last: nothing is pushed over it."""

    def __init__(self, found: str | None, expected: str | None) -> None:
        super().__init__(f"it is at {_short(found)}, and we pushed {_short(expected)} last")
        self.found, self.expected = found, expected


def _short(commit: str | None) -> str:
    return commit[:12] if commit else "no commit"
