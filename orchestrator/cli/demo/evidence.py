"""What can be seen from outside: the board's files, git, the agents' log, the process table. Never our own tables."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from orchestrator.cli.demo import boardfile, scene
from orchestrator.cli.demo.hand import Moved
from orchestrator.cli.demo.scene import Chosen, Scene
from orchestrator.domain import keys

# A card's test is one import and one comparison.
_TEST_SECONDS = 20.0

# Around the kill of a worker: so long before it an agent may have spoken last, so long after it one may have begun that
# the worker had just started. A new worker needs longer than that to take its first turn.
_KILL_SLACK_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the agent on a card, by its own words. `first` and `last` are the numbers of its lines in the log.

    Every line is one appending write, so the numbers are the order in which things happened, whatever the clocks say.
    `began_at` and `spoke_at` are the times that its first and last lines bear (seconds, the machine's clock).
    """

    item: str
    pid: int
    turn: str
    fence: int
    first: int
    last: int
    began_at: float
    spoke_at: float
    steps: int = 0
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """An item's branch: its commits since `main`, oldest first, and whether the card's test passes on it."""

    commits: tuple[str, ...]
    passes: bool


@dataclass(frozen=True, slots=True)
class CardSeen:
    """A card as its file shows it."""

    status: str
    comments: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the person moved, when the worker was killed, and what never came: a moment of the story, or its end."""

    moved: Sequence[Moved]
    killed_at: float | None = None
    missed: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that the judge gets to see when everything has stopped."""

    cards: Sequence[str]
    handoff: str
    moved: Sequence[Moved] = ()
    killed_at: float | None = None
    board: Mapping[str, CardSeen] = field(default_factory=dict)
    runs: Sequence[Run] = ()
    branches: Mapping[str, Branch] = field(default_factory=dict)
    processes: Sequence[str] = ()
    missed: Sequence[str] = ()

    def left_to_the_fleet(self) -> tuple[str, ...]:
        """The cards that no person took away: those that must be finished."""
        taken = {move.item for move in self.moved}
        return tuple(card for card in self.cards if card not in taken)

    def runs_of(self, item: str) -> tuple[Run, ...]:
        """The card's runs in the order in which they began."""
        return tuple(run for run in self.runs if run.item == item)


def gather(stage: Scene, outcome: Outcome) -> Evidence:
    """Look at everything; the system has been stopped."""
    cards = stage.board.cards
    return Evidence(
        cards=[card.id for card in cards],
        handoff=stage.board.columns.handoff,
        moved=outcome.moved,
        killed_at=outcome.killed_at,
        missed=outcome.missed,
        board=board(stage),
        runs=runs(stage.witness.read_text(encoding="utf-8").splitlines()),
        branches={card.id: seen for card in cards if (seen := branch(stage, card)) is not None},
        processes=processes(stage.folder),
    )


def board(stage: Scene) -> dict[str, CardSeen]:
    """The chosen cards, from their files."""
    wanted = {card.id for card in stage.board.cards}
    seen = (card for card in boardfile.tasks(stage.board.path) if card.id in wanted)
    return {card.id: CardSeen(card.status, card.comments) for card in seen}


def runs(lines: Iterable[str]) -> list[Run]:
    """The runs that the log tells of, in the order in which they began. A line cut short by a kill is passed over."""
    found: dict[tuple[str, int, str], Run] = {}
    for number, line in enumerate(lines):
        with contextlib.suppress(ValueError, KeyError):
            told = json.loads(line)
            key = (told["item"], told["pid"], told["turn"])
            at = told["at"]
            run = found.get(key) or Run(*key, told["fence"], first=number, last=number, began_at=at, spoke_at=at)
            found[key] = replace(
                run,
                last=number,
                spoke_at=at,
                steps=run.steps + (told["event"] == "step"),
                ended=run.ended or told["event"] == "end",
            )
    return list(found.values())


def cut_short(runs: Iterable[Run], killed_at: float | None) -> list[Run]:
    """The runs without an end that the kill of the worker does not explain."""
    return [run for run in runs if not run.ended and not (killed_at and _fell_with_the_worker(run, killed_at))]


def _fell_with_the_worker(run: Run, killed_at: float) -> bool:
    return run.began_at < killed_at + _KILL_SLACK_SECONDS and run.spoke_at > killed_at - _KILL_SLACK_SECONDS


def branch(stage: Scene, card: Chosen) -> Branch | None:
    """The card's branch in the sample repository, None when there is none."""
    name = keys.branch_name(scene.BRANCH, card.id)
    try:
        subjects = scene.git(stage.repository, "log", "--reverse", "--format=%s", f"main..{name}")
    except subprocess.CalledProcessError:
        return None
    return Branch(tuple(subjects.splitlines()), _passes(stage, card, name))


def processes(folder: Path) -> list[str]:
    """Every process but this one that names the run folder in its command, its environment or its working directory."""
    me, mark = os.getpid(), os.fsencode(folder)
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [_command(pid) for pid in sorted(pids) if pid != me and mark in _traces(pid)]


def _passes(stage: Scene, card: Chosen, name: str) -> bool:
    """Run the card's test in a clone of its branch that stays behind."""
    export = stage.folder / "checked" / card.id
    shutil.rmtree(export, ignore_errors=True)
    scene.git(stage.folder, "clone", "--quiet", "--branch", name, str(stage.repository), str(export))
    (export / "tests" / f"{card.test_name}.py").write_text(card.test_body, encoding="utf-8")
    test = [sys.executable, "-B", "-m", "unittest", f"tests.{card.test_name}"]
    ran = subprocess.run(test, cwd=export, capture_output=True, timeout=_TEST_SECONDS, check=False)
    return ran.returncode == 0


def _traces(pid: int) -> bytes:
    place = Path("/proc") / str(pid)
    traces = []
    for name in ("cmdline", "environ"):
        with contextlib.suppress(OSError):
            traces.append((place / name).read_bytes())
    with contextlib.suppress(OSError):
        traces.append(os.fsencode((place / "cwd").readlink()))
    return b"\0".join(traces)


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        words = (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ")
        return f"{pid} {words.decode('utf-8', 'replace').strip()}"
    return str(pid)
