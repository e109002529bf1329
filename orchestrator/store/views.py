"""What a person is shown of our records: plain values, one a row, with times as the database's clock told them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class WorkflowView:
    """A workflow with its last tick: when it began, whether it still runs, what it reported.

    `retired_at` is when a person let it go; it is shown for as long as something of it is open. `whole_at` is when the
    last look at the whole board began that came to its end; `warnings` are what is doubtful in its file.
    """

    name: str
    version: int
    scope: str
    path: str
    interval_ms: int
    problem: str | None
    file_problem: str | None
    open_turns: int
    ticked_at: datetime | None
    listed_at: datetime | None
    ticking: bool
    report: Mapping[str, object] | None
    retired_at: datetime | None = None
    rest_until: datetime | None = None
    rest_why: str | None = None
    whole_at: datetime | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn. `death` says how the end of its worker was learnt."""

    id: UUID
    workflow: str
    workflow_version: int
    item_id: str
    identifier: str
    ordinal: int
    fence: int
    status: str
    state: str
    attempt: int | None
    opened_at: datetime
    enqueued_at: datetime | None
    admitted_at: datetime | None
    ended_at: datetime | None
    lease_until: datetime | None
    host: str | None
    pid: int | None
    cancel: str | None
    stop_reason: str | None
    summary: str | None
    death: str | None
    session: str | None
    transcript: str | None
    usage: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task; `due_at` is when it wants its next turn."""

    id: UUID
    workflow: str
    identifier: str
    status: str
    due_at: datetime | None
    stop_reason: str | None
    opened_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class HoldView:
    """A hold; `identifier` is None when it stands on a workflow or the fleet."""

    id: UUID
    scope: str
    workflow: str | None
    identifier: str | None
    kind: str
    lift: str
    reason: str
    owner: str
    until: datetime | None
    placed_at: datetime
    lifted_at: datetime | None
    lifted_by: str | None
    lifted_reason: str | None = None
    placed_by: str | None = None


@dataclass(frozen=True, slots=True)
class WriteView:
    """A row of the outbox; `what` is the role that a move goes to, or a comment's text."""

    id: int
    workflow: str
    identifier: str
    seq: int
    kind: str
    act: str
    what: str
    status: str
    tries: int
    written_at: datetime
    due_at: datetime | None
    settled_at: datetime | None
    state: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class AuditView:
    """One attempt to write on a card, or a write that never came to one.

    `before` and `after` are states of a move, texts of a comment; nothing after: nothing was written by this attempt.
    """

    at: datetime
    workflow: str
    identifier: str
    kind: str
    act: str
    key: str
    fence: int | None
    before: str | None
    after: str | None
    outcome: str
    detail: str | None


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker as it told of itself last."""

    id: UUID
    host: str
    pid: int
    slots: int
    busy: int
    queues: tuple[str, ...]
    started_at: datetime
    seen_at: datetime
    draining_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class WaitView:
    """Why an item was left out by the last tick that looked at it, and since when."""

    workflow: str
    item_id: str
    identifier: str
    reason: str
    detail: str
    since: datetime


@dataclass(frozen=True, slots=True)
class ItemView:
    """An item's row."""

    key: int
    scope: str
    item_id: str
    identifier: str
    workflow: str
    state: str
    version: int
    fence: int
    attempt: int
    turns_in_row: int
    sessions: int
    session: str | None
    absences: int
    moved_at: datetime | None
    host: str | None
    workspace: str | None


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of a turn."""

    turn_id: UUID
    ordinal: int
    name: str
    output: Mapping[str, object]
    at: datetime


@dataclass(frozen=True, slots=True)
class LineView:
    """A line of the history."""

    at: datetime
    kind: str
    detail: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class WorkspaceView:
    """A workspace of an item: where it stands or stood, and where unfinished work of it is kept."""

    host: str
    path: str
    branch: str | None
    kept: str | None
    prepared_at: datetime
    removed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Overview:
    """The whole fleet at `now`. `waits` counts the items left out, by workflow and reason.

    `cancels` are the seconds from each cancel of the last day to the confirmed end of its turn.
    """

    now: datetime
    workflows: tuple[WorkflowView, ...]
    turns: tuple[TurnView, ...]
    retries: tuple[TaskView, ...]
    holds: tuple[HoldView, ...]
    writes: tuple[WriteView, ...]
    workers: tuple[WorkerView, ...]
    waits: Mapping[tuple[str, str], int]
    cancels: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an item is where it is, at `now`. `item` is None when no turn of it was ever opened.

    `problem` is what the board lacks for its workflow; `retired` says that a person let that go. `whole_at` is when the
    last look at its whole board began that came to its end.
    """

    now: datetime
    identifier: str
    item: ItemView | None
    wait: WaitView | None
    task: TaskView | None
    turn: TurnView | None
    holds: tuple[HoldView, ...]
    writes: tuple[WriteView, ...]
    turns: tuple[TurnView, ...]
    problem: str | None = None
    retired: bool = False
    whole_at: datetime | None = None
    workspaces: tuple[WorkspaceView, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """Everything that happened to an item, oldest first."""

    item: ItemView
    turns: tuple[TurnView, ...]
    steps: tuple[StepView, ...]
    writes: tuple[WriteView, ...]
    holds: tuple[HoldView, ...]
    lines: tuple[LineView, ...]
