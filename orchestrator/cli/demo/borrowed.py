"""A copy of somebody's own Backlog.md board, never the original, made ready for a run.

Every file is read, or reported by name with the reason. Where the board lacks a column that the story needs, the copy
gains one, and that is said; where it has too few cards that could start, it gains cards of the sample.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.cli.demo import boardfile, scene
from orchestrator.cli.demo.cards import CARDS
from orchestrator.cli.demo.scene import Board, Chosen, Columns
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.domain import select
from orchestrator.domain.item import Item
from orchestrator.ports.tracker import TrackerError
from orchestrator.trackers import backlog
from orchestrator.trackers.backlog import place

# The chosen cards bear it on the copy, so that the fleet leaves the others alone.
LABEL = "stationkeeper-demo"

# Columns that the story needs and that the default board of many teams has not.
REVIEW, ASIDE = "In Review", "On Hold"


def copy(given: Path, folder: Path, count: int) -> Board:
    """Copy the board at `given` (a project's root or a board's folder) to `folder` and choose `count` of its cards."""
    try:
        _copy_files(given, folder)
        survey = backlog.survey(folder)
        columns, gained = _columns(folder)
        items, added = _choose(folder, columns, count)
    except TrackerError as error:
        raise Trouble(Exit.CONFIGURATION, f"--board {given}: {error}") from error
    for card in _files_of(folder, items):
        boardfile.add_label(card, LABEL)
    notes = [f"a copy of {given}", *_tell(survey), *gained, *added, f"chosen: {', '.join(item.id for item in items)}"]
    return Board(folder, columns, [_chosen(item) for item in items], LABEL, notes)


def _copy_files(given: Path, folder: Path) -> None:
    """Only the board's folder, made writable; a config that stands in the project's root is put into the copy."""
    found = place.find(given)
    shutil.copytree(found.folder, folder, ignore_dangling_symlinks=True, copy_function=shutil.copyfile)
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | stat.S_IRUSR | stat.S_IWUSR | (stat.S_IXUSR if path.is_dir() else 0))
    if found.config is not None and found.config.parent != found.folder:
        shutil.copyfile(found.config, folder / place.CONFIG_NAMES[0])


def _columns(folder: Path) -> tuple[Columns, list[str]]:
    """The parts of the board's columns: the first is where work waits, the last is where it ends."""
    gained = [f"the copy gains the column {name!r}" for name in (REVIEW, ASIDE) if backlog.add_state(folder, name)]
    config = place.read_config(place.find(folder))
    review, aside = config.spelled(REVIEW) or REVIEW, config.spelled(ASIDE) or ASIDE
    between = [state for state in config.states[1:-1] if state not in {review, aside}]
    if not between:
        backlog.add_state(folder, "In Progress")
        between, gained = ["In Progress"], [*gained, "the copy gains the column 'In Progress'"]
    return Columns(config.states[0], between[0], review, config.states[-1], aside), gained


def _choose(folder: Path, columns: Columns, count: int) -> tuple[Sequence[Item], list[str]]:
    """The cards that the fleet would start first, filled up with cards of the sample."""
    able = _able(folder, columns)
    lacking = max(count - len(able), 0)
    for card in CARDS[:lacking]:
        new = backlog.NewCard(card.title, card.description, columns.active, priority="low")
        backlog.add_card(folder, new, now=datetime.now(UTC))
    added = [f"it has {len(able)} cards that could start, so the copy gains {lacking} more"] if lacking else []
    return sorted(_able(folder, columns), key=select.rank)[:count], added


def _able(folder: Path, columns: Columns) -> list[Item]:
    """Cards in the waiting column that nothing blocks and that a second reader reads as well."""
    board = backlog.connect({"path": str(folder)})
    read = {card.id.casefold() for card in boardfile.tasks(folder)}
    items = (item for page in board.list_items([columns.active]) for item in page.items)
    return [
        item
        for item in items
        if item.dispatchable
        and item.blockers_readable
        and all(blocker.state == columns.terminal for blocker in item.blocked_by)
        and item.id.casefold() in read
    ]


def _files_of(folder: Path, items: Sequence[Item]) -> Iterator[boardfile.CardFile]:
    wanted = {item.id.casefold() for item in items}
    return (card for card in boardfile.tasks(folder) if card.id.casefold() in wanted)


def _chosen(item: Item) -> Chosen:
    recipes = {card.title: card for card in CARDS}
    sample = recipes.get(item.title)
    if sample is not None and sample.description in item.description:
        return scene.with_recipe(item.id, sample)
    return scene.without_recipe(item.id, item.title)


def _tell(survey: backlog.Survey) -> Iterator[str]:
    total = len(survey.on_board) + len(survey.beside) + len(survey.unread)
    yield (
        f"{total} files: {len(survey.on_board)} cards on the board, {len(survey.beside)} beside it (archive, drafts), "
        f"{len(survey.unread)} not read as cards:"
    )
    for malformed in survey.unread:
        yield f"  {malformed.id}: {malformed.reason}"
