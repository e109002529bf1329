"""Puts a workflow file in force: a row with a version, so that every process follows the same one.

A process publishes a file only when it is new, or has changed since this process last looked; a file that merely
differs (a stale copy on a second host) is reported, and cannot flip the row back. A file that cannot be used leaves the
last good version in force; what is wrong with it stands beside that version until the file is good again.

A file that is given another name replaces the workflow that it was. One that a person retired comes back with the next
edit of its file.
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
    """What one look at a file found: its digest and name, and the version that was in force then."""

    digest: str
    name: str
    version: int


class Publisher:
    """Watches the workflow files of one process."""

    def __init__(self, ports: Ports) -> None:
        """Looks at nothing yet."""
        self._ports = ports
        self._last: dict[Path, _Look] = {}
        self._faults: dict[Path, str] = {}
        self._names: dict[str, Path] = {}
        self._warned: set[tuple[Path, str]] = set()

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
        was_edited = last is not None and last.digest != file.digest
        if row is None or (was_edited and (row.retired or row.digest != file.digest)):
            row = self._put_in_force(file, row, last)
        if was_edited or last is None:
            self._warn(file)
        follows = not row.retired and (row.digest, row.path) == (file.digest, str(file.path))
        if (was_edited or last is None) and not follows:
            telemetry.workflow_warned(str(file.path), warning=_not_followed(row, file))
        elif was_edited or last is None:
            self._ports.store.workflows.set_warnings(row.name, file.workflow.warnings, version=row.version)
        if last is None and row.digest == file.digest:
            # Of a process that did not live to see it mended.
            self._ports.store.workflows.set_file_problem(row.path, None, version=row.version)
        self._last[file.path] = _Look(file.digest, file.workflow.name, row.version)

    def _put_in_force(self, file: WorkflowFile, row: WorkflowRow | None, last: _Look | None) -> WorkflowRow:
        """The next version, by compare-and-set on what this process saw: of this name, or of the one that it had."""
        seen, renamed = (0 if row is None else row.version), None
        if last is not None and last.name != file.workflow.name:
            if row is not None and not row.retired and row.path != str(file.path):
                raise _same_name(file, row.source())
            old = self._ports.store.workflows.current(last.name)
            renamed = old if old is not None and not old.retired and _is_seen(old, file.path, last) else None
        elif last is not None and row is not None:
            seen = last.version
        door = self._ports.workflows
        return put_in_force(self._ports.store, file, seen_version=seen, door=door, instead_of=renamed)

    def _warn(self, file: WorkflowFile) -> None:
        """Say what is doubtful in an edited file, each thing once, wherever its line has moved to."""
        for warning in file.workflow.warnings:
            _, _, message = warning.removeprefix(f"{file.path}:").partition(": ")
            if (file.path, message) not in self._warned:
                self._warned.add((file.path, message))
                telemetry.workflow_warned(str(file.path), warning=warning)

    def _refuse_a_second_file(self, file: WorkflowFile) -> None:
        first = self._names.setdefault(file.workflow.name, file.path)
        if first != file.path:
            raise _same_name(file, first)

    def _report(self, path: Path, fault: WorkflowInvalid) -> None:
        """Say it once, not at each look; the row keeps it for whoever asks later."""
        if self._faults.get(path) == str(fault):
            return
        self._faults[path] = str(fault)
        self._ports.store.workflows.set_file_problem(str(path), str(fault), version=self._seen(path))
        telemetry.workflow_refused(fault.place, code=fault.code, problem=fault.message)

    def _heal(self, path: Path) -> None:
        if self._faults.pop(path, None) is not None:
            self._ports.store.workflows.set_file_problem(str(path), None, version=self._seen(path))
            telemetry.workflow_mended(str(path))

    def _seen(self, path: Path) -> int | None:
        """The version that this process had in force when it read the file last; None when it never could."""
        return self._last[path].version if path in self._last else None


def enforce(store: Store, files: list[WorkflowFile], *, door: Workflows, alone: bool = False) -> None:
    """Put files in force whatever stands there now: a person who starts the system with them means them.

    `alone`: this database serves no other host, so a workflow that was read from one of the files under another name is
    retired. Elsewhere the same path may be another file on another host, and a person has to say so.
    Raises WorkflowInvalid for a name that two of them bear, or a work set that overlaps with another one.
    """
    names: dict[str, Path] = {}
    for file in files:
        first = names.setdefault(file.workflow.name, file.path)
        if first != file.path:
            raise _same_name(file, first)
        row = store.workflows.current(file.workflow.name)
        was = next((old for old in store.workflows.all() if alone and _was(old, file)), None)
        if row is None or was is not None or row.retired or (row.digest, row.path) != (file.digest, str(file.path)):
            seen_version = row.version if row is not None else 0
            row = put_in_force(store, file, seen_version=seen_version, door=door, instead_of=was)
        store.workflows.set_warnings(row.name, file.workflow.warnings, version=row.version)
        store.workflows.set_file_problem(str(file.path), None)


def retire(store: Store, name: str) -> bool:
    """Let a workflow go because a person says so; False when none of that name is in force."""
    retired = store.workflows.retire(name)
    if retired:
        telemetry.workflow_retired(name)
    return retired


def put_in_force(
    store: Store, file: WorkflowFile, *, seen_version: int, door: Workflows, instead_of: WorkflowRow | None = None
) -> WorkflowRow:
    """Make a file the next version of its workflow; returns what is in force then, maybe somebody else's.

    `instead_of` is the workflow that it was under another name: retired in the same commit, if that version still is in
    force.

    Raises WorkflowInvalid when its work set overlaps with that of another workflow: judged against the versions that
    stand when the row is written, so that two files that are put in force at once cannot both pass. Also when it is
    about another board while something is open on the old one.
    """
    workflow = file.workflow
    row = WorkflowRow(workflow.name, seen_version, file.digest, file.body, str(file.path), workflow.scope)
    while True:
        there = store.workflows.all()
        if instead_of is not None and (instead_of.name, instead_of.version) not in {(o.name, o.version) for o in there}:
            instead_of = None  # somebody else changed it meanwhile: it stands, and is judged like any other
        names = {row.name, *([instead_of.name] if instead_of is not None else [])}
        beside = [other for other in there if other.scope == row.scope and other.name not in names]
        for other in beside:
            _refuse_overlap(file, other, door)
        judged = {other.name: other.version for other in beside}
        published = store.workflows.publish(row, interval_ms=workflow.interval_ms, beside=judged, instead_of=instead_of)
        if published is not None:
            if published.version == seen_version:
                raise _board_in_use(file, published)
            if instead_of is not None and published.digest == row.digest:
                telemetry.workflow_retired(instead_of.name, replaced_by=published.name)
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
        remedy = f"this file was that workflow until now: give it the name {other.name!r} back, or let that one go"
        remedy = f"{remedy} with `orchestrator retire {other.name}`"
    message = f"{reason}; two workflows must not want the same card: {remedy} (SC-19)"
    raise WorkflowInvalid("overlapping_work_sets", f"{file.path}:1", message)


def _is_seen(row: WorkflowRow, path: Path, last: _Look) -> bool:
    """Whether the version in force is the very text that this process read at that path."""
    return (row.version, row.digest, row.path) == (last.version, last.digest, str(path))


def _was(old: WorkflowRow, file: WorkflowFile) -> bool:
    return old.path == str(file.path) and old.name != file.workflow.name


def _not_followed(row: WorkflowRow, file: WorkflowFile) -> str:
    if row.retired:
        return f"workflow {row.name!r} is retired; an edit of this file, or `orchestrator up` with it, brings it back"
    if row.digest == file.digest:
        return f"version {row.version} in force was read from {row.path}, and its paths are seen from there"
    return f"it differs from version {row.version} in force, which stands until this file is changed"


def _board_in_use(file: WorkflowFile, row: WorkflowRow) -> WorkflowInvalid:
    message = f"workflow {row.name!r} still has open turns, waiting tasks or unsent writes on the board {row.scope}"
    remedy = "let them end first, or give the file another 'name' too: then they end there, and new work starts here"
    return WorkflowInvalid("board_in_use", f"{file.path}:1", f"{message}; {remedy}")


def _same_name(file: WorkflowFile, first: Path) -> WorkflowInvalid:
    message = f"the name {file.workflow.name!r} is that of {first} too; give one of them another with 'name:'"
    return WorkflowInvalid("workflow_name_taken", f"{file.path}:1", message)
