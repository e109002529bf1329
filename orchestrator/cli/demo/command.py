"""`orchestrator demo`: the main job on a board, from nothing to a verdict, in a folder that stays behind."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from orchestrator import settings
from orchestrator.cli import launch
from orchestrator.cli.demo import borrowed, director, evidence, promises, scene, show
from orchestrator.cli.demo.backstage import Backstage
from orchestrator.cli.demo.cards import CARDS
from orchestrator.cli.demo.promises import Verdict
from orchestrator.cli.demo.scene import Board, Scene
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.settings import Sabotage

# Two for the hand, and enough for the others to be in mid-turn still when Redis and the worker are lost.
MIN_CARDS = 6

# The file in the run folder that tells what happened, line by line.
STORY = "story.txt"

# A killed process is gone within milliseconds; past this it is not going to go.
GONE_SECONDS = 5.0


def command(
    board: Annotated[
        Path | None, typer.Option(help="A Backlog.md project or board folder; a copy of it is used.")
    ] = None,
    cards: Annotated[int, typer.Option(min=MIN_CARDS, help="How many cards the fleet works on.")] = 8,
    sabotage: Annotated[Sabotage | None, typer.Option(help="Switch a rule off, to see the demo notice.")] = None,
) -> None:
    """Run the main job on a board, with trouble on the way, and judge it from outside."""
    console, launched = Console(), settings.launch()
    folder = _run_folder(launched.state_dir / "demo")
    stage = scene.set_up(folder, _board(folder, board, cards))
    _announce(console, stage, sabotage)
    own = replace(launched, state_dir=folder / settings.STATE_FOLDER, database_url=None, redis_url=None)
    with show.Screen(console, stage.board, story=folder / STORY) as screen:
        verdicts = _run(stage, own, screen=screen, sabotage=sabotage)
    show.verdict(console, verdicts, folder)
    if not all(verdict.kept for verdict in verdicts):
        raise typer.Exit(Exit.BROKEN)
    _sweep(folder / settings.STATE_FOLDER)


def _run_folder(parent: Path) -> Path:
    """A fresh folder named for this moment."""
    stamp = f"{datetime.now().astimezone():%Y-%m-%d-%H%M%S}"
    for name in (stamp, *(f"{stamp}-{number}" for number in range(2, 100))):
        folder = parent / name
        if not folder.exists():
            folder.mkdir(parents=True)
            return folder
    raise Trouble(Exit.REFUSED, f"{parent}: a hundred demos were started in this second; try again")


def _board(folder: Path, given: Path | None, count: int) -> Board:
    if given is not None:
        return borrowed.copy(given, folder / "backlog", count)
    if count > len(CARDS):
        raise Trouble(
            Exit.USAGE, f"--cards {count}: the sample board has {len(CARDS)}; name at most that many, or a BOARD"
        )
    return scene.sample_board(folder / "backlog", count)


def _announce(console: Console, stage: Scene, sabotage: Sabotage | None) -> None:
    lines = [f"{len(stage.board.cards)} cards, {scene.AGENTS_AT_A_TIME} agents at a time, in {stage.folder}"]
    lines += stage.board.notes
    if sabotage is not None:
        lines.append(f"sabotage: the rule {sabotage.value!r} is off, so a promise should break")
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True, markup=False)


def _run(
    stage: Scene, launched: settings.Launch, *, screen: show.Screen, sabotage: Sabotage | None
) -> Sequence[Verdict]:
    """Launch, direct, stop, look at what is left, judge. The servers are the run's own: FLUSHALL is for no other."""
    values = {"sabotage": sabotage.value} if sabotage else {}
    order = launch.Order(folder=stage.folder, workflows=(stage.workflow,), flower=False, values=values)
    with launch.system(order, launched) as system:
        outcome = director.direct(stage, Backstage(system), screen.show)
    _await_none_left(stage.folder)
    return promises.judge(evidence.gather(stage, outcome))


def _await_none_left(folder: Path) -> None:
    until, pause = time.monotonic() + GONE_SECONDS, threading.Event()
    while evidence.processes(folder) and time.monotonic() < until:
        pause.wait(0.1)


def _sweep(state_dir: Path) -> None:
    """The servers' data is of no interest any more, and large; logs and transcripts stay."""
    for name in ("postgres", "redis"):
        shutil.rmtree(state_dir / name, ignore_errors=True)
