"""What a person sees of the demo: a live table on a terminal, plain lines elsewhere, the verdict at the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from orchestrator.cli.demo import director
from orchestrator.cli.demo.director import Look
from orchestrator.cli.demo.evidence import Run
from orchestrator.cli.demo.promises import Verdict
from orchestrator.cli.demo.scene import Board

# As many of the last sentences as fit below the table on a small terminal.
_LINES_BELOW = 8


class Screen:
    """Shows looks as they come: a table that is redrawn, or without a terminal a line for each new sentence.

    Every sentence goes to the file `story` as well, where it can be read again.
    """

    def __init__(self, console: Console, board: Board, *, story: Path) -> None:
        self._console = console
        self._board = board
        self._story = story
        self._last: deque[str] = deque(maxlen=_LINES_BELOW)
        self._known: dict[str, str] = {}
        self._live = Live(console=console, refresh_per_second=8) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, look: Look) -> None:
        """Show one look at the world."""
        for sentence in [*look.said, *self._changes(look)]:
            self._say(f"{look.seconds:5.1f} s  {sentence}")
        if self._live is not None:
            self._live.update(Group(_table(self._board, look), Text("\n".join(self._last), style="dim")))

    def _say(self, line: str) -> None:
        self._last.append(line)
        with self._story.open("a", encoding="utf-8") as story:
            story.write(line + "\n")
        if self._live is None:
            self._console.print(line, highlight=False, soft_wrap=True, markup=False)

    def _changes(self, look: Look) -> list[str]:
        """What is new about each card, as sentences."""
        now = {card.id: _status_of(look, card.id) for card in self._board.cards}
        now |= {f"{run.item} {run.pid}": _run_says(run) for run in look.runs}
        runs = {
            f"{run.item} {run.pid}": f"{run.item}: an agent (pid {run.pid}, fence {run.fence})" for run in look.runs
        }
        changed = {key: value for key, value in now.items() if self._known.get(key) != value and value}
        self._known.update(changed)
        return [
            f"{runs[key]} {value}" if key in runs else f"{key}: stands in {value!r}" for key, value in changed.items()
        ]


def verdict(console: Console, verdicts: Sequence[Verdict], folder: Path) -> None:
    """The table of promises, everything that speaks against one, and the folder that stays."""
    if console.is_terminal:
        console.print(_verdict_table(verdicts))
    else:
        for each in verdicts:
            line = f"{_word(each):7} {each.promise} | {each.witness} | {each.seen if each.kept else each.against[0]}"
            console.print(line, highlight=False, soft_wrap=True, markup=False)
    for each in verdicts:
        for fault in each.against:
            console.print(f"BROKEN  {each.promise}: {fault}", highlight=False, soft_wrap=True, markup=False)
    console.print(f"The folder stays: {folder}", highlight=False, soft_wrap=True, markup=False)


def _verdict_table(verdicts: Sequence[Verdict]) -> Table:
    table = Table("promise", "witness", "seen", "", title="What was promised, and who saw it", title_justify="left")
    for each in verdicts:
        style = "green" if each.kept else "bold red"
        table.add_row(each.promise, each.witness, each.seen if each.kept else each.against[0], Text(_word(each), style))
    return table


def _word(each: Verdict) -> str:
    return "kept" if each.kept else "BROKEN"


def _table(board: Board, look: Look) -> Table:
    table = Table("card", "title", "column", "agent", "comment", title=f"{look.seconds:.0f} s", title_justify="left")
    for card in board.cards:
        seen = look.board.get(card.id)
        comment = "yes" if seen and seen.comments else ""
        table.add_row(card.id, card.title, seen.status if seen else "?", _agents_of(look, card.id), comment)
    return table


def _agents_of(look: Look, item: str) -> str:
    return "  ".join(
        f"fence {run.fence}: {'finished' if run.ended else f'step {run.steps}' if director.alive(run) else 'gone'}"
        for run in look.runs
        if run.item == item
    )


def _status_of(look: Look, item: str) -> str:
    seen = look.board.get(item)
    return seen.status if seen else ""


def _run_says(run: Run) -> str:
    if run.ended:
        return "has finished"
    return "is at work" if director.alive(run) else "is gone, unfinished"
