"""Takes away the workspaces of closed cards: the tick marks them, a worker of their host looks again and acts.

What would be lost is preserved first, and the card is told where. A removal that fails is told and tried again later.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

from orchestrator import telemetry
from orchestrator.domain import keys, notes, tidy
from orchestrator.domain.item import Item
from orchestrator.domain.records import Board
from orchestrator.domain.workflow import Hook, Workflow
from orchestrator.domain.writeback import Comment, Write, WriteKind
from orchestrator.engine.worker import Worker
from orchestrator.ports import Ports
from orchestrator.ports.hooks import HookOrder
from orchestrator.ports.queue import PublishFailed
from orchestrator.ports.store import Idle, TickGrant, WorkspaceRow
from orchestrator.ports.tracker import TrackerError
from orchestrator.ports.workflows import WorkflowInvalid
from orchestrator.ports.workspaces import WorkspaceBusy, WorkspaceFailed


def look(ports: Ports, grant: TickGrant, *, workflow: Workflow, board: Board) -> None:
    """Mark the workspaces whose cards are closed, of those with which nothing is going on, and call a worker.

    A card that the listing shows costs nothing to look at; one that it does not show is read by id now and then.
    """
    idle = ports.store.workspaces.idle(grant.workflow)
    fresh = [each for each in idle if not each.may_go]
    unseen = [each for each in fresh if each.is_due and each.item_id not in board.items]
    wanted = sorted({each.item_id for each in unseen})
    try:
        items = {**board.items, **ports.tracker(workflow).get_items(wanted)} if wanted else board.items
        closed = [each.id for each in fresh if _is_closed(items.get(each.item_id), workflow)]
        told = {*closed, *(each.id for each in unseen)}
        if told:
            gone = [each.id for each in unseen if each.item_id not in items]
            ports.store.workspaces.asked(sorted(told), closed=closed, gone=gone)
        for host in _hosts_to_call(idle, closed):
            ports.queue.tidy(host)
    except (TrackerError, PublishFailed) as error:
        telemetry.service_failed("tracker or redis", error=error)


def _hosts_to_call(idle: Sequence[Idle], closed: Sequence[UUID]) -> Sequence[str | None]:
    """Whose workers have something to remove; a hint for a host that takes none would only lie there."""
    wanted = {each.host for each in idle if each.is_served and (each.may_go or each.id in closed)}
    return sorted(wanted, key=str)


def _is_closed(item: Item | None, workflow: Workflow) -> bool:
    return item is not None and workflow.contract.is_terminal(item.state)


def tidy_all(ports: Ports, worker: Worker) -> int:
    """Remove what may go on this host, one after the other; returns how many went."""
    gone = 0
    while (workspace_id := ports.store.workspaces.next(worker.identity.host)) is not None:
        if tidy_up(ports, worker, workspace_id):
            gone += 1
        else:
            ports.store.workspaces.leave(workspace_id)
    return gone


def tidy_up(ports: Ports, worker: Worker, workspace_id: UUID) -> bool:
    """Preserve what is unfinished in it, and remove it, if it may go; whether it is gone."""
    row = ports.store.workspaces.get(workspace_id)
    if row is None or not (row.made.is_shared or row.made.host == worker.identity.host):
        return False
    try:
        with ports.workspaces.closed(row.made):
            return _remove(ports, worker, workspace_id)
    except WorkspaceBusy:
        return False
    except (WorkspaceFailed, TrackerError, WorkflowInvalid) as fault:
        telemetry.workspace_stays(row.identifier, path=row.made.path, why=str(fault))
        return False


def _remove(ports: Ports, worker: Worker, workspace_id: UUID) -> bool:
    """With the lock in hand: what our records and the board say now, not what the tick saw."""
    row = ports.store.workspaces.get(workspace_id)
    if row is None:
        return False
    workflow = ports.workflows.parse(row.workflow.body, path=row.workflow.source())
    item = ports.tracker(workflow).get_items([row.item_id]).get(row.item_id)
    # Of a turn on another host, in a root that all share, only its owner or its supervisor can say that it has ended.
    is_here = row.standing.host in {None, worker.identity.host}
    alive = not is_here or ports.supervisor().has_processes(row.turn_id)
    boot_id = worker.identity.boot_id if is_here else row.standing.boot_id or ""
    why = tidy.why_kept(row.standing, item, workflow.contract, boot_id=boot_id, has_processes=alive)
    if why is not None:
        telemetry.workspace_stays(row.identifier, path=row.made.path, why=why)
        return False
    _preserve(ports, worker, row, ignored=workflow.workspace.keep_ignored)
    _farewell(ports, worker, row=row, workflow=workflow)
    ports.workspaces.remove(row.made)
    ports.store.workspaces.removed(row)
    telemetry.workspace_removed(row.identifier, path=row.made.path)
    return True


def _preserve(ports: Ports, worker: Worker, row: WorkspaceRow, *, ignored: Sequence[str]) -> None:
    name = f"{keys.workspace_key(row.identifier)}/{row.ordinal}"
    where = ports.workspaces.preserve(row.made, name, worker.state_dir / "kept", ignored=ignored)
    if where is None:
        return
    body = notes.kept(row.ordinal, where=where, branch=row.made.branch)
    told = Write(WriteKind.KEPT, Comment(keys.status_comment_key(ports.store.installation), body))
    ports.store.workspaces.keep(row, where, (told,))


def _farewell(ports: Ports, worker: Worker, *, row: WorkspaceRow, workflow: Workflow) -> None:
    """`before_remove`: whatever becomes of it, the removal goes on. The lock is ours already."""
    command = workflow.hooks.commands.get(Hook.BEFORE_REMOVE)
    if command is None:
        return
    order = HookOrder(
        hook=Hook.BEFORE_REMOVE,
        command=command,
        turn_id=uuid4(),
        fence=row.fence,
        issue_id=row.item_id,
        identifier=row.identifier,
        attempt=1,
        workspace=row.made.path,
        output=worker.state_dir / "turns" / str(row.turn_id) / f"{Hook.BEFORE_REMOVE.value}.log",
        timeout_seconds=workflow.hooks.timeout_ms / 1000,
        env=workflow.hooks.env,
    )
    end = ports.hooks.run(order, ports.supervisor())
    if end.stop is not None:
        telemetry.hook_failed(row.identifier, hook=order.hook.value, how=end.how, output=end.output)
