"""The events of the running system as lines for a person: our own JSON lines, found in the logs of the processes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

# A tick a second says nothing to a person; what it does has lines of its own.
_ROUTINE = frozenset({"tick"})
_ENVELOPE = frozenset({"event", "level", "timestamp"})


class Followed:
    """Logs from their present ends onwards. Lines that are not ours (Celery's, a traceback) stay in the files."""

    def __init__(self, logs: Sequence[Path]) -> None:
        self._ends = {log: log.stat().st_size if log.exists() else 0 for log in logs}

    def fresh(self) -> Iterator[str]:
        """What was said since the last call, log by log."""
        for log in self._ends:
            for line in self._lines(log):
                with suppress(ValueError):
                    said = json.loads(line)
                    if isinstance(said, dict) and "event" in said and said["event"] not in _ROUTINE:
                        yield sentence(said)

    def _lines(self, log: Path) -> list[bytes]:
        """Whole lines only: half of one is left for the next call."""
        if not log.exists():
            return []
        with log.open("rb") as file:
            file.seek(self._ends[log])
            whole, newline, _ = file.read().rpartition(b"\n")
        self._ends[log] += len(whole) + len(newline)
        return whole.splitlines()


def sentence(said: dict[str, object]) -> str:
    """One event: when, what, and its fields."""
    time = str(said.get("timestamp", ""))[11:19]
    item = f"{said['item']}: " if "item" in said else ""
    rest = [f"{name} {value}" for name, value in said.items() if name not in _ENVELOPE | {"item"}]
    return f"{time} {item}{said['event']}" + (f" ({', '.join(rest)})" if rest else "")
