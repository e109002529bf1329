"""Postgres and Redis as a supervisor's process sees them in these tests: a folder where the test says what they say.

The file `says` holds the answer to a renewal: ours, lost, cancel (the person's), down (an error) or silent (no answer
until it changes). What was asked is appended to `asked`, one JSON object a line.
"""

import json
import threading
from pathlib import Path
from uuid import UUID

from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import Renewal, StoreUnavailable, TurnRef

LOOK_AGAIN_SECONDS = 0.01


class FileDoors:
    """Both doors of a supervisor over one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def renew(self, refs, *, lease_seconds):
        """Answer for all turns alike."""
        self._asked("renew", turns=[str(ref.turn_id) for ref in refs], seconds=lease_seconds)
        while (says := (self.folder / "says").read_text()) == "silent":
            threading.Event().wait(LOOK_AGAIN_SECONDS)
        if says == "down":
            raise StoreUnavailable("the test took it down")
        cancel = StopReason.MOVED_AWAY if says == "cancel" else None
        return {ref.turn_id: Renewal(ours=says != "lost", cancel=cancel) for ref in refs}

    def lost_among(self, refs):
        """All turns alike, when the test says that they are lost."""
        self._asked("lost_among", turns=[str(ref.turn_id) for ref in refs])
        return frozenset(ref.turn_id for ref in refs) if (self.folder / "says").read_text() == "lost" else frozenset()

    def lose(self, refs, death):
        """Take the supervisor's word."""
        self._asked("lose", turns=[str(ref.turn_id) for ref in refs], death=death)
        return len(refs)

    def orphans(self, host, boot_id):
        """The turns that the file `orphans` lists, each with its worker's pid."""
        self._asked("orphans", host=host, boot_id=boot_id)
        try:
            listed = json.loads((self.folder / "orphans").read_text())
        except FileNotFoundError:
            return {}
        return {UUID(turn): (TurnRef(UUID(turn), 1, UUID(turn)), pid) for turn, pid in listed.items()}

    def _asked(self, what, **how):
        with (self.folder / "asked").open("a") as file:
            file.write(json.dumps({"what": what, **how}) + "\n")


class FileLeases:
    """The Redis leases over the same folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def renew(self, key, turn_id, fence, *, seconds):
        """Write down that the lease was set."""
        with (self.folder / "leases").open("a") as file:
            file.write(json.dumps({"key": key, "turn": str(turn_id), "fence": fence, "seconds": seconds}) + "\n")
