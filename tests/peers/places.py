"""Where `make peers` puts what it installs; a test that needs a thing that is not there is skipped by its name."""

from pathlib import Path

import pytest

HOME = Path(__file__).parents[2] / ".tools" / "peers"


def roundup() -> Path:
    """The Python that has Roundup."""
    return _found(HOME / "roundup" / "bin" / "python", "roundup")


def backlog() -> Path:
    """The Backlog.md program."""
    return _found(HOME / "backlog" / "node_modules" / ".bin" / "backlog", "backlog")


def codex() -> Path:
    """The Codex program: a script that starts the native one."""
    return _found(HOME / "agents" / "node_modules" / ".bin" / "codex", "agents")


def claude() -> Path:
    """The Claude Code program, as it comes for this machine; which of the packages that is, npm has decided."""
    programs = sorted((HOME / "agents" / "node_modules" / "@anthropic-ai").glob("claude-code-*/claude"))
    return _found(programs[0] if programs else HOME / "agents" / "claude", "agents")


def _found(program: Path, name: str) -> Path:
    if not program.exists() or not (HOME / f"{name}.installed").exists():
        pytest.skip(f"{name} is not installed; `make peers` does it where this machine can")
    return program
