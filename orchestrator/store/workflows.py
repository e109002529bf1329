"""The workflows in force; a changed, valid file becomes the next version by compare-and-set on the version in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.ports.store import WorkflowRow
from orchestrator.store.database import Database, Row, Session

_VERSIONS = """
    select workflow.name, found.version, found.digest, found.body, found.path, workflow.scope, workflow.problem,
        workflow.retired_at is not null as retired
    from workflow join workflow_version found on found.workflow = workflow.name
"""
_CURRENT = f"{_VERSIONS} where workflow.name = :name and found.version = workflow.version"
_ALL = f"""{_VERSIONS}
    where found.version = workflow.version and workflow.retired_at is null
        and not starts_with(workflow.name, 'flow:') order by workflow.name"""
_VERSION = f"{_VERSIONS} where workflow.name = :name and found.version = :version"

_FIRST = """
    insert into workflow (name, version, scope, interval_ms) values (:name, 1, :scope, :interval_ms)
    on conflict (name) do nothing
"""
# What is open on a board is finished there: until then the workflow has no other. The row itself says whether a turn
# was opened while this statement waited for it.
_NEXT = """
    update workflow
    set version = version + 1, scope = :scope, interval_ms = :interval_ms, problem = null, file_problem = null,
        retired_at = null, warnings = array[]::text[]
    where name = :name and version = :seen
        and (scope = :scope or (open_turns = 0
            and not exists (select from task
                where task.workflow = :name and task.status not in ('succeeded', 'failed', 'cancelled'))
            and not exists (select from outbox
                where outbox.workflow = :name and outbox.status in ('pending', 'claimed', 'unknown'))))
"""
_KEEP_VERSION = """
    insert into workflow_version (workflow, version, digest, body, path)
    values (:name, :version, :digest, :body, :path)
"""
_RING = """
    insert into reconciler (workflow, list_requested_at) values (:name, stationkeeper_clock())
    on conflict (workflow) do update set list_requested_at = stationkeeper_clock()
"""
# The fleet's lock, the first in the order: nobody else puts a workflow in force while its neighbours are read.
LOCK_FLEET = "select one from installation for no key update"
_BESIDE = "select name, version from workflow where scope = :scope and retired_at is null and name <> all(:names)"
# Its row, its turns and its versions stay; what was wrong with it concerns nobody any more. The reasons of its cards go
# with its next tick: a tick may be about to write them now.
_RETIRE = """
    update workflow set retired_at = stationkeeper_clock(), problem = null, file_problem = null
    where name = :name and retired_at is null and version = coalesce(cast(:version as integer), version)
    returning name
"""
_SET_WARNINGS = """
    update workflow set warnings = :warnings
    where name = :name and version = :version and warnings is distinct from cast(:warnings as text[])
"""
_SET_FILE_PROBLEM = """
    update workflow set file_problem = :problem
    from workflow_version found
    where found.workflow = workflow.name and found.version = workflow.version and found.path = :path
        and workflow.version = coalesce(cast(:version as integer), workflow.version) and workflow.retired_at is null
        and file_problem is distinct from :problem
"""
# A tick that read the board for an older contract says nothing of the one in force.
_SET_PROBLEM = """
    update workflow set problem = :problem
    where name = :name and version = :version and retired_at is null and problem is distinct from :problem
