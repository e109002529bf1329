"""The workspaces that stand on the hosts' disks, as they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import UUID

from orchestrator.domain.tidy import Standing
from orchestrator.domain.writeback import Write
from orchestrator.ports.store.workflows import WorkflowRow


@dataclass(frozen=True, slots=True)
class Made:
    """A workspace as its turn prepared it; a removal goes by this, whatever the workflow says by then.

    `is_shared`: it stands in a root that every host sees, so any of them may go on in it or remove it.
    """

    host: str
    path: Path
    root: Path
    lock_path: Path
    repository: Path | None
    branch: str | None
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class Idle:
    """A workspace with which nothing is going on; `may_go`: a tick saw its card closed, and a worker was called.

    `is_due`: its card was not asked for by id lately. `host` is the only one that can remove it (None: any),
    `is_served` whether a worker of it takes turns now.
    """

    id: UUID
    item_id: str
    may_go: bool
    is_due: bool = True
    host: str | None = None
    is_served: bool = True


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """A workspace that stands. `turn_id`, `ordinal` and `fence` are those of the turn that was in it last."""

    id: UUID
    made: Made
    item_id: str
    identifier: str
    workflow: WorkflowRow
    turn_id: UUID
    ordinal: int
    fence: int
    standing: Standing


class WorkspaceStore(Protocol):
    """Where work lies, and where what was not finished is kept."""

    def shared_root(self, path: Path, root_id: str) -> str:
        """The id of the root that hosts share under this path: the first that was told, while work stands in it."""
        ...

    def idle(self, workflow: str) -> Sequence[Idle]:
        """The workspaces with which nothing is going on, the oldest first."""
        ...

    def asked(self, ids: Sequence[UUID], *, closed: Sequence[UUID], gone: Sequence[UUID]) -> None:
        """Remember that these were looked at just now. Closed cards' may go; missing twice is asked about no more."""
        ...

    def next(self, host: str) -> UUID | None:
        """The workspace that the host can reach and that has waited longest to be removed."""
        ...

    def leave(self, workspace_id: UUID) -> None:
        """It stays for now; a later tick may ask again."""
        ...

    def get(self, workspace_id: UUID) -> WorkspaceRow | None:
        """A workspace that stands, as our records show it now."""
        ...

    def keep(self, row: WorkspaceRow, kept: str, writes: Sequence[Write]) -> None:
        """Record where unfinished work was preserved, with what the card is told, in one transaction."""
        ...

    def removed(self, row: WorkspaceRow) -> None:
        """Record that it is gone."""
        ...
