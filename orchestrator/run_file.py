"""Where a running system says how to reach it: `run.json` in the state folder, from its start to its end."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

NAME = "run.json"


class NotConfigured(Exception):
    """The system cannot be found, or a value is wrong; the message is one line that says what to do."""


def write(state_dir: Path, values: Mapping[str, str]) -> Path:
    """Leave `values` (by field name) where every command in this folder finds them; only our user can read them.

    Returns:
        The file's path. It replaces an earlier one whole: a reader never meets half of it.
    """
    state_dir.mkdir(parents=True, exist_ok=True)
    path = state_dir / NAME
    draft = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(dict(values), file, indent=2)
    draft.replace(path)
    return path


def remove(state_dir: Path) -> None:
    """Take the run file away: the system that it names has stopped."""
    (state_dir / NAME).unlink(missing_ok=True)


def read(state_dir: Path) -> dict[str, object]:
    """What the file says, by field name; nothing where there is none. Raises NotConfigured when it cannot be read."""
    path = state_dir / NAME
    again = "stop the system, remove the file, start again"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise NotConfigured(f"{path}: cannot be read ({error}); {again}") from error
    if not isinstance(found, dict):
        raise NotConfigured(f"{path}: expected an object, found {type(found).__name__}; {again}")
    return found
