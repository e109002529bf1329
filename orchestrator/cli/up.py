"""`orchestrator up`: the whole system in the foreground, until Ctrl-C."""

from __future__ import annotations

import itertools
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from orchestrator import settings
from orchestrator.cli import follow, judge, launch
from orchestrator.domain import overlap
from orchestrator.pulse import reap_orphans

# How soon a dead child or a Ctrl-C is noticed.
LOOK_EVERY_SECONDS = 0.2


class Asked:
    """Whether Ctrl-C or SIGTERM has asked for the end; a flag, because a handler must not do more."""

    def __init__(self) -> None:
        self.to_stop = False

    def listen(self) -> None:
        """From now on the two signals set the flag."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: setattr(self, "to_stop", True))


def command(
    workflow: Annotated[Path, typer.Option(help="The workflow file, or a folder of them.")] = Path("WORKFLOW.md"),
    workers: Annotated[int, typer.Option(min=1, max=64, help="How many worker processes take turns.")] = 1,
    slots: Annotated[int | None, typer.Option(min=1, max=1000, help="Turns at a time in each worker.")] = None,
) -> None:
    """Start everything in the foreground: servers, workers, beat, Flower. Ctrl-C stops all of it."""
    workflows = (workflow,) if _is_wanted(workflow) else ()
    for file in workflows:
        judge_workflow(file)
    asked = Asked()
    asked.listen()
    reap_orphans()
    launched = settings.launch()
    values = {**launched.given, **({"turn_slots": str(slots)} if slots is not None else {})}
    order = launch.Order(folder=Path.cwd(), workflows=workflows, workers=workers, values=values)
    with launch.system(order, launched) as system:
        _introduce(system, typer.echo)
        events = follow.Followed([system.crew.log(name) for name in _workers(system)])
        while not asked.to_stop:
            for line in (*system.crew.revive(), *events.fresh()):
                typer.echo(line)
            time.sleep(LOOK_EVERY_SECONDS)
        typer.echo("stopping")
    typer.echo("stopped")


def _is_wanted(workflow: Path) -> bool:
    """A board's file is not needed where flows are named and nobody wrote the default file."""
    return workflow != Path("WORKFLOW.md") or workflow.exists() or not settings.named_flows()


def judge_workflow(path: Path) -> None:
    """Judge the file before anything is started for it; raises WorkflowInvalid."""
    files = judge.door([path.absolute()])
    read = [files.read(file).workflow for file in files.files()]
    shared = (overlap.shared_root(one, other) for one, other in itertools.combinations(read, 2))
    for warning in (*(warning for each in read for warning in each.warnings), *filter(None, shared)):
        typer.echo(f"warning: {warning}", err=True)


def _introduce(system: launch.System, say: Callable[[str], None]) -> None:
    say(system.servers.described)
    for name in (*_workers(system), launch.BEAT):
        say(f"{name}: pid {system.crew.pid(name)}, log {system.crew.log(name)}")
    for name, path in system.others.items():
        say(f"in force too: workflow {name!r} of {path}; `orchestrator retire {name}` lets it go")
    say(f"Flower: {system.flower}")
    say("In another terminal, in this folder: `orchestrator status`. Ctrl-C stops everything.")


def _workers(system: launch.System) -> list[str]:
    return [launch.CONTROL, *(program.name for program in system.turn_workers)]
