"""A protocol as the loop sees it: what is heard gives replies. Without I/O, so that a test can hold both ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from orchestrator.agents.bridges.saying import Result


@dataclass(frozen=True, slots=True)
class Send:
    """Write this message to the program, as one line of JSON."""

    message: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Write:
    """Write these bytes to the program and close its standard input."""

    text: bytes


@dataclass(frozen=True, slots=True)
class Say:
    """Tell the worker: one line of ours."""

    line: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Finish:
    """The turn is over: let the program end, and say this."""

    result: Result


Reply = Send | Write | Say | Finish


class Talk(Protocol):
    """One turn of one program."""

    @property
    def argv(self) -> Sequence[str]:
        """What to start."""
        ...

    @property
    def owed(self) -> str | None:
        """The answer that the program owes us, by name; the loop waits for it no longer than the read time."""
        ...

    def opening(self) -> Sequence[Reply]:
        """What is said first."""
        ...

    def hear(self, message: Mapping[str, object]) -> Sequence[Reply]:
        """What follows from one message of the program."""
        ...

    def ended(self, code: int, complaint: str) -> Result:
        """How the turn ended, when the program has gone; `complaint` is the end of its standard error."""
        ...


def shell(command: str, *words: str) -> list[str]:
    """The command run by `sh -c`, as every command of a workflow is; `words` reach it unchanged."""
    return ["sh", "-c", f'{command} "$@"' if words else command, "sh", *words]


def table(value: object) -> Mapping[str, object]:
    """The mapping that the value is; an empty one for anything else, since a stranger may say anything."""
    return value if isinstance(value, Mapping) else {}


def number(value: object) -> int:
    """The whole number that the value is; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def text(value: object) -> str:
    """The text that the value is; empty for anything else."""
    return value if isinstance(value, str) else ""
