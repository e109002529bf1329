"""`orchestrator history KEY`: everything that happened to a card, oldest first, with each turn's transcript."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

import typer

from orchestrator.cli import output, records
from orchestrator.cli.output import Rows
from orchestrator.store.views import Story


def command(
    key: Annotated[str, typer.Argument(help="A card's identifier or id, say BACK-12.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """Tell a card's past: events, steps, writes and holds in order, then its turns with their transcripts."""
    with records.reading() as queries:
        stories = queries.history(key)
    if not stories:
        raise records.unknown(key)
    if as_json:
        output.show_json([dataclasses.asdict(story) for story in stories])
        return
    for story in stories:
        output.show(events(story), turns(story))


def events(story: Story) -> Rows:
    """One line an event, whichever table of ours it comes from, in the order of its time."""
    ordinals = {turn.id: turn.ordinal for turn in story.turns}
    told: list[tuple[datetime, str, str]] = [(line.at, line.kind, _fields(line.detail)) for line in story.lines]
    told += [
        (step.at, f"turn {ordinals[step.turn_id]}: step {step.name}", _fields(step.output)) for step in story.steps
    ]
    told += [
        (
            write.settled_at or write.written_at,
            f"{write.act} {write.status}",
            f"{write.kind}: {output.text(write.what)}",
        )
        for write in story.writes
    ]
    return Rows(story.item.identifier, ("at", "what", "detail"), sorted(told))


def turns(story: Story) -> Rows:
    """The item's turns, each with the file that keeps all that its agent said."""
    columns = ("turn", "fence", "status", "stop", "host", "began", "ended", "transcript")
    return Rows(
        f"{story.item.identifier} turns",
        columns,
        [
            (
                turn.ordinal,
                turn.fence,
                turn.status,
                turn.stop_reason,
                turn.host,
                turn.admitted_at,
                turn.ended_at,
                turn.transcript,
            )
            for turn in story.turns
        ],
    )


def _fields(detail: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in detail.items() if value not in (None, "", [], {}))
