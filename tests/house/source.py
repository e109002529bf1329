"""The tree as the house tests read it: every file of ours, parsed once."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

# What is ours, by top-level name; anything else in the folder was made by a tool or belongs to a run.
PACKAGES = ("orchestrator", "tasks", "tests", "bench", "docs", "ops")
TEXTS = (*PACKAGES, ".ci", ".github")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One Python file: its path from the root, its text, its tree."""

    name: str
    text: str
    tree: ast.Module

    def functions(self) -> list[Function]:
        """Every function and method, nested ones included."""
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]


@cache
def python_files() -> tuple[Source, ...]:
    """Every Python file of ours."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return tuple(_parse(path) for path in [*paths, *sorted(ROOT.glob("*.py"))])


def production() -> list[Source]:
    """The Python files that run in production."""
    return [source for source in python_files() if not source.name.startswith(("tests/", "bench/", "docs/", "ops/"))]


@cache
def texts() -> dict[str, str]:
    """The text of every tracked file of ours by its name; what is not text is left out."""
    paths = [path for top in TEXTS for path in sorted((ROOT / top).rglob("*")) if "__pycache__" not in path.parts]
    # In a worktree `.git` is a file that git wrote.
    paths += [path for path in sorted(ROOT.iterdir()) if path.is_file() and path.name != ".git"]
    found = {}
    for path in paths:
        if path.is_file():
            try:
                found[_name(path)] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return found


def _parse(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    return Source(_name(path), text, ast.parse(text, filename=str(path)))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
