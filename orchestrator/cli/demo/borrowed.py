"""A copy of somebody's own Backlog.md board, never the original, made ready for a run.

Every file is read, or reported by name with the reason. Where the board lacks a column that the story needs, the copy
gains one, and that is said.
"""

from __future__ import annotations

from pathlib import Path

from orchestrator.cli.demo.scene import Board


def copy(given: Path, folder: Path, count: int) -> Board:
    raise NotImplementedError
