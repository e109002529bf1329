"""Where a board lies, seen from its project's root or given as its own folder, and what its config says now.

The config is read anew each time, as a person may rename a column at any moment; what it leaves out is the program's
default.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from orchestrator.domain.contract import fold
from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.trackers.backlog import frontmatter

CONFIG_NAMES = ("config.yml", "config.yaml")
ROOT_CONFIG = "backlog.config.yml"
FOLDERS = ("backlog", ".backlog")

# The program writes its config in place; an empty file after this time is meant to be empty.
EMPTY_CONFIG_SECONDS = 0.05

_STATES = ("To Do", "In Progress", "Done")
_PRIORITIES = ("high", "medium", "low")


@dataclass(frozen=True, slots=True)
class Place:
    """A board's folder and the file that configures it, where there is one."""

    folder: Path
    config: Path | None


@dataclass(frozen=True, slots=True)
class Config:
    """What we need of a board's config. `prefix` is that of its cards' ids, None where no file says which."""

    states: tuple[str, ...] = _STATES
    priorities: tuple[str, ...] = _PRIORITIES
    prefix: str | None = None

    def spelled(self, state: str) -> str | None:
        """The board's own spelling of a state, None when it has no such state."""
        return next((name for name in self.states if fold(name) == fold(state)), None)

    def full_id(self, name: str) -> str:
        """A card's id as people refer to it: `12` is `TASK-12` on a board of tasks."""
        return f"{self.prefix}-{name}".upper() if self.prefix and name[:1].isdigit() else name.upper()


def find(path: Path) -> Place:
    """The board at `path`: a project's root or the board's own folder; raises TrackerError (CONFIG)."""
    root = path.expanduser().absolute()
    if not root.is_dir():
        found = "a file" if root.exists() else "nothing"
        raise _wrong(f"{root} is {found}, not a folder")
    named = _named_by_root(root)
    if named is not None:
        return named
    for folder in (*(root / name for name in FOLDERS), root):
        config = _config_in(folder)
        if config is not None or (folder / "tasks").is_dir():
            return Place(folder.resolve(), config)
    inside = ", ".join(sorted(entry.name for entry in root.iterdir())[:8]) or "nothing"
    raise _wrong(f"{root} has no board: found {inside}")


def read_config(place: Place) -> Config:
    """What the config says now; raises TrackerError (CONFIG) when its list of states makes no sense."""
    if place.config is None:
        return Config()
    fields = frontmatter.read(_text(place.config))
    states = fields.get("statuses", _STATES)
    if not isinstance(states, tuple):
        found = f"{place.config}: found `statuses: {states}`"
        message = f"{found}, expected a list of names such as [To Do, Done]; mend the file"
        raise TrackerError(TrackerFault.CONFIG, message)
    prefix = fields.get("task_prefix") or "task"
    return Config(
        states=states or _STATES,
        priorities=tuple(word.strip().casefold() for word in frontmatter.listed(fields.get("priorities")))
        or _PRIORITIES,
        prefix=prefix.casefold() if isinstance(prefix, str) else None,
    )


def _named_by_root(root: Path) -> Place | None:
    config = root / ROOT_CONFIG
    if not config.is_file():
        return None
    fields = frontmatter.read(_text(config))
    name = fields.get("backlog_directory") or fields.get("backlogDirectory")
    names = (name,) if isinstance(name, str) else FOLDERS
    folder = next((root / name for name in names if (root / name).is_dir()), None)
    if folder is None or not folder.resolve().is_relative_to(root.resolve()):
        raise _wrong(
            f"{config} names the board folder {' or '.join(names)!r}, and there is no such folder below {root}"
        )
    return Place(folder.resolve(), config)


def _text(config: Path) -> str:
    try:
        text = config.read_text(encoding="utf-8-sig")
        if not text:  # somebody may be writing it in place; no states at all would put a hold on everything
            time.sleep(EMPTY_CONFIG_SECONDS)
            text = config.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TrackerError(TrackerFault.CONFIG, f"{config} cannot be read: {error}; mend the file") from error
    return text


def _config_in(folder: Path) -> Path | None:
    return next((folder / name for name in CONFIG_NAMES if (folder / name).is_file()), None)


def _wrong(found: str) -> TrackerError:
    root = f"the root of a Backlog.md project (with {', '.join(FOLDERS)} or {ROOT_CONFIG})"
    expected = f"{root} or a board folder (with config.yml or tasks/)"
    return TrackerError(
        TrackerFault.CONFIG, f"tracker.path: {found}; expected {expected}; correct the path, or run `backlog init`"
    )
