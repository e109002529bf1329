"""`orchestrator drain [--worker NAME]`: workers hand their turns back, sessions kept, and take no more."""

from __future__ import annotations

import getpass
import time
from collections.abc import Collection
from typing import Annotated
from uuid import UUID

import typer

from orchestrator.cli import records
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.ports.store import Hand
from orchestrator.store.views import Overview, WorkerView

_LOOK_EVERY_SECONDS = 0.5


def _busy(overview: Overview, asked: Collection[UUID]) -> list[WorkerView]:
    """Those that have not heard of it yet, or still end a turn."""
    return [each for each in overview.workers if each.id in asked and (each.slots or each.busy)]


def command(
    worker: Annotated[str | None, typer.Option("--worker", help="HOST or HOST:PID as in status; else all.")] = None,
    reason: Annotated[str, typer.Option("--reason", "-m", help="Why; stands in the record.")] = "",
    seconds: Annotated[float, typer.Option("--wait", min=0.0, help="Seconds to wait for the turns' end.")] = 60.0,
) -> None:
    """Let workers hand their turns back, counted against no cap, and wait until they are idle; then restart them."""
    with records.store() as store:
        asked = store.workers.drain(worker, Hand(getpass.getuser(), reason))
        if not asked:
            missing = f"{worker}: no live worker of that name" if worker else "no worker lives"
            raise Trouble(Exit.BROKEN, f"{missing}; see `orchestrator status`")
        ends = time.monotonic() + seconds
        while busy := _busy(store.queries.overview(), asked):
            if time.monotonic() >= ends:
                names = ", ".join(f"{each.host}:{each.pid} ({each.busy})" for each in busy)
                raise Trouble(Exit.BROKEN, f"still busy after {seconds:g} s: {names}; it goes on, ask again")
            time.sleep(_LOOK_EVERY_SECONDS)
    for name in asked.values():
        typer.echo(f"{name}: drained; it takes no turn until it is restarted")
