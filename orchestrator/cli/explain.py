"""`orchestrator explain KEY`: why a card is where it is. From stored records, also with the tracker down."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated

import typer

from orchestrator.cli import output, records
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.cli.status import ago, way_out
from orchestrator.domain.select import NotDispatched
from orchestrator.store.views import (
    Explanation,
    HoldView,
    TaskView,
    TurnView,
    WaitView,
    WorkflowView,
    WorkspaceView,
    WriteView,
)


def command(
    key: Annotated[str, typer.Argument(help="A card's identifier or id, say BACK-12.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """Say why a card is where it is, and what would change that."""
    with records.reading() as queries:
        explanations = queries.explain(key)
        if not explanations:
            now, boards = queries.boards()
            raise Trouble(Exit.BROKEN, unseen(key, boards, now))
    if as_json:
        output.show_json([dataclasses.asdict(explanation) for explanation in explanations])
        return
    for explanation in explanations:
        for sentence in sentences(explanation):
            typer.echo(sentence)


def unseen(key: str, boards: Sequence[WorkflowView], now: datetime) -> str:
    """What to say of a card that no record bears: which boards it is not on, as of when each was read whole."""
    lines = [f"{key}: no record of it; expected the identifier or id of a card, say BACK-12"]
    for each in boards:
        if each.whole_at is None:
            lines.append(f"  {each.name}: its board {each.scope} was not read whole yet; ask again in a while")
        else:
            at = f"{output.text(each.whole_at)} ({ago(each.whole_at, now)})"
            lines.append(f"  {each.name}: it was not on the board {each.scope} as of {at}")
    if not boards:
        lines.append("  no workflow is in force: nobody has looked at any board")
    return "\n".join(lines)


def sentences(told: Explanation) -> Iterator[str]:
    """The strongest reason first: a turn that is open, a hold, a write that is not settled, a wait; then the past."""
    yield f"{told.identifier}: {_where(told)}"
    if told.turn is not None:
        yield f"  {_open(told.turn, told)}"
    for hold in told.holds:
        yield f"  {_held(hold, told)}"
    yield from _workflow(told)
    for write in told.writes:
        yield f"  {_unsent(write, told)}"
    if told.wait is not None and told.turn is None:
        yield f"  {_waiting(told.wait, told)}"
    if told.task is not None and told.turn is None:
        yield f"  {_task(told.task)}"
    for workspace in told.workspaces:
        yield f"  {_workspace(workspace, told)}"
    for turn in reversed(told.turns):
        if turn.ended_at is not None:
            yield f"  {_ended(turn, told)}"


def _workflow(told: Explanation) -> Iterator[str]:
    if told.problem is not None:
        yield f"  nothing of its workflow starts until the board is whole again: {told.problem}"
    if told.retired:
        yield "  its workflow is retired: nothing of it starts until its file is edited, or `up` starts with it"


def _where(told: Explanation) -> str:
    if told.item is None or not told.item.state:
        return "no turn of it was ever opened"
    return f"last seen in {told.item.state!r}, workflow {told.item.workflow}"


def _open(turn: TurnView, told: Explanation) -> str:
    name = f"turn {turn.ordinal} (fence {turn.fence})"
    if turn.status == "queued":
        return f"{name} was queued {ago(turn.opened_at, told.now)}, and no worker has it yet"
    stopping = f"; it is being stopped: {turn.cancel}" if turn.cancel else ""
    return f"{name} is running on {turn.host}, begun {ago(turn.admitted_at, told.now)}{stopping}"


def _held(hold: HoldView, told: Explanation) -> str:
    until = f" at {output.text(hold.until)}" if hold.until else ""
    on = "it" if hold.identifier else hold.workflow or "the fleet"
    placed = f"a hold stands on {on} ({hold.kind}, placed {ago(hold.placed_at, told.now)})"
    lifted = f"lifted by {hold.lift}{until}; who is asked: {hold.owner}; the way out: {way_out(hold)}"
    return f"{placed}: {hold.reason}; {lifted}"


def _unsent(write: WriteView, told: Explanation) -> str:
    why = f": {write.detail}" if write.detail else ""
    written = f"a {write.act} ({write.kind}) written {ago(write.written_at, told.now)}"
    return f"{written} is {write.status}, tried {write.tries} times{why}"


def _waiting(wait: WaitView, told: Explanation) -> str:
    detail = f" ({wait.detail})" if wait.detail else ""
    elsewhere = wait.reason == NotDispatched.NOT_ACTIVE.value and told.whole_at is not None
    read = f"; its whole board was read last {ago(told.whole_at, told.now)}" if elsewhere else ""
    return f"the last tick left it out: {wait.reason}{detail}, since {ago(wait.since, told.now)}{read}"


def _task(task: TaskView) -> str:
    if task.ended_at is not None:
        return f"its task ended {task.status} ({task.stop_reason}) at {output.text(task.ended_at)}"
    due = f"due at {output.text(task.due_at)}" if task.due_at else "waiting for the tick"
    return f"its task is {task.status}, the next turn {due}"


def _workspace(workspace: WorkspaceView, told: Explanation) -> str:
    on = f" on branch {workspace.branch}" if workspace.branch else ""
    kept = f"; unfinished work is kept: {workspace.kept}" if workspace.kept else ""
    if workspace.removed_at is not None:
        return f"its workspace on {workspace.host} was removed {ago(workspace.removed_at, told.now)}{kept}"
    return f"its workspace is {workspace.path} on {workspace.host}{on}{kept}"


def _ended(turn: TurnView, told: Explanation) -> str:
    death = f", known by {turn.death}" if turn.death else ""
    summary = f": {output.text(turn.summary)}" if turn.summary else ""
    return (
        f"turn {turn.ordinal} ended {turn.status} ({turn.stop_reason}{death}) {ago(turn.ended_at, told.now)}{summary}"
    )
