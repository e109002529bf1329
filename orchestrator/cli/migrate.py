"""`orchestrator migrate`: bring the database's schema up to this program's, under an advisory lock."""

from __future__ import annotations

import typer

from orchestrator import settings


def command() -> None:
    """Bring the schema up to date; two at once wait for each other."""
    import orchestrator.store.migrate as schema

    schema.upgrade(settings.load().database_url)
    typer.echo("the schema is up to date")
