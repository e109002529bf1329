"""The name that every process of a turn bears in its environment, and the sweep of those that nobody guards any more.

The name says whose the process is: installation, boot, supervisor (pid and start), turn, fence, and the number of the
program that the supervisor started. Every descendant inherits it. A process whose supervisor is gone is an orphan, and
any supervisor of the installation on this host kills it.
"""

import signal
import threading
from dataclasses import dataclass
from typing import Self
from uuid import UUID

from orchestrator.supervisor import host

# A killed process is gone within milliseconds, unless it hangs in the kernel; then the sweep goes on without it and the
# next one tries again.
SWEEP_LIMIT_SECONDS = 10.0
SWEEP_PAUSE_SECONDS = 0.02

# Between fork and exec a process can show no environment for a moment; a second look finds it.
QUIET_LOOKS = 2


@dataclass(frozen=True, slots=True)
class Marker:
    """Whose a process is. No part holds a colon."""

    installation: str
    boot_id: str
    supervisor: host.Identity
    turn_id: UUID
    fence: int
    number: int

    def __str__(self) -> str:
        owner = f"{self.installation}:{self.boot_id}:{self.supervisor.pid}-{self.supervisor.start}"
        return f"{owner}:{self.turn_id}:{self.fence}:{self.number}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The marker that `text` spells; None for anything else, since anybody may set the variable."""
        try:
            installation, boot_id, supervisor, turn_id, fence, number = text.split(":")
            pid, start = supervisor.split("-")
            owner = host.Identity(int(pid), int(start))
            return cls(installation, boot_id, owner, UUID(turn_id), int(fence), int(number))
        except ValueError:
            return None


def orphans(among: host.Table, *, installation: str, boot_id: str) -> set[host.Identity]:
    """The living processes of the installation, of this boot, whose supervisor is gone."""
    found = set()
    for process in among.values():
        marker = Marker.parse(process.marker) if process.marker and process.is_alive else None
        if marker is None or (marker.installation, marker.boot_id) != (installation, boot_id):
            continue
        if not host.is_alive(marker.supervisor, among):
            found.add(process.identity)
    return found


def turns_with_processes(among: host.Table) -> set[UUID]:
    """The turns that any living process of this machine bears the marker of."""
    markers = (Marker.parse(process.marker) for process in among.values() if process.marker and process.is_alive)
    return {marker.turn_id for marker in markers if marker}


def sweep(*, installation: str, boot_id: str) -> int:
    """Kill orphans until none is left, and return how many there were."""
    killed: set[host.Identity] = set()
    quiet, pause = 0, threading.Event()
    for _ in range(int(SWEEP_LIMIT_SECONDS / SWEEP_PAUSE_SECONDS)):
        found = sweep_once(host.table(), installation=installation, boot_id=boot_id)
        killed |= found
        quiet = 0 if found else quiet + 1
        if quiet == QUIET_LOOKS:
            break
        pause.wait(SWEEP_PAUSE_SECONDS)
    return len(killed)


def sweep_once(among: host.Table, *, installation: str, boot_id: str) -> set[host.Identity]:
    """Kill the orphans of one look, and return them."""
    found = orphans(among, installation=installation, boot_id=boot_id)
    for identity in found:
        host.send(identity, signal.SIGKILL)
    return found
