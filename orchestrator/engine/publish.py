"""Puts a workflow file in force: a row with a version, so that every process follows the same one.

A process publishes a file only when it is new, or has changed since this process last looked; a file that merely
differs (a stale copy on a second host) is reported, and cannot flip the row back. A file that cannot be used leaves the
last good version in force; what is wrong with it stands beside that version until the file is good again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator import telemetry
from orchestrator.domain.overlap import overlap
from orchestrator.ports import Ports
from orchestrator.ports.store import Store, WorkflowRow
from orchestrator.ports.workflows import WorkflowFile, WorkflowInvalid, Workflows


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
        self._faults: dict[Path, str] = {}
        self._names: dict[str, Path] = {}

    def look(self) -> None:
        """Publish every file that changed since the last look; a bad one is reported and the last good version kept."""
        self._names.clear()
        for path in self._paths():
            try:
                self._look_at(self._ports.workflows.read(path))
            except WorkflowInvalid as fault:
                self._report(path, fault)
            else:
                self._heal(path)

    def _paths(self) -> Iterator[Path]:
        nowhere = Path()
        try:
            paths = self._ports.workflows.files()
        except WorkflowInvalid as fault:
            self._report(nowhere, fault)
            return
        self._faults.pop(nowhere, None)
        yield from paths

    def _look_at(self, file: WorkflowFile) -> None:
        self._refuse_a_second_file(file)
        row = self._ports.store.workflows.current(file.workflow.name)
        last = self._last.get(file.path)
        if row is None:
            row = put_in_force(self._ports.store, file, seen_version=0, door=self._ports.workflows)
        elif last is not None and last.digest != file.digest != row.digest:
            row = put_in_force(self._ports.store, file, seen_version=last.version, door=self._ports.workflows)
        if row.digest != file.digest and (last is None or last.digest != file.digest):
            warning = f"it differs from version {row.version} in force, which stands until this file is changed"
            telemetry.workflow_warned(str(file.path), warning=warning)
        if last is None and row.digest == file.digest:
            self._ports.store.workflows.set_file_problem(
                row.path, None
            )  # of a process that did not live to see it mended
        self._last[file.path] = _Look(file.digest, row.version)

    def _refuse_a_second_file(self, file: WorkflowFile) -> None:
        first = self._names.setdefault(file.workflow.name, file.path)
        if first != file.path:
            raise _same_name(file, first)

    def _report(self, path: Path, fault: WorkflowInvalid) -> None:
        """Say it once, not at each look; the row keeps it for whoever asks later."""
        if self._faults.get(path) == str(fault):
            return
        self._faults[path] = str(fault)
        self._ports.store.workflows.set_file_problem(str(path), str(fault))
        telemetry.workflow_refused(fault.place, code=fault.code, problem=fault.message)

    def _heal(self, path: Path) -> None:
        if self._faults.pop(path, None) is not None:
            self._ports.store.workflows.set_file_problem(str(path), None)
            telemetry.workflow_mended(str(path))


def enforce(store: Store, files: list[WorkflowFile], *, door: Workflows) -> None:
    """Put files in force whatever stands there now: a person who starts the system with them means them.

    Raises WorkflowInvalid for a name that two of them bear, or a work set that overlaps with another one.
    """
    names: dict[str, Path] = {}
    for file in files:
        first = names.setdefault(file.workflow.name, file.path)
        if first != file.path:
            raise _same_name(file, first)
        row = store.workflows.current(file.workflow.name)
        if row is None or row.digest != file.digest or row.path != str(file.path):
            put_in_force(store, file, seen_version=row.version if row is not None else 0, door=door)
        store.workflows.set_file_problem(str(file.path), None)


def put_in_force(store: Store, file: WorkflowFile, *, seen_version: int, door: Workflows) -> WorkflowRow:
    """Make a file the next version of its workflow; returns what is in force then, maybe somebody else's.

    Raises WorkflowInvalid when its work set overlaps with that of another workflow: judged against the versions that
    stand when the row is written, so that two files that are put in force at once cannot both pass.
    """
    workflow = file.workflow
    row = WorkflowRow(workflow.name, seen_version, file.digest, file.body, str(file.path), workflow.scope)
    while True:
        beside = [other for other in store.workflows.all() if other.name != row.name and other.scope == row.scope]
        for other in beside:
            _refuse_overlap(file, other, door)
        judged = {other.name: other.version for other in beside}
        published = store.workflows.publish(row, interval_ms=workflow.interval_ms, beside=judged)
        if published is not None:
            telemetry.workflow_in_force(published.name, version=published.version, path=published.path)
            return published


def _refuse_overlap(file: WorkflowFile, other: WorkflowRow, door: Workflows) -> None:
    try:
        reason = overlap(file.workflow, door.parse(other.body, path=other.source()))
    except WorkflowInvalid:
        return  # a version that nobody can read any more is served by nobody
    if reason is None:
        return
    remedy = "divide the board by active states, assignee or trusted authors"
    if other.path == str(file.path):
        remedy = f"this file was that workflow until now: give it the name {other.name!r} back"
    message = f"{reason}; two workflows must not want the same card: {remedy} (SC-19)"
    raise WorkflowInvalid("overlapping_work_sets", f"{file.path}:1", message)


def _same_name(file: WorkflowFile, first: Path) -> WorkflowInvalid:
    message = f"the name {file.workflow.name!r} is that of {first} too; give one of them another with 'name:'"
    return WorkflowInvalid("workflow_name_taken", f"{file.path}:1", message)
