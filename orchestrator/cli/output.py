"""How commands answer: a table on a terminal, tab-separated lines elsewhere, JSON on request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table

# What the time of an event looks like: a person compares it with a log's, so seconds and the zone are there.
_TIME = "%Y-%m-%d %H:%M:%S %Z"


@dataclass(frozen=True, slots=True)
class Rows:
    """A titled table. Cells are what they are; only when shown do they become text."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]


def show(*tables: Rows) -> None:
    """Tables on a terminal; elsewhere one line a row: the table's title and the cells, separated by tabs."""
    console = Console()
    for table in tables:
        if console.is_terminal:
            console.print(_drawn(table))
        else:
            for row in table.rows:
                typer.echo("\t".join([table.title, *map(text, row)]))


def show_json(value: object) -> None:
    """One JSON document, for programs."""
    typer.echo(json.dumps(value, indent=2, default=_plain))


def text(cell: object) -> str:
    """A cell for a person: nothing for None, local time without fractions, one line."""
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return cell.astimezone().strftime(_TIME)
    if isinstance(cell, Enum):
        return str(cell.value)
    return " ".join(str(cell).split())


def _drawn(table: Rows) -> Table:
    drawn = Table(*table.columns, title=table.title, title_justify="left")
    for row in table.rows:
        drawn.add_row(*map(text, row))
    return drawn


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, UUID | Path):
        return str(value)
    raise TypeError(f"no JSON for {type(value).__name__}")
