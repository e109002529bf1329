"""`orchestrator retire`: let a workflow go whose file is gone or bears another name."""

from __future__ import annotations

from typing import Annotated

import typer

import orchestrator.store.migrate as schema
from orchestrator import settings
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.engine import publish
from orchestrator.store.open import PostgresStore, open_store


def command(
    name: Annotated[str, typer.Argument(help="The workflow's name, as `orchestrator status` shows it.")],
) -> None:
    """Let a workflow go: nothing new starts for it on any host, and what runs finishes."""
    database_url = settings.load().database_url
    schema.refuse_other_schema(database_url)
    store = open_store(database_url)
    try:
        if not publish.retire(store, name):
            _refuse_unknown(store, name)
        typer.echo(f"{name}: retired; {_left(store, name)}")
        typer.echo("An edit of its file while the system runs, or `orchestrator up` with it, brings it back.")
    finally:
        store.close()


def _refuse_unknown(store: PostgresStore, name: str) -> None:
    """To retire what is retired is fine. Raises Trouble for a name that nobody has."""
    if store.workflows.current(name) is None:
        known = ", ".join(row.name for row in store.workflows.all()) or "none"
        raise Trouble(Exit.BROKEN, f"{name}: no workflow has this name; in force are: {known}")


def _left(store: PostgresStore, name: str) -> str:
    """What of it is still open, in words."""
    turns = store.queries.overview().turns
    running = [turn.identifier for turn in turns if turn.workflow == name and turn.status == "running"]
    if not running:
        return "nothing of it runs"
    shown = ", ".join(running)
    return f"{len(running)} turn(s) still run to their end: {shown}; drag a card away to stop its turn"
