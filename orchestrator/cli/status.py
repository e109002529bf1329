"""`orchestrator status`: the fleet at a glance, from our records."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Annotated

import typer

from orchestrator.cli import output, records
from orchestrator.cli.output import Rows
from orchestrator.store.views import Overview


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
    now = overview.now
    return (
        Rows(
            "workers",
            ("host", "pid", "slots", "busy", "seen"),
            [(each.host, each.pid, each.slots, each.busy, ago(each.seen_at, now)) for each in overview.workers],
        ),
        Rows(
            "workflows",
            ("name", "version", "open turns", "last tick", "last listing", "problem"),
            [
                (
                    each.name,
                    each.version,
                    each.open_turns,
                    ago(each.ticked_at, now),
                    ago(each.listed_at, now),
                    each.problem,
                )
                for each in overview.workflows
            ],
        ),
        Rows(
            "waiting",
            ("workflow", "reason", "items"),
            [(workflow, reason, items) for (workflow, reason), items in overview.waits.items()],
        ),
        Rows(
            "turns",
            ("item", "turn", "fence", "status", "column", "host", "pid", "since"),
            [
                (
                    each.identifier,
                    each.ordinal,
                    each.fence,
                    each.status,
                    each.state,
                    each.host,
                    each.pid,
                    _began(each, now),
                )
                for each in overview.turns
            ],
        ),
        Rows(
            "tried again",
            ("item", "due", "after"),
            [(each.identifier, each.due_at, each.stop_reason) for each in overview.retries],
        ),
        Rows(
            "unsent writes",
            ("item", "write", "status", "tries", "since", "detail"),
            [
                (
                    each.identifier,
                    f"{each.kind} {each.act}",
                    each.status,
                    each.tries,
                    ago(each.written_at, now),
                    each.detail,
                )
                for each in overview.writes
            ],
        ),
        Rows(
            "holds",
            ("on", "kind", "reason", "lifted by", "since"),
            [
                (
                    each.identifier or each.workflow or each.scope,
                    each.kind,
                    each.reason,
                    each.lift,
                    ago(each.placed_at, now),
                )
                for each in overview.holds
            ],
        ),
    )


def ago(at: datetime | None, now: datetime) -> str:
    """How long before `now`, by the database's clock, in the unit that a person would use."""
    if at is None:
        return "never"
    seconds = max((now - at).total_seconds(), 0.0)
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def _began(turn, now: datetime) -> str:  # type: ignore[no-untyped-def]
    return ago(turn.admitted_at or turn.opened_at, now)
