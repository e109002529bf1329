"""What a worker or launcher owes as pid 1 of a container without an init: who loses its parent becomes its child.

A child that somebody waits for is none of these, and taking its exit code would turn a failure into a success. Only
time tells the two apart: a waiter takes its child within milliseconds, so one that was found ended in so many looks in
a row has nobody.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter

from orchestrator.supervisor import host

# Far more, taken together, than a busy machine keeps a waiting thread from its turn.
LOOKS, LOOK_EVERY_SECONDS = 15, 1.0


class Orphans:
    """The ended children of this process, and how often each was found so."""

    def __init__(self) -> None:
        """Nothing was looked at yet."""
        self._found: Counter[host.Identity] = Counter()

    def look(self) -> None:
        """Reap those that nobody waits for."""
        myself = os.getpid()
        ended = [each.identity for each in host.table().values() if each.parent == myself and not each.is_alive]
        self._found = Counter({identity: self._found[identity] + 1 for identity in ended})
        for identity, looks in self._found.items():
            if looks > LOOKS:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(identity.pid, os.WNOHANG)
