"""`orchestrator writes`: what we wrote on the board, or did not: before, after, key, fence, reason and outcome."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated

import typer

from orchestrator.cli import output, records
from orchestrator.cli.output import Rows
from orchestrator.store.views import AuditView

# Enough to see a day's work of a card; --json with a larger number is for programs.
_LAST = 100
# A comment's first words tell which one it is.
_SHOWN = 60


def command(
    item: Annotated[str | None, typer.Option(help="Only this card's, by its identifier or id.")] = None,
    last: Annotated[int, typer.Option(min=1, help="How many, the latest.")] = _LAST,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document, texts whole.")] = False,  # noqa: FBT002
) -> None:
    """Show each write on the board: what stood there before and after, under which key and fence, why, and its end."""
    with records.reading() as queries:
        told = queries.writes(item, count=last)
        if item is not None and not told and not queries.explain(item):
            raise records.unknown(item)
    if as_json:
        output.show_json([dataclasses.asdict(one) for one in told])
    else:
        output.show(rows(told))


def rows(told: Sequence[AuditView]) -> Rows:
    """One line a write."""
    columns = ("at", "card", "reason", "act", "before", "after", "outcome", "detail", "fence", "key")
    return Rows(
        "writes",
        columns,
        [
            (
                *(one.at, one.identifier, one.kind, one.act, _short(one.before), _short(one.after)),
                *(one.outcome, one.detail, one.fence, one.key),
            )
            for one in told
        ],
    )


def _short(text: str | None) -> str | None:
    line = output.text(text)
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
