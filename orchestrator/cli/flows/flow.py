"""`orchestrator flow run | show | list`: start a task of a flow, and see what a flow is."""

from __future__ import annotations

import json
import sys
import time
from typing import Annotated

import typer

from orchestrator.cli import output
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.cli.flows import store
from orchestrator.cli.output import Rows

app = typer.Typer(help="Flows: durable tasks made of plain functions.", no_args_is_help=True)

LOOK_EVERY_SECONDS = 0.2


@app.command("list")
def list_flows() -> None:
    """The flows that STATIONKEEPER_FLOWS names."""
    flows = store.flows()
    found = [flows.contract(name) for name in flows.names()]
    rows = [(each.name, each.version, len(each.steps), each.owner, each.place) for each in found]
    output.show(Rows("flow", ("name", "version", "steps", "owner", "place"), rows))


@app.command("show")
def show(
    name: Annotated[
        str, typer.Argument(help="A flow's name, say northstar.refund; `ticket` is that of a card's turn.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="The manifest, as tasks are bound to it.")] = False,  # noqa: FBT002
) -> None:
    """Print a flow's diagram and the contract of each step."""
    from orchestrator.flows import printing
    from orchestrator.flows.ticket import TICKET

    flows = store.flows()
    contract = TICKET if name == TICKET.name and name not in flows.names() else flows.contract(name)
    store.refuse_unknown_agents(contract)
    if as_json:
        typer.echo(contract.body)
        return
    typer.echo(f"{contract.name} version {contract.version}, manifest {contract.digest}, takes a {contract.takes}")
    typer.echo(printing.mermaid(contract))
    columns = (
        "step", "kind", "effect", "agent", "takes", "gives", "authority", "timeout", "attempts", "retried on",
        "if unknown", "owner", "undone by", "ends when",
    )  # fmt: skip
    rows = [
        (
            step.name,
            step.kind,
            step.side_effect,
            step.proposer.agent.kind if step.proposer is not None else None,
            ", ".join(f"{given}: {kind}" for given, kind in step.takes.items()),
            step.gives,
            step.authority,
            f"{step.timeout_seconds:g} s" if step.expires_seconds is None else f"{step.expires_seconds:g} s to answer",
            step.max_attempts or "no limit",
            ", ".join(step.retryable),
            printing.how_found(step) if step.kind.value == "effect" else None,
            step.owner,
            step.compensation.name if step.compensation is not None else None,
            step.ends_when,
        )
        for step in (*contract.steps, *contract.compensations)
    ]
    output.show(Rows("step", columns, rows))


@app.command("run")
def run(  # noqa: PLR0913, PLR0917 -- one option an argument, passed by name
    name: Annotated[str, typer.Argument(help="A flow's name, say northstar.refund.")],
    given: Annotated[str, typer.Option("--input", help="The input as JSON; - reads standard input.")] = "{}",
    key: Annotated[str, typer.Option(help="Names the task once: the same key finds the same task again.")] = "",
    authority: Annotated[
        list[str] | None, typer.Option(help="What the task may use; by default all that its flow asks for.")
    ] = None,
    card: Annotated[str | None, typer.Option(help="The card that it belongs to; its closing stops effects.")] = None,
    deadline: Annotated[float | None, typer.Option(min=0.001, help="Seconds after which nothing more begins.")] = None,
    wait: Annotated[float, typer.Option(min=0, help="Wait so many seconds for its end.")] = 0,
) -> None:
    """Start a task of a flow; `orchestrator up` runs it."""
    from orchestrator.engine.flows import manifest
    from orchestrator.ports.store import NewTask

    flows = store.flows()
    contract = flows.contract(name)
    store.refuse_unknown_agents(contract)
    checked = _checked(flows, name, given)
    granted = frozenset(authority) if authority is not None else contract.authority
    if beyond := granted - contract.authority:
        allowed = ", ".join(sorted(contract.authority)) or "nothing"
        raise Trouble(Exit.REFUSED, f"{name} may not be given {', '.join(sorted(beyond))}; it may be given {allowed}")
    with store.opened() as kept:
        row = manifest.publish(kept, contract)
        seconds = deadline if deadline is not None else contract.deadline_seconds
        wanted = NewTask(
            row.name,
            row.version,
            key,
            checked,
            granted,
            actor=store.who(),
            deadline_seconds=seconds,
            card_key=_card_key(kept, card),
        )
        started = kept.flows.start(wanted)
        kept.reconciler.request(row.name, listing=False)
        store.ring(row.name)
        typer.echo(f"{started.identifier}{'' if started.made else ' (started before with this key)'}")
        if wait:
            _await(kept, str(started.task_id), wait)


def _card_key(kept: store.PostgresStore, card: str | None) -> int | None:
    """Our row of the card, None for none. Raises Trouble where there is none, or more than one."""
    if card is None:
        return None
    found = [place.item_key for place in kept.operators.places(card) if place.item_key is not None]
    if len(found) != 1:
        several = f"{len(found)} cards bear that name; expected one" if found else "no card that we saw bears that name"
        raise Trouble(Exit.REFUSED, f"--card {card}: {several}; see `orchestrator explain {card}`")
    return found[0]


def _checked(flows: store.FlowFiles, name: str, given: str) -> object:
    text = sys.stdin.read() if given == "-" else given
    try:
        return flows.check_input(name, json.loads(text))
    except json.JSONDecodeError as error:
        raise Trouble(Exit.USAGE, f'--input: {error}; expected JSON, say \'{{"order": "A7"}}\'') from error
    except ValueError as error:
        raise Trouble(Exit.USAGE, f"--input: {error}") from error


def _await(kept: store.PostgresStore, key: str, seconds: float) -> None:
    """Follow the task to its end; ends the command by how it went."""
    from orchestrator.store.flows import showing

    until = time.monotonic() + seconds
    while (story := showing.story(kept.slow, key)) and story.line.ended_at is None and time.monotonic() < until:
        time.sleep(LOOK_EVERY_SECONDS)
    if story is None or story.line.ended_at is None:
        waits = story.line.waits_for if story is not None else "nothing"
        raise Trouble(Exit.BROKEN, f"not over after {seconds:g} s; it waits for {waits}")
    typer.echo(f"{story.line.status.value}: {story.line.reason or story.line.stop_reason}")
    if story.line.status.value != "succeeded":
        raise typer.Exit(Exit.BROKEN)
