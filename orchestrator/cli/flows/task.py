"""`orchestrator task list | show | answer | settle | cancel | prune`: where tasks stand, and a person's word.

Tasks of cards are shown like any other; what becomes of them is said on the board.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Annotated

import typer

from orchestrator.cli import output
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.cli.flows import answering, store
from orchestrator.cli.output import Rows

# One commit: short enough that no other statement waits for it.
_BATCH = 500

app = typer.Typer(help="Tasks, of flows and of cards: where they stand.", no_args_is_help=True)

Key = Annotated[
    str, typer.Argument(help="A task's id or its beginning, its name, or the key that it was started with.")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document.")]


@app.command("list")
def list_tasks(
    flow: Annotated[str | None, typer.Option(help="Of this flow only.")] = None,
    cards: Annotated[bool, typer.Option("--cards", help="Those of cards as well.")] = False,  # noqa: FBT002 -- a flag
    as_json: AsJson = False,  # noqa: FBT002 -- a flag
) -> None:
    """The newest tasks, open ones first."""
    from orchestrator.store.flows import showing

    with store.opened() as kept:
        lines = showing.tasks(kept.slow, flow, cards=cards)
    if as_json:
        output.show_json([dataclasses.asdict(line) for line in lines])
        return
    columns = ("task", "status", "waits for", "stop", "reason", "started")
    rows = [
        (line.identifier, line.status, line.waits_for, line.stop_reason, line.reason, line.opened_at) for line in lines
    ]
    output.show(Rows("task", columns, rows))


@app.command("show")
def show(key: Key, as_json: AsJson = False) -> None:  # noqa: FBT002 -- a flag
    """Where a task stands, what it waits for, its steps, its ledger, its stop reason."""
    story = _story(key)
    if as_json:
        output.show_json(store.plain(story))
        return
    line = story.line
    facts = [
        ("id", line.id),
        ("workflow" if line.is_card else "flow", f"{line.flow}, manifest {line.manifest}"),
        ("status", line.status),
        ("waits for", line.waits_for),
        ("stop reason", line.stop_reason),
        ("reason", line.reason),
        *((name, value if isinstance(value, str) else _brief(value)) for name, value in story.given.items() if value),
    ]
    output.show(
        Rows(line.identifier, ("", ""), [(name, value) for name, value in facts if value not in (None, "")]),
        *_tables(story),
    )


def _tables(story: store.TaskStory) -> tuple[Rows, ...]:
    steps = [(row.ordinal, row.name, _brief(row.output), row.ends, row.at) for row in story.steps]
    ledger = [
        (
            row.key,
            row.what if row.undoes is None else f"{row.what}, undoes {row.undoes}",
            row.status,
            row.sends,
            _brief(row.told),
            _brief(row.outcome),
            row.reason,
            row.settled_at,
        )
        for row in story.ledger
    ]
    return (
        Rows("step", ("n", "step", "output", "ends", "at"), steps),
        Rows(
            "question",
            ("step", "asks", "of", "until", "asked", "answered", "by"),
            [tuple(row) for row in story.questions],
        ),
        Rows("failure", ("step", "attempt", "kind", "reason", "at"), [tuple(row) for row in story.failures]),
        Rows("ledger", ("key", "what", "status", "sent", "parameters", "outcome", "reason", "settled"), ledger),
        Rows(
            "turn",
            ("fence", "status", "stop", "host", "pid", "began", "ended", "death"),
            [tuple(row) for row in story.turns],
        ),
    )


@app.command("answer")
def answer(
    key: Key,
    given: Annotated[str, typer.Option("--input", help="The answer as JSON; - reads standard input.")],
) -> None:
    """Answer what a task asks; it goes on with that."""
    story = _without_card(key)
    asked = next((row for row in story.questions if row.answered_at is None), None)
    there = story.line.identifier
    if asked is None or story.line.ended_at is not None:
        waits = story.line.waits_for or f"nothing: it is {story.line.status.value}"
        raise Trouble(Exit.REFUSED, f"{there} asks nothing; it waits for {waits}")
    text = sys.stdin.read() if given == "-" else given
    with store.opened() as kept:
        said = answering.judged(kept, story, asked.step, text=text)
        if not kept.flows.answer(story.line.id, asked.step, said=said, by=store.who()):
            raise Trouble(Exit.REFUSED, f"{there}: nobody waits for it now, see `task show`; nothing was recorded")
        store.ring(f"flow:{story.line.flow}")
    typer.echo(f"{there}: {asked.step} answered")


@app.command("settle")
def settle(  # noqa: PLR0917 -- one option an argument, passed by name
    key: Key,
    effect: Annotated[str, typer.Argument(help="The effect's key, as `task show` prints it.")],
    committed: Annotated[str, typer.Option(help="It happened: the target's answer, as JSON.")] = "",
    absent: Annotated[str, typer.Option(help="It did not happen and may be sent again: how you know.")] = "",
    refused: Annotated[str, typer.Option(help="It did not happen and shall not: why.")] = "",
) -> None:
    """Say what became of an effect that nobody else can find out about."""
    from orchestrator.domain.effect import EffectStatus

    said = [
        (verdict, word)
        for verdict, word in (
            (EffectStatus.COMMITTED, committed),
            (EffectStatus.ABSENT, absent),
            (EffectStatus.REFUSED, refused),
        )
        if word
    ]
    if len(said) != 1:
        raise Trouble(Exit.USAGE, "expected exactly one of --committed JSON, --absent REASON, --refused REASON")
    story, (verdict, word) = _without_card(key), said[0]
    row = next((row for row in story.ledger if row.key == effect), None)
    if row is None:
        raise Trouble(Exit.BROKEN, f"{key} has no effect {effect!r}; see `orchestrator task show {key}`")
    told = store.outcome_of(story.line.flow, row.what, word) if verdict is EffectStatus.COMMITTED else word
    with store.opened() as kept:
        if not kept.flows.decide(story.line.id, effect, verdict=verdict, word=told):
            raise Trouble(Exit.REFUSED, f"{effect} is {row.status} already, or its turn still runs: nothing was done")
        store.ring(f"flow:{story.line.flow}")
    typer.echo(f"{effect}: {verdict.value}")


@app.command("prune")
def prune(days: Annotated[float, typer.Option(min=0, help="Tasks that are over for longer than this.")] = 30) -> None:
    """Delete what is over: tasks, steps, turns and ledger rows, never before the target has forgotten their keys."""
    with store.opened() as kept:
        total = 0
        while deleted := kept.flows.prune(days=days, at_most=_BATCH):
            total += deleted
    typer.echo(f"{total} tasks deleted")


@app.command("cancel")
def cancel(
    key: Key,
    undo: Annotated[bool, typer.Option("--undo", help="Take back what is committed and has a compensation.")] = False,  # noqa: FBT002 -- a flag
) -> None:
    """Begin nothing more of a task; what is under way is settled first, what is committed stays unless you say so."""
    from orchestrator.domain.turn import StopReason

    story = _without_card(key)
    with store.opened() as kept:
        status = kept.flows.cancel(story.line.id, StopReason.TAKEN_BACK if undo else StopReason.CANCELLED)
        if status is None:
            raise Trouble(Exit.REFUSED, f"{story.line.identifier} is {story.line.status.value} already")
        store.ring(f"flow:{story.line.flow}")
    typer.echo(f"{story.line.identifier}: {status.value}")


def _without_card(key: str) -> store.TaskStory:
    """A task that this command may change: of a card the board says what becomes of it."""
    story = _story(key)
    if story.line.is_card:
        there = story.line.identifier
        raise Trouble(Exit.REFUSED, f"{there} is a card: move it, or `orchestrator hold {there} --stop -m WHY`")
    return story


def _story(key: str) -> store.TaskStory:
    from orchestrator.store.flows import showing

    try:
        with store.opened() as kept:
            story = showing.story(kept.slow, key)
    except showing.SeveralTasks as several:
        raise Trouble(Exit.USAGE, str(several)) from None
    if story is None:
        raise Trouble(Exit.BROKEN, f"{key}: no task of that id, name or key; see `orchestrator task list`")
    return story


def _brief(value: object) -> str | None:
    return None if value is None else json.dumps(value, default=str)
