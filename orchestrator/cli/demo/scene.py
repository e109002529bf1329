"""Sets the scene in a run folder of its own: a board, a sample repository, a workflow file, the agent.

Everything that a person may want to look at afterwards stands below that one folder.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from orchestrator import settings
from orchestrator.cli.demo import sample_agent
from orchestrator.cli.demo.cards import CARDS, Card

# Columns of the sample board. "On Hold" is where the hand drags a card to: neither active nor terminal.
STATUSES = ("To Do", "On Hold", "In Progress", "In Review", "Done")

# Fewer than the cards, so that some wait for a slot; enough that the two cards of the hand leave two for the others.
AGENTS_AT_A_TIME = 4

BRANCH = "stationkeeper/{key}"

# The agent's program in the run folder.
AGENT = "agent.py"

# Steps that an ordinary card takes, a quarter of a second each: four seconds in which its worker can be killed.
STEPS = 16

_GIT_IDENTITY = {
    "GIT_AUTHOR_NAME": "Demo",
    "GIT_AUTHOR_EMAIL": "demo@example.invalid",
    "GIT_COMMITTER_NAME": "Demo",
    "GIT_COMMITTER_EMAIL": "demo@example.invalid",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column plays which part."""

    active: str
    in_progress: str
    handoff: str
    terminal: str
    aside: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """A card that the fleet is to work on, with the test that its agent has to make pass."""

    id: str
    title: str
    test_name: str
    test_body: str


@dataclass(frozen=True, slots=True)
class Board:
    """The board of a run: where, its columns, the chosen cards in the order in which they start.

    `label` is what the chosen cards bear where others stand beside them, `notes` what a person should know of it.
    """

    path: Path
    columns: Columns
    cards: Sequence[Chosen]
    label: str | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """A run folder with everything in its place."""

    folder: Path
    board: Board
    repository: Path
    workflow: Path
    witness: Path


def set_up(folder: Path, board: Board) -> Scene:
    """Make the repository, the agent and the workflow file around a board that is there already."""
    scene = Scene(folder, board, folder / "repository", folder / "WORKFLOW.md", folder / "agents.jsonl")
    _make_repository(scene.repository, board.cards)
    shutil.copyfile(sample_agent.__file__, folder / AGENT)
    scene.witness.touch()
    scene.workflow.write_text(_workflow(scene), encoding="utf-8")
    return scene


def sample_board(folder: Path, count: int) -> Board:
    """Write the sample board with `count` cards into `folder`."""
    (folder / "tasks").mkdir(parents=True)
    statuses = ", ".join(f'"{status}"' for status in STATUSES)
    settings = (
        f'project_name: "Lights"\ndefault_status: "To Do"\nstatuses: [{statuses}]\nlabels: []\ntask_prefix: "lamp"\n'
    )
    (folder / "config.yml").write_text(settings, encoding="utf-8")
    for card in CARDS[:count]:
        name = f"{card.id.lower()} - {card.title.replace(' ', '-')}.md"
        (folder / "tasks" / name).write_text(_card_text(card), encoding="utf-8")
    columns = Columns("To Do", "In Progress", "In Review", "Done", "On Hold")
    return Board(folder, columns, [with_recipe(card.id, card) for card in CARDS[:count]])


def without_recipe(item_id: str, title: str) -> Chosen:
    """A card of somebody's board: its test wants a note that names it."""
    check = f"""\
import pathlib
import unittest


class Test(unittest.TestCase):
    def test_note_names_the_card(self):
        note = pathlib.Path("notes", {item_id + ".md"!r}).read_text(encoding="utf-8")
        self.assertIn({title!r}, note)
"""
    return Chosen(item_id, title, _test_name(item_id), check)


def with_recipe(item_id: str, card: Card) -> Chosen:
    """A card with a recipe: its test wants what the recipe says."""
    module = card.file.removesuffix(".py").replace("/", ".")
    check = f"""\
import importlib
import unittest


class Test(unittest.TestCase):
    def test_{card.function}(self):
        self.assertEqual(importlib.import_module({module!r}).{card.function}(), {card.value})
"""
    return Chosen(item_id, card.title, _test_name(item_id), check)


def git(folder: Path, *words: str) -> str:
    """Run git in `folder`; what it printed. Raises subprocess.CalledProcessError."""
    trust = ("-c", "safe.directory=*")
    environment = {**settings.inherited(), **_GIT_IDENTITY}
    ran = subprocess.run(
        ["git", *trust, *words], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return ran.stdout


def _test_name(item_id: str) -> str:
    return "test_" + "".join(letter if letter.isalnum() else "_" for letter in item_id.lower())


def _card_text(card: Card) -> str:
    return f"""\
---
id: {card.id}
title: {card.title}
status: To Do
assignee: []
created_date: '2026-01-{int(card.id.partition("-")[2]):02d} 08:00'
labels: []
dependencies: []
priority: {card.priority}
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
{card.description}
<!-- SECTION:DESCRIPTION:END -->
"""


def _make_repository(repository: Path, cards: Sequence[Chosen]) -> None:
    """One failing test a card, on `main`."""
    tests = repository / "tests"
    tests.mkdir(parents=True)
    (tests / "__init__.py").touch()
    for card in cards:
        (tests / f"{card.test_name}.py").write_text(card.test_body, encoding="utf-8")
    git(repository, "init", "--quiet", "--initial-branch=main")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message", "One failing test for each card")


def _workflow(scene: Scene) -> str:
    """The workflow file; a YAML writer quotes what a path or a column's name may hold."""
    columns = scene.board.columns
    front: dict[str, object] = {
        "name": "demo",
        "tracker": {
            "kind": "backlog",
            "path": str(scene.board.path),
            "active_states": [columns.active, columns.in_progress],
            "terminal_states": [columns.terminal],
            "in_progress_state": columns.in_progress,
            "handoff_state": columns.handoff,
            **({"required_labels": [scene.board.label]} if scene.board.label else {}),
        },
        "polling": {"interval_ms": 1000},
        "workspace": {
            "root": str(scene.folder / "workspaces"),
            "repository": str(scene.repository),
            "base": "main",
            "branch": BRANCH,
        },
        "agent": {"kind": "command", "command": _agent_command(scene), "max_concurrent_agents": AGENTS_AT_A_TIME},
    }
    written = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n{written}---\nCard {{{{ issue.identifier }}}}: {{{{ issue.title }}}}\n\n{{{{ issue.description }}}}\n"


def _agent_command(scene: Scene) -> str:
    """The two cards that the hand meets take long, so that it meets them in mid-turn."""
    words = [sys.executable, str(scene.folder / AGENT), "--witness", str(scene.witness)]
    return shlex.join([*words, f"--steps={STEPS}", "--long", *(card.id for card in scene.board.cards[:2])])
