"""The workflows in force, as rows with a version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class WorkflowRow:
    """A workflow version: `body` as written, `path` where it was read, `problem` what the board lacks for it now.

    `retired`: a person let the workflow go, so nothing new starts for it.
    """

    name: str
    version: int
    digest: str
    body: str
    path: str
    scope: str
    problem: str | None = None
    retired: bool = False

    def source(self) -> Path:
        """Where the file was read: relative paths in the body resolve against its folder."""
        return Path(self.path)


class WorkflowStore(Protocol):
    """The workflows in force; a changed, valid file becomes the next version."""

    def publish(
        self,
        row: WorkflowRow,
        *,
        interval_ms: int,
        beside: Mapping[str, int] | None = None,
        instead_of: WorkflowRow | None = None,
    ) -> WorkflowRow | None:
        """Put a file in force as `row.version` + 1 by compare-and-set (0: the first); returns what is in force then.

        `beside` are the versions of the board's other workflows that it was judged against; None when these are others.
        `instead_of` is the workflow that the file was until now: it is retired in the same commit, and None is the
        answer when another version of it is in force. A file about another board leaves the row as it is while
        anything is open on the old one.
        """
        ...

    def retire(self, name: str) -> bool:
        """Let a workflow go: nothing new starts, running turns finish; False when it is not in force."""
        ...

    def current(self, name: str) -> WorkflowRow | None:
        """The version in force, or the last one of a workflow that is retired."""
        ...

    def all(self) -> tuple[WorkflowRow, ...]:
        """Every workflow in force, by name; not those that are retired."""
        ...

    def version(self, name: str, number: int) -> WorkflowRow:
        """A version that a turn was opened with."""
        ...

    def set_file_problem(self, path: str, problem: str | None, *, version: int | None = None) -> bool:
        """Store what is wrong with the file that `version` in force was read from (None: whichever is).

        True when that changed; a complaint about an older version changes nothing.
        """
        ...

    def set_warnings(self, name: str, warnings: Sequence[str], *, version: int) -> bool:
        """Store what is doubtful in the file of this version of the workflow; True when that changed."""
        ...

    def set_problem(self, name: str, problem: str | None, *, version: int) -> bool:
        """Store what the board lacks for this version of the workflow's contract; True when that changed."""
        ...
