"""`orchestrator status`: the fleet at a glance, from our records."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Annotated

import typer

from orchestrator.cli import output, records
from orchestrator.cli.output import Rows
from orchestrator.domain import hold as domain
from orchestrator.domain.hold import HoldKind, HoldScope, Lift
from orchestrator.store.views import HoldView, Overview, WorkflowView


def command(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """Show workflows, turns, what waits and why, holds, unsent writes and workers."""
    with records.reading() as queries:
        overview = queries.overview()
    if as_json:
        output.show_json(document(overview))
    else:
        output.show(*(table for table in tables(overview) if table.rows))


def document(overview: Overview) -> dict[str, object]:
    """Everything, for programs."""
    waits = [
        {"workflow": workflow, "reason": reason, "items": items} for (workflow, reason), items in overview.waits.items()
    ]
    return {**dataclasses.asdict(dataclasses.replace(overview, waits={})), "waits": waits}


def tables(overview: Overview) -> tuple[Rows, ...]:
    """What a person looks for, the most urgent last: a terminal shows the end."""
    return (
        _workers(overview),
        _warnings(overview),
        _workflows(overview),
        _waits(overview),
        _turns(overview),
        _retries(overview),
        _writes(overview),
        _holds(overview),
        _problems(overview),
    )


def _workers(overview: Overview) -> Rows:
    rows = [
        (
            *(each.host, each.pid, each.slots, each.busy, ago(each.seen_at, overview.now)),
            f"since {output.text(each.draining_at)}" if each.draining_at else "",
        )
        for each in overview.workers
    ]
    return Rows("workers", ("host", "pid", "slots", "busy", "seen", "draining"), rows)


def _workflows(overview: Overview) -> Rows:
    now = overview.now
    rows = [
        (
            *(_called(each), each.version, each.open_turns),
            *(ago(at, now) for at in (each.ticked_at, each.listed_at, each.whole_at)),
        )
        for each in overview.workflows
    ]
    return Rows("workflows", ("name", "version", "open turns", "last tick", "last listing", "whole board"), rows)


def _called(each: WorkflowView) -> str:
    return each.name if each.retired_at is None else f"{each.name} (retired, what runs finishes)"


def _problems(overview: Overview) -> Rows:
    """What is wrong with the board's states or the file, sentence by sentence; it heals by itself when that does."""
    rows = [
        *((each.name, "the board", each.problem) for each in overview.workflows if each.problem),
        *(
            (each.name, f"version {each.version} stays", each.file_problem)
            for each in overview.workflows
            if each.file_problem
        ),
        *(
            (each.name, f"rests until {output.text(each.rest_until)}", f"{each.rest_why}; one card is tried then")
            for each in overview.workflows
            if each.rest_until
        ),
    ]
    return Rows("problems", ("workflow", "where", "problem"), rows)


def _warnings(overview: Overview) -> Rows:
    """What is doubtful in the files in force, each with its line."""
    rows = [(each.name, warning) for each in overview.workflows for warning in each.warnings]
    return Rows("warnings", ("workflow", "what is doubtful in its file"), rows)


def _waits(overview: Overview) -> Rows:
    rows = [(workflow, reason, items) for (workflow, reason), items in overview.waits.items()]
    return Rows("waiting", ("workflow", "reason", "items"), rows)


def _turns(overview: Overview) -> Rows:
    rows = [
        (
            *(each.identifier, each.ordinal, each.fence, each.status, each.state, each.host, each.pid),
            ago(each.admitted_at or each.opened_at, overview.now),
        )
        for each in overview.turns
    ]
    return Rows("turns", ("item", "turn", "fence", "status", "column", "host", "pid", "since"), rows)


def _retries(overview: Overview) -> Rows:
    rows = [(each.identifier, each.due_at) for each in overview.retries]
    return Rows("tried again", ("item", "due"), rows)


def _writes(overview: Overview) -> Rows:
    rows = [
        (
            *(each.identifier, f"{each.kind} {each.act}", each.status, each.tries),
            ago(each.written_at, overview.now),
            each.detail,
        )
        for each in overview.writes
    ]
    return Rows("unsent writes", ("item", "write", "status", "tries", "since", "detail"), rows)


def _holds(overview: Overview) -> Rows:
    rows = [
        (
            each.identifier or each.workflow or each.scope,
            *(each.kind, each.reason, each.owner),
            ago(each.placed_at, overview.now),
            way_out(each),
        )
        for each in overview.holds
    ]
    return Rows("holds", ("on", "kind", "reason", "who is asked", "since", "way out"), rows)


def way_out(hold: HoldView) -> str:
    """What a person does about a hold, as it is typed."""
    name = hold.identifier or hold.workflow or ""
    return domain.way_out(HoldScope(hold.scope), HoldKind(hold.kind), Lift(hold.lift), name=name)


def ago(at: datetime | None, now: datetime) -> str:
    """How long before `now`, by the database's clock, in the unit that a person would use."""
    if at is None:
        return "never"
    seconds = max((now - at).total_seconds(), 0.0)
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"
