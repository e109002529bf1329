"""Hints: a word from outside brings a listing forward, and is never the only way by which a change is seen.

A hint sets the request on the workflow's ring and nothing else. Dropped ones cost at most one polling interval; a
storm of them is one request, and two listings a second at most.
"""

from __future__ import annotations

from collections import defaultdict

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
        self._fault = ""

    def look(self) -> tuple[str, ...]:
        """Hint for each workflow whose board somebody touched since the last look; returns their names.

        What cannot be read is logged once: the next listing meets it too, and says so where people look.
        """
        try:
            hinted, fault = self._look(), ""
        except (StoreUnavailable, TrackerError, WorkflowInvalid) as error:
            hinted, fault = (), str(error)
            if fault != self._fault:
                telemetry.service_failed("a watched board", error=error)
        self._fault = fault
        return hinted

    def _look(self) -> tuple[str, ...]:
        served: defaultdict[int, list[str]] = defaultdict(list)
        boards = {(row.name, row.version): row for row in self._ports.store.workflows.all()}
        opened = {
            key: self._boards.get(key) or self._ports.tracker(self._ports.workflows.parse(row.body, path=row.source()))
            for key, row in boards.items()
        }
        self._boards = opened
        for (name, _), board in opened.items():
            served[id(board)].append(name)
        touched = [board for board in {id(one): one for one in opened.values()}.values() if _touched(board)]
        names = tuple(name for board in touched for name in served[id(board)])
        for name in names:
            self._ports.store.reconciler.hint(name)
        return names


def _touched(board: Tracker) -> bool:
    return isinstance(board, Watched) and board.disturbed()
