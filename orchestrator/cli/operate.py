"""`orchestrator hold | release | resume | discard | dead-letters`: a person's hand on a card, a workflow or the fleet.

Each command says what it did to what; where nothing was to be done it ends with the exit code of a refusal.
"""

from __future__ import annotations

import dataclasses
import getpass
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Annotated

import typer

from orchestrator.cli import output, records
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.cli.output import Rows
from orchestrator.cli.status import ago, way_out
from orchestrator.domain.hold import HoldKind, HoldScope
from orchestrator.ports.store import Hand, Place
from orchestrator.store.open import PostgresStore

Key = Annotated[str | None, typer.Argument(help="A card's identifier or id, say BACK-12.")]
InWorkflow = Annotated[str | None, typer.Option("--workflow", help="The workflow of that name.")]
Fleet = Annotated[bool, typer.Option("--fleet", help="Everything.")]
Reason = Annotated[str, typer.Option("--reason", "-m", help="Why; stands in the record and in status.")]
By = Annotated[str | None, typer.Option("--by", help="Who; by default the user of this machine.")]


def hold(  # noqa: PLR0913 -- typer's parameters are the command line
    key: Key = None,
    *,
    workflow: InWorkflow = None,
    fleet: Fleet = False,
    reason: Annotated[str, typer.Option("--reason", "-m", help="Why; people read it in status.")],
    by: By = None,
    minutes: Annotated[float | None, typer.Option(min=0.1, help="Lifted by itself after so long.")] = None,
    stop: Annotated[bool, typer.Option("--stop", help="End the card's running turn too.")] = False,
) -> None:
    """Start nothing there until it is released; running turns go on. --stop ends a card's turn, with its task."""
    if stop and key is None:
        raise typer.BadParameter("--stop is for a single card; to end every turn stop the workers, or move the cards")
    seconds = None if minutes is None else minutes * 60

    def act(store: PostgresStore, place: Place) -> str | None:
        placed = store.operators.hold(place, _hand(by, reason), seconds=seconds, stop=stop)
        return f"{place.name}: held" if placed else None

    _each(_open_places(key, workflow=workflow, fleet=fleet), act, otherwise="a person's hold stands there already")


def release(
    key: Key = None, *, workflow: InWorkflow = None, fleet: Fleet = False, reason: Reason = "", by: By = None
) -> None:
    """Lift what is held there; of a workflow also its rest, and the mass-cancel brake: its turns may be stopped."""

    def act(store: PostgresStore, place: Place) -> str | None:
        lifted = [kind.value for kind in store.operators.release(place, _hand(by, reason))]
        if place.scope is HoldScope.WORKFLOW and store.operators.wake(place, _hand(by, reason)):
            lifted.append("rest")
        return f"{place.name}: released ({', '.join(lifted)})" if lifted else None

    _each(
        _open_places(key, workflow=workflow, fleet=fleet),
        act,
        otherwise="no hold that a release lifts; a dead letter takes `orchestrator resume` or `discard`",
    )


def resume(
    key: Key = None, *, workflow: InWorkflow = None, fleet: Fleet = False, reason: Reason = "", by: By = None
) -> None:
    """Try a dead letter again, its attempts counted anew: a card, or every one of a workflow or of the fleet."""

    def act(store: PostgresStore, place: Place) -> str | None:
        return f"{place.name}: resumed" if store.operators.resume(place, _hand(by, reason)) else None

    _each(_open_letters(key, workflow=workflow, fleet=fleet), act, otherwise="no dead letter")


def discard(
    key: Key = None,
    *,
    workflow: InWorkflow = None,
    fleet: Fleet = False,
    reason: Annotated[str, typer.Option("--reason", "-m", help="Why; people read it in status.")],
    by: By = None,
) -> None:
    """Give a dead letter up: its task fails, and the card stays held until a person moves or releases it."""

    def act(store: PostgresStore, place: Place) -> str | None:
        return f"{place.name}: discarded" if store.operators.discard(place, _hand(by, reason)) else None

    _each(_open_letters(key, workflow=workflow, fleet=fleet), act, otherwise="no dead letter")


def dead_letters(
    workflow: InWorkflow = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """List the cards that were given up on: why, since when, who is asked, and the way out."""
    with records.reading() as queries:
        overview = queries.overview()
    found = [
        each for each in overview.holds if each.kind == HoldKind.DEAD_LETTER.value and workflow in {None, each.workflow}
    ]
    if as_json:
        output.show_json([dataclasses.asdict(each) for each in found])
        return
    rows = [
        (each.identifier, each.reason, each.owner, ago(each.placed_at, overview.now), way_out(each)) for each in found
    ]
    output.show(Rows("dead letters", ("item", "reason", "who is asked", "since", "way out"), rows))


Act = Callable[[PostgresStore, Place], str | None]
Opened = tuple[PostgresStore, Sequence[Place]]


@contextmanager
def _open_places(key: str | None, *, workflow: str | None, fleet: bool) -> Iterator[Opened]:
    """The store, with the one place that the command line names."""
    _insist_on_one(key, workflow, fleet=fleet)
    with records.store() as store:
        if key is not None:
            yield store, _items(store, key)
        elif workflow is not None:
            yield store, [_workflow(store, workflow)]
        else:
            yield store, [Place(HoldScope.FLEET, "the fleet")]


@contextmanager
def _open_letters(key: str | None, *, workflow: str | None, fleet: bool) -> Iterator[Opened]:
    """The store, with a card, or with every dead letter of a workflow or of the fleet."""
    _insist_on_one(key, workflow, fleet=fleet)
    with records.store() as store:
        if key is not None:
            yield store, _items(store, key)
            return
        if workflow is not None:
            _workflow(store, workflow)
        yield store, store.operators.dead_letters(workflow)


def _each(opened: AbstractContextManager[Opened], act: Act, *, otherwise: str) -> None:
    """Do it to each place, and say what was done. Raises Trouble when it was to none."""
    with opened as (store, places):
        done = [said for place in places if (said := act(store, place)) is not None]
    if not done:
        names = ", ".join(dict.fromkeys(place.name for place in places)) or "nothing there"
        raise Trouble(Exit.REFUSED, f"{names}: {otherwise}")
    for said in done:
        typer.echo(said)


def _insist_on_one(key: str | None, workflow: str | None, *, fleet: bool) -> None:
    if sum((key is not None, workflow is not None, fleet)) != 1:
        raise typer.BadParameter("name one thing: a card's KEY, --workflow NAME, or --fleet")


def _items(store: PostgresStore, key: str) -> Sequence[Place]:
    places = store.operators.places(key)
    if not places:
        raise records.unknown(key)
    return places


def _workflow(store: PostgresStore, name: str) -> Place:
    place = store.operators.workflow(name)
    if place is None:
        raise Trouble(Exit.BROKEN, f"{name}: no workflow of that name is in force; see `orchestrator status`")
    return place


def _hand(by: str | None, reason: str) -> Hand:
    return Hand(by or getpass.getuser(), reason)
