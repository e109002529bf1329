"""`orchestrator run KEY`: one card, now. Asks the tick for it, and shows what its agent says until the turn ends.

A turn is opened by the tick and by nothing else, so the card passes the same gate as ever. Where no system runs in this
folder one is started for this card alone, and stopped after its turn.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

import orchestrator.store.migrate as schema
from orchestrator import settings
from orchestrator.cli import explain, launch, records, up
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.ports.store import StoreUnavailable
from orchestrator.store.open import PostgresStore, open_store
from orchestrator.store.views import Explanation, Overview, TurnView

# What passes by itself within seconds: the card is waited for. Everything else is told, and the command ends.
_PASSING = frozenset(
    {
        *("running", "unsent_move", "no_slot_total", "no_slot_state", "no_worker_slot"),
        *("changed_since", "changed_on_reread", "publish_failed", "redis_lease_taken", "read_failed"),
    }
)
# A worker says hello each second; one that is silent for so long is gone, or its machine is.
_SILENCE_SECONDS = 30.0
# After the turn's end a system of our own is kept until the card says so, but not for a board that is away.
_WRITES_SECONDS = 20.0


def command(
    key: Annotated[str, typer.Argument(help="A card's identifier or id, say BACK-12.")],
    workflow: Annotated[Path, typer.Option(help="The workflow file, when no system runs here.")] = Path("WORKFLOW.md"),
    dry_run: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--dry-run", help="Only say whether it would start, where, and with which prompt.")
    ] = False,
) -> None:
    """Run one card now and follow its agent's words; --dry-run writes nothing anywhere and starts no agent."""
    if dry_run:
        from orchestrator.cli import rehearsal

        for line in rehearsal.rehearse(rehearsal.open_desk(workflow), key):
            typer.echo(line)
        return
    asked = up.Asked()
    asked.listen()
    with _system(workflow, key) as store:
        ended = _follow(store, key, asked)
    if ended is None:
        raise Trouble(Exit.REFUSED, f"{key}: no longer followed; `orchestrator explain {key}` tells where it stands")
    typer.echo(f"turn {ended.ordinal} ended {ended.status} ({ended.stop_reason})")
    if ended.status != "succeeded":
        raise Trouble(Exit.BROKEN, f"{key}: {ended.summary or ended.stop_reason}")


@contextlib.contextmanager
def _system(workflow: Path, key: str) -> Iterator[PostgresStore]:
    """The store of the system of this folder; with none running, of one that is started for this card alone."""
    with contextlib.ExitStack() as leaving:
        url = _served()
        is_ours = url is None
        if url is None:
            up.judge_workflow(workflow)
            launched = settings.launch()
            values = {**launched.given, "only": key}
            order = launch.Order(folder=Path.cwd(), workflows=(workflow,), flower=False, values=values)
            url = leaving.enter_context(launch.system(order, launched)).servers.database_url
        store = open_store(url)
        leaving.callback(store.close)
        yield store
        if is_ours:
            _let_write(store, key)


def _served() -> str | None:
    """The database behind which a system works now; None when nothing runs, and one may be started.

    Raises StoreUnavailable when a Postgres that somebody named does not answer.
    """
    launched = settings.launch()
    is_launched = launch.is_running(launched.state_dir)
    try:
        url = settings.load().database_url
        schema.refuse_other_schema(url)
    except (settings.NotConfigured, schema.SchemaMismatch):
        return None  # who starts a system says what is wrong with either
    except StoreUnavailable:
        if is_launched or launched.database_url is not None:
            raise
        return None  # a launcher that was killed left the word of its own servers behind
    if is_launched:
        return url
    store = open_store(url)
    try:
        return url if has_workers(store.queries.overview()) else None
    finally:
        store.close()


def has_workers(seen: Overview) -> bool:
    """Whether a worker of the system said hello lately."""
    return any((seen.now - worker.seen_at).total_seconds() < _SILENCE_SECONDS for worker in seen.workers)


def _follow(store: PostgresStore, key: str, asked: up.Asked) -> TurnView | None:
    """Ask for the card, wait for a turn of it, and show its transcript to the end; None when a person had enough.

    Raises Trouble when a look at the whole board, begun after the question, gives a reason that does not pass.
    """
    over = {turn.id for turn in _turns(store, key) if turn.ended_at is not None}
    since = store.queries.overview().now
    store.reconciler.request(None, listing=True)
    shown = 0
    while not asked.to_stop:
        turn = next((turn for turn in _turns(store, key) if turn.id not in over), None)
        if turn is None:
            _give_up(store, key, since)
        else:
            shown = _show(turn, shown)
            if turn.ended_at is not None:
                return turn
        time.sleep(up.LOOK_EVERY_SECONDS)
    return None


def _turns(store: PostgresStore, key: str) -> list[TurnView]:
    return [turn for told in store.queries.explain(key) for turn in told.turns]


def _show(turn: TurnView, shown: int) -> int:
    """Print what the transcript has beyond `shown` bytes; returns how many were printed in all."""
    if turn.transcript is None or not Path(turn.transcript).exists():
        return shown
    with Path(turn.transcript).open("rb") as file:
        file.seek(shown)
        fresh = file.read()
    typer.echo(fresh.decode(errors="replace"), nl=False)
    return shown + len(fresh)


def _give_up(store: PostgresStore, key: str, since: datetime) -> None:
    """Raise when every board was listed since the question, and the card's reason is not one that passes."""
    overview = store.queries.overview()
    looked = [each.listed_at is not None and each.listed_at > since and not each.ticking for each in overview.workflows]
    if not all(looked):
        return
    told = store.queries.explain(key)
    if not told:
        raise records.unknown(key)
    if all(_stays(each) for each in told):
        raise Trouble(Exit.REFUSED, "\n".join(line for each in told for line in explain.sentences(each)))


def _stays(told: Explanation) -> bool:
    return told.turn is None and (told.wait is None or told.wait.reason not in _PASSING)


def _let_write(store: PostgresStore, key: str) -> None:
    """Wait until the card bears what was written for it."""
    ends = time.monotonic() + _WRITES_SECONDS
    while time.monotonic() < ends and any(
        write.status != "parked" for told in store.queries.explain(key) for write in told.writes
    ):
        time.sleep(up.LOOK_EVERY_SECONDS)
