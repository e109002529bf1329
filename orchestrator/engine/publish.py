"""Puts a workflow file in force: a row with a version, so that every process follows the same one.

A process publishes a file only when it is new, or has changed since this process last looked; a file that merely
differs (a stale copy on a second host) is reported, and cannot flip the row back.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestrator import telemetry
from orchestrator.ports import Ports
from orchestrator.ports.store import Store, WorkflowRow
from orchestrator.ports.workflows import WorkflowFile, WorkflowInvalid


@dataclass(frozen=True, slots=True)
class _Look:
    """What one look at a file found: its digest, and the version that was in force then."""

    digest: str
    version: int


class Publisher:
    """Watches the workflow files of one process."""

    def __init__(self, ports: Ports) -> None:
        """Looks at nothing yet."""
        self._ports = ports
        self._last: dict[Path, _Look] = {}

    def look(self) -> None:
        """Publish every file that changed since the last look; a bad one is reported and the last good version kept."""
        try:
            paths = self._ports.workflows.files()
        except WorkflowInvalid as fault:
            telemetry.workflow_refused(fault.place, code=fault.code, problem=fault.message)
            return
        for path in paths:
            try:
                self._look_at(self._ports.workflows.read(path))
            except WorkflowInvalid as fault:
                telemetry.workflow_refused(fault.place, code=fault.code, problem=fault.message)

    def _look_at(self, file: WorkflowFile) -> None:
        row = self._ports.store.workflows.current(file.workflow.name)
        last = self._last.get(file.path)
        if row is None:
            row = put_in_force(self._ports.store, file, seen_version=0)
        elif last is not None and last.digest != file.digest != row.digest:
            row = put_in_force(self._ports.store, file, seen_version=last.version)
        if row.digest != file.digest and (last is None or last.digest != file.digest):
            warning = f"it differs from version {row.version} in force, which stands until this file is changed"
            telemetry.workflow_warned(str(file.path), warning=warning)
        self._last[file.path] = _Look(file.digest, row.version)


def enforce(store: Store, file: WorkflowFile) -> WorkflowRow:
    """Put a file in force whatever stands there now: a person who starts the system with it means it."""
    row = store.workflows.current(file.workflow.name)
    if row is not None and row.digest == file.digest and row.path == str(file.path):
        return row
    return put_in_force(store, file, seen_version=row.version if row is not None else 0)


def put_in_force(store: Store, file: WorkflowFile, *, seen_version: int) -> WorkflowRow:
    """Make a file the next version of its workflow; returns what is in force then, maybe somebody else's."""
    workflow = file.workflow
    row = WorkflowRow(workflow.name, seen_version, file.digest, file.body, str(file.path), workflow.scope)
    published = store.workflows.publish(row, interval_ms=workflow.interval_ms)
    telemetry.workflow_in_force(published.name, version=published.version, path=published.path)
    return published
