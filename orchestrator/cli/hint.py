"""`orchestrator hint [KEY]`: something happened on the board, look soon. Asks for a listing, and no more."""

from __future__ import annotations

from typing import Annotated

import typer

import orchestrator.store.migrate as schema
from orchestrator import settings
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.store.open import PostgresStore, open_store


def command(
    key: Annotated[str | None, typer.Argument(help="A card that changed; its workflow is asked.")] = None,
    workflow: Annotated[str | None, typer.Option(help="The name of one workflow; left out: every one.")] = None,
) -> None:
    """Say that something changed on a board: it is read within a second, where it would be within its interval."""
    database_url = settings.load().database_url
    schema.refuse_other_schema(database_url)
    store = open_store(database_url)
    try:
        for name in sorted(_meant(store, key, workflow)):
            is_new = store.reconciler.hint(name)
            typer.echo(f"{name}: {'a listing is asked for' if is_new else 'a listing was asked for already'}")
    finally:
        store.close()


def _meant(store: PostgresStore, key: str | None, workflow: str | None) -> set[str]:
    """The workflows that are asked: the one named, else those that know the card, else all."""
    names = {row.name for row in store.workflows.all()}
    if workflow is not None and workflow not in names:
        known = ", ".join(sorted(names)) or "none"
        raise Trouble(Exit.CONFIGURATION, f"--workflow: there is no workflow {workflow!r} in force; there are: {known}")
    if workflow is not None:
        return {workflow}
    told = store.queries.explain(key) if key is not None else ()
    serving = {one.item.workflow for one in told if one.item is not None}
    return (serving & names) or names  # a card that nobody has seen yet may stand on any board
