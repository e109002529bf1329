"""The room of the workspaces: where each stands, what was preserved of it, when it went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import UUID

from orchestrator.domain.tidy import Standing
from orchestrator.domain.turn import TurnStatus
from orchestrator.domain.writeback import Write
from orchestrator.ports.store import Idle, Made, WorkflowRow, WorkspaceRow
from orchestrator.store import history, writes
from orchestrator.store.database import Database, Row
from orchestrator.store.workers import SEEN_WITHIN_SECONDS

# A card in review may stay there for weeks: where no listing shows it, it is asked about every few minutes only.
_ASK_AGAIN_SECONDS = 300

# One folder is one row, whichever host a turn came from; no host can be called so.
SHARED = "(shared)"

# For a statement that gives the turn a step: what its turn prepared, a fact whoever brings it. Where the item lives now
# is its newest turn's to say. An agent is about to begin: nobody knows any more that all is pushed.
MADE = """told as (
        update item
        set host = case when turn.fence = item.fence then cast(:home as text) else item.host end,
            workspace = case when turn.fence = item.fence then :path else item.workspace end
        from turn where turn.id = :turn_id and item.key = turn.item_key
        returning item.key, turn.workflow
    ), made as (
        insert into workspace (host, path, root, item_key, workflow, lock_path, repository, branch, turn_id, shared)
        select :host, :path, :root, told.key, told.workflow, :lock_path, :repository, :branch, :turn_id, :shared
        from told
        on conflict (host, path) do update
        set root = excluded.root, item_key = excluded.item_key, workflow = excluded.workflow,
            lock_path = excluded.lock_path, repository = excluded.repository, branch = excluded.branch,
            turn_id = excluded.turn_id, prepared_at = stationkeeper_clock(), asked_at = null, may_go = false,
            removed_at = null, shared = excluded.shared, settled = false,
            kept = case when workspace.removed_at is null then workspace.kept end
    )"""
_BUSY = """(
        exists (select from turn open where open.item_key = item.key and open.status in ('queued', 'running'))
        or exists (select from task where task.item_key = item.key
            and task.status not in ('succeeded', 'failed', 'cancelled'))
        or exists (select from outbox where outbox.item_key = item.key and outbox.act = 'move'
            and outbox.status in ('pending', 'claimed', 'unknown')))"""
_IDLE = f"""
    select workspace.id, item.item_id, workspace.may_go, case when not workspace.shared then workspace.host end as host,
        workspace.shared or exists (
            select from worker
            where worker.host = workspace.host and 'turns' = any(worker.queues)
                and worker.seen_at > stationkeeper_now() - make_interval(secs => :seen_within)) as served,
        coalesce(workspace.asked_at, '-infinity') < stationkeeper_now() - make_interval(secs => :again) as due
    from workspace join item on item.key = workspace.item_key
    where item.workflow = :workflow and workspace.removed_at is null and not {_BUSY}
    order by workspace.prepared_at
"""
# A card that is missing twice in a row is asked about no more: its workspace stays for a person to look at.
_ASKED = """
    update workspace
    set may_go = id = any(:closed), asked_at = case
        when id = any(:gone) and asked_at is not null then 'infinity' else stationkeeper_clock() end
    where id = any(:ids)
"""
_NEXT = """
    select id from workspace where (host = :host or shared) and may_go and removed_at is null
    order by prepared_at limit 1
"""
_LEAVE = "update workspace set may_go = false where id = :id"
# The newest turn of the item is the last that may have been in it: the one that prepared it, or one that never began.
_GET = f"""
    select workspace.id, workspace.host, workspace.path, workspace.root, workspace.lock_path, workspace.repository,
        workspace.branch, workspace.shared, workspace.turn_id, turn.host as last_host,
        item.item_id, item.identifier, turn.ordinal, turn.fence, turn.status, turn.death, turn.boot_id,
        {_BUSY} as busy, stationkeeper_held(item.key, item.workflow) is not null as held,
        workflow.name, workflow.version, workflow.scope, workflow.problem, version.digest, version.body,
        version.path as source
    from workspace
    join item on item.key = workspace.item_key
    join turn on turn.id = workspace.turn_id
    join workflow on workflow.name = item.workflow
    join workflow_version version on version.workflow = workflow.name and version.version = workflow.version
    where workspace.id = :id and workspace.removed_at is null
"""
# The first host that uses a root says which it is. Once nothing stands in it, it may be another disk.
_SHARED_ROOT = """
    insert into shared_root as known (path, id) values (:path, :root_id)
    on conflict (path) do update
    set id = case when exists (
            select from workspace where workspace.root = :path and shared and removed_at is null)
        then known.id else excluded.id end
    returning id
