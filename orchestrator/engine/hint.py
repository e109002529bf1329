"""Hints: a word from outside brings a listing forward, and is never the only way by which a change is seen.

A hint sets the request on the workflow's ring and nothing else. Dropped ones cost at most one polling interval; a
storm of them is one request, and two listings a second at most.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator import telemetry
from orchestrator.ports import Ports
from orchestrator.ports.store import StoreUnavailable
from orchestrator.ports.tracker import Tracker, TrackerError, Watched
from orchestrator.ports.workflows import WorkflowInvalid


class Watch:
    """Looks at every board of this process that can tell whether it was touched."""

    def __init__(self, ports: Ports) -> None:
        """Looks at nothing yet."""
        self._ports = ports
        self._boards: dict[tuple[str, int], Tracker] = {}
        self._faults: set[str] = set()

    def look(self) -> tuple[str, ...]:
        """Hint for each workflow whose board somebody touched since the last look; returns their names.

        A board that cannot be looked at keeps no other from it, and is logged when it comes up: the next listing meets
        it too, and says so where people look.
        """
        faults: set[str] = set()
        try:
            names = self._touched(self._open(faults), faults)
            for name in names:
                self._ports.store.reconciler.hint(name)
        except StoreUnavailable as error:
            names = ()
            faults.add(str(error))
        for fault in sorted(faults - self._faults):
            telemetry.watch_failed(fault)
        self._faults = faults
        return names

    def _open(self, faults: set[str]) -> Mapping[str, Tracker]:
        """The board of each workflow in force, opened once a version."""
        opened: dict[tuple[str, int], Tracker] = {}
        for row in self._ports.store.workflows.all():
            key = (row.name, row.version)
            try:
                opened[key] = self._boards.get(key) or self._ports.tracker(
                    self._ports.workflows.parse(row.body, path=row.source())
                )
            except (TrackerError, WorkflowInvalid) as error:
                faults.add(f"{row.name}: {error}")
        self._boards = opened
        return {name: board for (name, _), board in opened.items()}

    def _touched(self, boards: Mapping[str, Tracker], faults: set[str]) -> tuple[str, ...]:
        """The workflows of the boards that were touched; several may share one, which is looked at once."""
        said: dict[int, bool] = {}
        for name, board in boards.items():
            try:
                if id(board) not in said:
                    said[id(board)] = isinstance(board, Watched) and board.disturbed()
            except TrackerError as error:
                faults.add(f"{name}: {error}")
                said[id(board)] = False
        return tuple(name for name, board in boards.items() if said[id(board)])
