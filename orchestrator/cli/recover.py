"""`orchestrator recover`: the database was restored or failed over, and a person says that the fleet may go on."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from orchestrator.cli import records
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.ports.store import Hand
from orchestrator.store.recovering import Open, Recovered


def command(
    *,
    anyway: Annotated[bool, typer.Option("--anyway", help="Also when no change of the database was noticed.")] = False,
    look: Annotated[bool, typer.Option("--look", help="Only say what is open; change nothing.")] = False,
    reason: Annotated[str, typer.Option("--reason", "-m", help="Why; stands in the record.")] = "",
    by: Annotated[str | None, typer.Option("--by", help="Who; by default the user of this machine.")] = None,
) -> None:
    """Go on after the database was restored, moved or failed over: look up what is open, read every board again.

    What ran since the copy was made is unknown, and the board is the truth: no fence is given out twice, moves and
    effects are looked up before anything is sent, and the tasks of flows wait for a person.
    """
    with records.store() as store:
        found = store.recovery.look()
        for line in _seen(found):
            typer.echo(line)
        if look:
            return
        if found.reason is None and not anyway:
            raise Trouble(
                Exit.REFUSED,
                "the database is the one that was known, expected one that was restored or failed over; "
                "if you know better, add --anyway",
            )
        for line in _done(store.recovery.recover(Hand(by or getpass.getuser(), reason))):
            typer.echo(line)


def _seen(found: Open) -> list[str]:
    held = f"the fleet is held: {found.reason}" if found.reason is not None else "the fleet is not held for a recovery"
    return [held, f"open here: {found.turns} turns, {found.writes} unsent writes, {found.effects} effects"]


def _done(done: Recovered) -> list[str]:
    lines = [
        f"{done.items} cards have new fences; every board is read again, and nothing is taken over for one lease",
        f"{done.moves} moves and {done.effects} effects are looked up before anything is sent",
        f"{done.comments} comments are given up: what the cards say may be newer",
    ]
    if done.flow_tasks:
        lines.append(f"{done.flow_tasks} flow tasks are held: look at each, then `orchestrator release KEY`")
    return [*lines, "recovered"]
