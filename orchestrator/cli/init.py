"""`orchestrator init`: a commented WORKFLOW.md for the board that is here, with the roles that its columns suggest.

It never overwrites, and what it writes has been judged before it is there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli import draft, judge
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.domain import roles

# The first that is installed is suggested; each takes its prompt on standard input and ends when it is done.
_AGENTS = {
    "claude": "claude -p --permission-mode acceptEdits",
    "codex": "codex exec --sandbox workspace-write -",
}


def command(  # noqa: PLR0917 -- Typer passes them by name
    folder: Annotated[Path, typer.Argument(help="Where WORKFLOW.md is to be.", file_okay=False)] = Path(),
    board: Annotated[Path | None, typer.Option(help="The Backlog.md project or board folder.")] = None,
    agent: Annotated[str | None, typer.Option("--command", help="The agent: a shell command.")] = None,
    to_stdout: Annotated[bool, typer.Option("--stdout", help="Print it, write nothing.")] = False,  # noqa: FBT002
) -> None:
    """Write a commented WORKFLOW.md for the board that is here, and say what was chosen."""
    from orchestrator import workflow

    path = folder.absolute() / workflow.FILE_NAME
    if path.exists() and not to_stdout:
        raise Trouble(
            Exit.REFUSED, f"{path}: is there already; it is yours, so change it, or see another with --stdout"
        )
    found = _look(path.parent, board)
    text = draft.written(found, command=agent or _suggested_agent())
    judged = judge.door([]).parse(text, path=path)
    if to_stdout:
        typer.echo(text, nl=False)
    else:
        _create(path, text)
        typer.echo(f"{path}: written")
    for line in (*draft.choices(found, judged), *judged.warnings):
        typer.echo(line, err=to_stdout)


def _look(folder: Path, board: Path | None) -> draft.Surroundings:
    """What is around the file: the board and its roles, and the repository."""
    from orchestrator.ports.tracker import TrackerError
    from orchestrator.trackers import backlog

    place = (board or folder).expanduser().absolute()
    try:
        states = backlog.connect({"path": place}).states()
    except TrackerError as error:
        raise Trouble(
            Exit.CONFIGURATION, f"no board to write a workflow for: {error}; or name it with --board"
        ) from error
    contract = roles.guess(states)
    if contract is None:
        message = f"{place}: its states {', '.join(map(repr, states))} leave no room for waiting, working and done"
        raise Trouble(Exit.CONFIGURATION, f"{message}; give the board at least 'To Do' and 'Done'")
    repository = _git(folder, "rev-parse", "--show-toplevel")
    return draft.Surroundings(
        name=folder.name,
        board=_seen_from(folder, place),
        states=states,
        contract=contract,
        repository=_seen_from(folder, Path(repository)) if repository else None,
        base=_git(folder, "symbolic-ref", "--short", "HEAD") if repository else None,
        committed=_git(folder, "rev-parse", "--verify", "HEAD") is not None,
    )


def _seen_from(folder: Path, place: Path) -> str:
    """Relative where that is shorter to read: a project is moved as a whole."""
    relative = os.path.relpath(place.resolve(), folder.resolve())
    return str(place.resolve()) if relative.startswith("../..") else relative


def _git(folder: Path, *words: str) -> str | None:
    """What git says there, None when it says no or is not installed."""
    try:
        ran = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout.strip() or None if ran.returncode == 0 else None


def _suggested_agent() -> str:
    return next((command for name, command in _AGENTS.items() if shutil.which(name)), _AGENTS["claude"])


def _create(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise Trouble(Exit.REFUSED, f"{path}: somebody has just written it; it was left as it is") from error
    except OSError as error:
        raise Trouble(
            Exit.CONFIGURATION, f"{path}: cannot be written ({error.strerror}); name a folder that can"
        ) from error
