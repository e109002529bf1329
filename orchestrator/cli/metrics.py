"""`orchestrator metrics`: the fleet in numbers, as Prometheus reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator import settings
from orchestrator.cli import records


def command(
    textfile: Annotated[
        Path | None, typer.Option(help="Write to this file, for the node exporter's textfile collector (name.prom).")
    ] = None,
) -> None:
    """Print counts and ages of turns, waits by reason, unsent writes, holds and problems, as Prometheus reads them."""
    from orchestrator import metrics

    with records.reading() as queries:
        overview, health, kept = queries.overview(), queries.health(), queries.kept(days=settings.load().kept_days)
    if textfile is None:
        typer.echo(metrics.exposition(overview, health, kept=kept), nl=False)
    else:
        metrics.write(overview, textfile, health=health, kept=kept)