"""


class _Overtaken(Exception):
    """Leaves the transaction, which is rolled back: somebody else changed the workflow that was to be replaced."""


class Workflows:
    """The room of the versions in force."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def publish(
        self,
        row: WorkflowRow,
        *,
        interval_ms: int,
        beside: Mapping[str, int] | None = None,
        instead_of: WorkflowRow | None = None,
    ) -> WorkflowRow | None:
        """Put a file in force as `row.version` + 1 by compare-and-set (0: the first); returns what is in force then.

        `beside` are the versions of the board's other workflows that it was judged against; None when these are others.
        `instead_of` is the workflow that the file was until now: it is retired in the same commit, and None is the
        answer when another version of it is in force. A file about another board leaves the row as it is while
        anything is open on the old one.
        """
        try:
            with self._database.transaction() as session:
                if beside is not None and _neighbours(session, row, instead_of) != beside:
                    return None
                if _put(session, row, interval_ms):
                    _keep(session, row, instead_of)
                found = session.row(_CURRENT, name=row.name)
        except _Overtaken:
            return None
        assert found is not None  # noqa: S101 -- it was there, or it is there now
        return workflow_row(found)

    def retire(self, name: str) -> bool:
        """Let a workflow go: nothing new starts, running turns finish; False when it is not in force."""
        with self._database.transaction() as session:
            session.row(LOCK_FLEET)
            retired = session.row(_RETIRE, name=name, version=None) is not None
            if retired:
                session.change(_RING, name=name)
        return retired

    def current(self, name: str) -> WorkflowRow | None:
        """The version in force, or the last one of a workflow that is retired."""
        found = self._database.row(_CURRENT, name=name)
        return workflow_row(found) if found is not None else None

    def all(self) -> tuple[WorkflowRow, ...]:
        """Every workflow in force that has a board, by name; those that are retired are not."""
        return tuple(workflow_row(row) for row in self._database.rows(_ALL))

    def version(self, name: str, number: int) -> WorkflowRow:
        """A version that a turn was opened with. Raises LookupError when there never was one."""
        found = self._database.row(_VERSION, name=name, version=number)
        if found is None:
            raise LookupError(f"workflow {name} has no version {number}")
        return workflow_row(found)

    def set_file_problem(self, path: str, problem: str | None, *, version: int | None = None) -> bool:
        """Store what is wrong with the file that `version` in force was read from (None: whichever is).

        True when that changed; a complaint about an older version changes nothing.
        """
        return self._database.change(_SET_FILE_PROBLEM, path=path, problem=problem, version=version) > 0

    def set_warnings(self, name: str, warnings: Sequence[str], *, version: int) -> bool:
        """Store what is doubtful in the file of this version; True when that changed."""
        return self._database.change(_SET_WARNINGS, name=name, warnings=list(warnings), version=version) == 1

    def set_problem(self, name: str, problem: str | None, *, version: int) -> bool:
        """Store what the board lacks for this version of the workflow's contract; True when that changed."""
        return self._database.change(_SET_PROBLEM, name=name, problem=problem, version=version) == 1


def workflow_row(row: Row) -> WorkflowRow:
    """A version as the engine knows it."""
    return WorkflowRow(row.name, row.version, row.digest, row.body, row.path, row.scope, row.problem, row.retired)


def _neighbours(session: Session, row: WorkflowRow, instead_of: WorkflowRow | None) -> dict[str, int]:
    session.row(LOCK_FLEET)
    names = [row.name, *([instead_of.name] if instead_of is not None else [])]
    return {found.name: found.version for found in session.rows(_BESIDE, scope=row.scope, names=names)}


def _put(session: Session, row: WorkflowRow, interval_ms: int) -> bool:
    if row.version == 0:
        return session.change(_FIRST, name=row.name, scope=row.scope, interval_ms=interval_ms) == 1
    changed = session.change(_NEXT, name=row.name, scope=row.scope, interval_ms=interval_ms, seen=row.version)
    return changed == 1


def _keep(session: Session, row: WorkflowRow, instead_of: WorkflowRow | None) -> None:
    session.change(
        _KEEP_VERSION, name=row.name, version=row.version + 1, digest=row.digest, body=row.body, path=row.path
    )
    session.change(_RING, name=row.name)
    if instead_of is None:
        return
    if session.row(_RETIRE, name=instead_of.name, version=instead_of.version) is None:
        raise _Overtaken
    session.change(_RING, name=instead_of.name)
