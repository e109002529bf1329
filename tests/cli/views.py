"""Records as a person might meet them, for tests of what is said about them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from orchestrator.store.views import (
    Explanation,
    HoldView,
    ItemView,
    TaskView,
    TurnView,
    WaitView,
    WorkflowView,
    WorkspaceView,
    WriteView,
)

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def before(seconds: float) -> datetime:
    """So long before `NOW`."""
    return NOW - timedelta(seconds=seconds)


ITEM = ItemView(
    1, "board", "BACK-7", "BACK-7", "demo", "In Progress", 3, 2, 1, 1, 1, None, 0, None, "ship", "workspaces/BACK-7"
)
RUNNING = TurnView(
    id=UUID(int=2),
    workflow="demo",
    workflow_version=1,
    item_id="BACK-7",
    identifier="BACK-7",
    ordinal=2,
    fence=2,
    status="running",
    state="To Do",
    attempt=2,
    opened_at=before(100),
    enqueued_at=before(100),
    admitted_at=before(90),
    ended_at=None,
    lease_until=before(-20),
    host="ship",
    pid=77,
    cancel=None,
    stop_reason=None,
    summary=None,
    death=None,
    session=None,
    transcript="turns/2/transcript.log",
    usage=None,
)
QUEUED = replace(RUNNING, status="queued", admitted_at=None, host=None, pid=None)
LOST = replace(
    RUNNING,
    id=UUID(int=1),
    ordinal=1,
    fence=1,
    status="lost",
    ended_at=before(200),
    stop_reason="lost_worker",
    death="lease",
)
HOLD = HoldView(
    UUID(int=3), "item", "demo", "BACK-7", "blocked", "person", "needs a key", "a person", None, before(60), None, None
)
WRITE = WriteView(
    1, "demo", "BACK-7", 1, "started", "move", "in_progress", "pending", 2, before(30), None, None, None, "no answer"
)
WAIT = WaitView("demo", "BACK-7", "BACK-7", "blocked_by", "BACK-6", before(600))
TASK = TaskView(UUID(int=4), "demo", "BACK-7", "running", before(-30), None, before(500), None)
WORKFLOW = WorkflowView(
    *("demo", 3, "backlog:/board", "WORKFLOW.md", 30_000, None, None, 0, before(5), before(9)),
    ticking=False,
    report=None,
)
ROOM = WorkspaceView("ship", "/rooms/BACK-7", "work/BACK-7", None, before(90), None)
EMPTY = Explanation(NOW, "BACK-7", ITEM, None, None, None, (), (), ())
