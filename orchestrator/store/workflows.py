"""The workflows in force; a changed, valid file becomes the next version by compare-and-set on the version in force."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.ports.store import WorkflowRow
from orchestrator.store.database import Database, Row, Session

_VERSIONS = """
    select workflow.name, found.version, found.digest, found.body, found.path, workflow.scope, workflow.problem
    from workflow join workflow_version found on found.workflow = workflow.name
"""
_CURRENT = f"{_VERSIONS} where workflow.name = :name and found.version = workflow.version"
_ALL = f"""{_VERSIONS}
    where found.version = workflow.version and not starts_with(workflow.name, 'flow:') order by workflow.name"""
_VERSION = f"{_VERSIONS} where workflow.name = :name and found.version = :version"

_FIRST = """
    insert into workflow (name, version, scope, interval_ms) values (:name, 1, :scope, :interval_ms)
    on conflict (name) do nothing
"""
_NEXT = """
    update workflow
    set version = version + 1, scope = :scope, interval_ms = :interval_ms, problem = null, file_problem = null
    where name = :name and version = :seen
"""
_KEEP = """
    insert into workflow_version (workflow, version, digest, body, path)
    values (:name, :version, :digest, :body, :path)
"""
_RING = """
    insert into reconciler (workflow, list_requested_at) values (:name, stationkeeper_clock())
    on conflict (workflow) do update set list_requested_at = stationkeeper_clock()
"""
# The fleet's lock, the first in the order: nobody else puts a workflow in force while its neighbours are read.
LOCK_FLEET = "select one from installation for no key update"
_BESIDE = "select name, version from workflow where scope = :scope and name <> :name"
_SET_FILE_PROBLEM = """
    update workflow set file_problem = :problem
    from workflow_version found
    where found.workflow = workflow.name and found.version = workflow.version and found.path = :path
        and file_problem is distinct from :problem
"""
_SET_PROBLEM = """
    update workflow set problem = :problem where name = :name and problem is distinct from :problem
"""


class Workflows:
    """The room of the versions in force."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def publish(
        self, row: WorkflowRow, *, interval_ms: int, beside: Mapping[str, int] | None = None
    ) -> WorkflowRow | None:
        """Put a file in force as `row.version` + 1 by compare-and-set (0: the first); returns what is in force then.

        `beside` are the versions of the board's other workflows that it was judged against; None when these are others.
        """
        with self._database.transaction() as session:
            if beside is not None and _neighbours(session, row) != beside:
                return None
            if _put(session, row, interval_ms):
                session.change(
                    _KEEP, name=row.name, version=row.version + 1, digest=row.digest, body=row.body, path=row.path
                )
                session.change(_RING, name=row.name)
            found = session.row(_CURRENT, name=row.name)
        assert found is not None  # noqa: S101 -- it was there, or it is there now
        return workflow_row(found)

    def current(self, name: str) -> WorkflowRow | None:
        """The version in force."""
        found = self._database.row(_CURRENT, name=name)
        return workflow_row(found) if found is not None else None

    def all(self) -> tuple[WorkflowRow, ...]:
        """Every workflow of a board in force, by name; a flow has a row too, and no board."""
        return tuple(workflow_row(row) for row in self._database.rows(_ALL))

    def version(self, name: str, number: int) -> WorkflowRow:
        """A version that a turn was opened with. Raises LookupError when there never was one."""
        found = self._database.row(_VERSION, name=name, version=number)
        if found is None:
            raise LookupError(f"workflow {name} has no version {number}")
        return workflow_row(found)

    def set_file_problem(self, path: str, problem: str | None) -> bool:
        """Store what is wrong with the file that the version in force was read from; True when that changed."""
        return self._database.change(_SET_FILE_PROBLEM, path=path, problem=problem) > 0

    def set_problem(self, name: str, problem: str | None) -> bool:
        """Store what the board lacks for the workflow's contract; True when that changed."""
        return self._database.change(_SET_PROBLEM, name=name, problem=problem) == 1


def workflow_row(row: Row) -> WorkflowRow:
    """A version as the engine knows it."""
    return WorkflowRow(row.name, row.version, row.digest, row.body, row.path, row.scope, row.problem)


def _neighbours(session: Session, row: WorkflowRow) -> dict[str, int]:
    session.row(LOCK_FLEET)
    return {found.name: found.version for found in session.rows(_BESIDE, scope=row.scope, name=row.name)}


def _put(session: Session, row: WorkflowRow, interval_ms: int) -> bool:
    if row.version == 0:
        return session.change(_FIRST, name=row.name, scope=row.scope, interval_ms=interval_ms) == 1
    changed = session.change(_NEXT, name=row.name, scope=row.scope, interval_ms=interval_ms, seen=row.version)
    return changed == 1
