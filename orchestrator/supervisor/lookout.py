"""When to look at the process table, and what every look is good for besides: reaping, sweeping, killing strays.

The supervisor is the subreaper of all that its programs start, so an orphan among them becomes its child: it is reaped
by its pid once it has ended, and killed once no program is under way that it could belong to.
"""

import contextlib
import os
import signal
from collections.abc import Collection, Iterable

from orchestrator.supervisor import host, marker
from orchestrator.supervisor.child import Child
from orchestrator.supervisor.trust import Config

# Between two looks (5 ms each on a machine with 200 processes). While something ends, a slot waits for it; while
# something is frozen, a process that slipped through writes until the next look, well within the grace; otherwise a
# look only serves to learn of new members before their parents are gone.
LOOK_SECONDS = 1.0
LOOK_FROZEN_SECONDS = 0.25
LOOK_ENDING_SECONDS = 0.02


class Lookout:
    """Keeps the latest view of the machine's processes in `among`."""

    def __init__(self, config: Config, now: float) -> None:
        myself = host.look(os.getpid())
        self.myself = myself.identity if myself else host.Identity(os.getpid(), 0)
        self.boot_id = host.boot_id()
        self.among: host.Table = {}
        self._config = config
        self._looked_at = self._swept_at = now
        self._is_wanted = False

    def want(self) -> None:
        """Something has changed: look as soon as is decent."""
        self._is_wanted = True

    def due_at(self, children: Collection[Child]) -> float:
        """When to look next."""
        if self._is_wanted or any(child.is_ending for child in children):
            return self._looked_at + LOOK_ENDING_SECONDS
        if any(child.is_frozen for child in children):
            return self._looked_at + LOOK_FROZEN_SECONDS
        return min(self._looked_at + LOOK_SECONDS, self._sweeps_at) if children else self._sweeps_at

    def look(self, children: Iterable[Child], now: float) -> None:
        """Look now, and tell every program what became of its members."""
        self._is_wanted, self._looked_at = False, now
        self.among = host.table()
        for child in children:
            child.look(self.among)

    def tidy(self, children: Collection[Child], now: float) -> None:
        """Reap the orphans that ended, kill what belongs to no program, and sweep when it is time."""
        self._reap_orphans({child.pid for child in children})
        if not children:
            self.kill_strays()
        if now >= self._sweeps_at:
            self._swept_at = now
            marker.sweep_once(self.among, installation=self._config.installation, boot_id=self.boot_id)

    def kill_strays(self) -> int:
        """Kill all that descends from us, and return how many there were; only when no program is under way."""
        strays = host.descendants({self.myself}, host.table()) - {self.myself}
        for stray in strays:
            host.send(stray, signal.SIGKILL)
        return len(strays)

    @property
    def _sweeps_at(self) -> float:
        return self._swept_at + self._config.sweep_seconds

    def _reap_orphans(self, programs: Collection[int]) -> None:
        """Each by its pid; a program of ours is reaped by its `Child`, or its exit code would be lost."""
        for pid, process in self.among.items():
            if process.parent == self.myself.pid and not process.is_alive and pid not in programs:
                with contextlib.suppress(ChildProcessError):  # its parent died between the look and now: not ours yet
                    os.waitpid(pid, os.WNOHANG)