"""
_ITEM = "select item_key from workspace where id = :id"
_LOCK_ITEM = "select key from item where key = :item_key for no key update"
_KEEP = "update workspace set kept = :kept where id = :id"
_REMOVED = "update workspace set removed_at = stationkeeper_clock() where id = :id"


class WorkspaceRoom:
    """The room of the workspaces."""

    def __init__(self, slow: Database) -> None:
        self._slow = slow

    def shared_root(self, path: Path, root_id: str) -> str:
        """The id of the root that hosts share under this path."""
        row = self._slow.row(_SHARED_ROOT, path=str(path), root_id=root_id)
        assert row is not None  # noqa: S101 -- it was put there or found
        return str(row.id)

    def idle(self, workflow: str) -> Sequence[Idle]:
        """The workspaces with which nothing is going on."""
        rows = self._slow.rows(_IDLE, workflow=workflow, again=_ASK_AGAIN_SECONDS, seen_within=SEEN_WITHIN_SECONDS)
        return [Idle(row.id, row.item_id, row.may_go, row.due, row.host, row.served) for row in rows]

    def asked(self, ids: Sequence[UUID], *, closed: Sequence[UUID], gone: Sequence[UUID]) -> None:
        """Remember that these were looked at just now, and that the cards of some are closed or missing."""
        self._slow.change(_ASKED, ids=list(ids), closed=list(closed), gone=list(gone))

    def next(self, host: str) -> UUID | None:
        """The workspace on the host that has waited longest to be removed."""
        row = self._slow.row(_NEXT, host=host)
        return None if row is None else row.id

    def leave(self, workspace_id: UUID) -> None:
        """It stays for now; a later tick may ask again."""
        self._slow.change(_LEAVE, id=workspace_id)

    def get(self, workspace_id: UUID) -> WorkspaceRow | None:
        """A workspace that stands."""
        row = self._slow.row(_GET, id=workspace_id)
        return None if row is None else _row(row)

    def keep(self, row: WorkspaceRow, kept: str, told: Sequence[Write]) -> None:
        """Record where unfinished work was preserved, and tell the card."""
        with self._slow.transaction() as session:
            found = session.row(_ITEM, id=row.id)
            assert found is not None  # noqa: S101 -- a workspace's row is never deleted
            session.row(_LOCK_ITEM, item_key=found.item_key)
            session.change(_KEEP, id=row.id, kept=kept)
            writes.put(session, told, turn_id=row.turn_id)
            said = {"path": str(row.made.path), "kept": kept, "turn": row.ordinal}
            history.note(session, "work_kept", item_key=found.item_key, workflow=row.workflow.name, **said)

    def removed(self, row: WorkspaceRow) -> None:
        """Record that it is gone."""
        with self._slow.transaction() as session:
            found = session.row(_ITEM, id=row.id)
            assert found is not None  # noqa: S101 -- a workspace's row is never deleted
            session.change(_REMOVED, id=row.id)
            said = {"path": str(row.made.path), "host": row.made.host}
            history.note(session, "workspace_removed", item_key=found.item_key, workflow=row.workflow.name, **said)


def _row(row: Row) -> WorkspaceRow:
    return WorkspaceRow(
        id=row.id,
        made=Made(
            host=row.host,
            path=Path(row.path),
            root=Path(row.root),
            lock_path=Path(row.lock_path),
            repository=Path(row.repository) if row.repository else None,
            branch=row.branch,
            is_shared=row.shared,
        ),
        item_id=row.item_id,
        identifier=row.identifier,
        workflow=WorkflowRow(row.name, row.version, row.digest, row.body, row.source, row.scope, row.problem),
        turn_id=row.turn_id,
        ordinal=row.ordinal,
        fence=row.fence,
        standing=Standing(
            is_busy=row.busy,
            is_held=row.held,
            status=TurnStatus(row.status),
            death=row.death,
            boot_id=row.boot_id,
            host=row.last_host,
        ),
    )


def values(made: Made) -> Mapping[str, object]:
    """What `MADE` is told of a workspace."""
    return {
        "host": SHARED if made.is_shared else made.host,
        "path": str(made.path),
        "root": str(made.root),
        "lock_path": str(made.lock_path),
        "repository": str(made.repository) if made.repository else None,
        "branch": made.branch,
        "shared": made.is_shared,
        "home": None if made.is_shared else made.host,
    }
