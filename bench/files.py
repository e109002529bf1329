"""A tick over a Backlog.md folder on disk: with nothing changed, with one card changed, with all of them.

Beside it stands what a script would do each time: read every file of the folder and parse its front matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import yaml

from bench import measure, tick
from bench.ground import Ground
from bench.measure import Line, Medians, middle
from orchestrator.ports import Ports

TITLE = "files: a tick over a Backlog.md folder"
_CARD = """---
id: task-{number}
title: Card {number}
status: To Do
assignee: []
created_date: '2026-01-02 03:04'
labels: [bench]
dependencies: []
priority: medium
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
What to do about {number}. {words}
<!-- SECTION:DESCRIPTION:END -->
"""
_CONFIG = 'project_name: "bench"\nstatuses: ["To Do", "In Progress", "In Review", "Done"]\ntask_prefix: "task"\n'
_WORKFLOW = """---
name: bench
tracker:
  kind: backlog
  path: {path}
  active_states: [To Do, In Progress]
  terminal_states: [Done]
  in_progress_state: In Progress
  handoff_state: In Review
agent: {{kind: command, command: "true", max_concurrent_agents: {cap}}}
---
Do {{{{ issue.identifier }}}}
"""
# A card as teams write them: about a kilobyte.
_WORDS = "It leaks where the pipe meets the hull. " * 20


@dataclass(frozen=True, slots=True)
class Size:
    """How many cards, how often; the bounds in seconds are those of a person who waits for the board to be read."""

    cards: int
    pairs: int = measure.PAIRS


FULL = Size(5_000)
QUICK = Size(40, pairs=1)
_UNCHANGED_SECONDS, _CHANGED_SECONDS = 0.5, 3.0


@dataclass(frozen=True, slots=True)
class Ring:
    """One board that is read again and again."""

    ports: Ports
    cards: list[Path]
    pairs: int

    def line(self, what: str, change: Callable[[int], None], *, bound_seconds: float) -> Line:
        """A tick after each change, turn about with a script that reads the same folder."""
        ours, theirs = list[float](), list[float]()
        for turn in range(self.pairs):
            change(turn)
            ours.append(tick.tick(self.ports))
            theirs.append(measure.seconds(lambda: [_parsed(card) for card in self.cards]))
        found = Medians(middle(ours), middle(theirs))
        return measure.duration(f"{len(self.cards):,} cards, {what} changed", found, bound_seconds=bound_seconds)


def run(size: Size, ground: Ground) -> list[Line]:
    """Measure the three."""
    folder = board(ground.folder(), size.cards)
    ports = tick.ports(ground.database_url(), ground.redis_url())
    tick.put_in_force(ports, workflow(folder, cap=tick.CAP))
    tick.say_hello(ports)
    tick.tick(ports)
    cards = sorted((folder / "backlog" / "tasks").iterdir())
    ring = Ring(ports, cards, size.pairs)
    return [
        ring.line("nothing", lambda _: None, bound_seconds=_UNCHANGED_SECONDS),
        ring.line("one card", lambda turn: _change(cards[:1], turn), bound_seconds=_UNCHANGED_SECONDS),
        ring.line("every card", lambda turn: _change(cards, turn), bound_seconds=_CHANGED_SECONDS),
    ]


def board(folder: Path, cards: int) -> Path:
    """A project with a board of so many cards, all in the first column; gives the project."""
    tasks = folder / "backlog" / "tasks"
    tasks.mkdir(parents=True)
    (folder / "backlog" / "config.yml").write_text(_CONFIG)
    for number in range(1, cards + 1):
        (tasks / f"task-{number} - Card-{number}.md").write_text(_CARD.format(number=number, words=_WORDS))
    return folder


def card_id(number: int) -> str:
    """The id of a card of such a board."""
    return f"TASK-{number}"


def workflow(project: Path, *, cap: int) -> str:
    """A workflow file for such a board."""
    return _WORKFLOW.format(path=project, cap=cap)


def _change(cards: list[Path], turn: int) -> None:
    """Another title, as an editor saves it: a new file in the place of the old one."""
    for card in cards:
        head, title, rest = card.read_text().partition("title: Card ")
        fresh = card.with_suffix(".new")
        fresh.write_text(f"{head}{title}{turn} {rest}")
        fresh.replace(card)


def _parsed(card: Path) -> object:
    return yaml.load(card.read_text().split("---\n")[1], Loader=yaml.CSafeLoader)
