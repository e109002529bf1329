"""Adding a state or a card to a board, all else byte for byte; for a demo on a copy, never on people's own board."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import yaml

from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.trackers.backlog import card as cards
from orchestrator.trackers.backlog import place
from orchestrator.trackers.backlog.folder import Folder

# What the program gives a card's file for a title; longer ones it cuts as well.
_TITLE_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class NewCard:
    """A card to add; `description` is Markdown, `dependencies` are ids."""

    title: str
    description: str
    state: str
    priority: str | None = None
    labels: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()


def add_state(path: Path, state: str) -> bool:
    """Give the board a state before its last one, where finished work stands; False when it has it already."""
    board = place.find(path)
    config = place.read_config(board)
    if config.spelled(state) is not None:
        return False
    target = board.config or board.folder / place.CONFIG_NAMES[0]
    text = target.read_bytes().decode() if board.config else ""
    changed = _with_state(text, state, config.states)
    target.write_bytes(changed.encode())
    if place.read_config(place.find(path)).spelled(state) is None:
        target.write_bytes(text.encode())
        raise TrackerError(
            TrackerFault.CONFIG, f"{target}: cannot add to its `statuses`; write them on one line: [To Do, Done]"
        )
    return True


def add_card(path: Path, new: NewCard, *, now: datetime) -> str:
    """Add a card with the next free number, as the program writes one; gives its id."""
    board = place.find(path)
    prefix = place.read_config(board).prefix or "task"
    taken = [card_id for file in Folder(board.folder).files(prefix=None) if (card_id := cards.id_in_name(file.name))]
    numbers = [
        int(match[1]) for card_id in taken if (match := re.match(rf"{re.escape(prefix)}-(\d+)", card_id, re.IGNORECASE))
    ]
    number = max(numbers, default=0) + 1
    slug = re.sub(r"[^\w+.]+", "-", new.title).strip("-.")[:_TITLE_CHARACTERS]
    target = board.folder / "tasks" / f"{prefix}-{number} - {slug}.md"
    target.parent.mkdir(exist_ok=True)
    card_id = f"{prefix.upper()}-{number}"
    with target.open("x", encoding="utf-8", newline="") as file:
        file.write(_written(card_id, new, now))
    return card_id


def _written(card_id: str, new: NewCard, now: datetime) -> str:
    fields: dict[str, object] = {
        "id": card_id,
        "title": new.title,
        "status": new.state,
        "assignee": [],
        "created_date": now.astimezone(UTC).strftime("%Y-%m-%d %H:%M"),
        "labels": list(new.labels),
        "dependencies": list(new.dependencies),
        **({"priority": new.priority} if new.priority else {}),
    }
    matter = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=10_000)
    begin, end = (f"<!-- SECTION:DESCRIPTION:{edge} -->" for edge in ("BEGIN", "END"))
    return f"---\n{matter}---\n\n## Description\n\n{begin}\n{new.description.strip()}\n{end}\n"


def _with_state(text: str, state: str, states: tuple[str, ...]) -> str:
    """The config with the state in its list: YAML says where the last entry stands, the text is only cut there."""
    written = yaml.safe_dump(state, default_style='"', allow_unicode=True, width=10_000).strip()
    where = _last_entry(text)
    if where is None:
        ending = "" if not text or text.endswith("\n") else "\n"
        before = ", ".join(f'"{name}"' for name in states[:-1])
        return f'{text}{ending}statuses: [{before}, {written}, "{states[-1]}"]\n'
    bullet = text[text.rfind("\n", 0, where) + 1 : where]
    line_end = "\r\n" if "\r\n" in text else "\n"
    joint = f"{line_end}{bullet}" if bullet.strip() == "-" else ", "
    return f"{text[:where]}{written}{joint}{text[where:]}"


def _last_entry(text: str) -> int | None:
    """Where the last entry of `statuses` begins; None when the file has no such list."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return None
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    listed = next(
        (value for key, value in pairs if key.value == "statuses" and isinstance(value, yaml.SequenceNode)), None
    )
    return listed.value[-1].start_mark.index if listed is not None and listed.value else None
