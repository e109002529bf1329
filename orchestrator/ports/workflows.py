"""Workflows: WORKFLOW.md files, and the typed values that a stored body means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.domain.workflow import Workflow


class WorkflowInvalid(Exception):
    """A workflow file cannot be used.

    `code` is one of CF-03's, `place` the file with its line, and the message says what was found, what was expected and
    what to do. `findings` are all that is wrong, each a place and a sentence; the message is made of them.
    """

    def __init__(self, code: str, place: str, message: str, *, others: Sequence[tuple[str, str]] = ()) -> None:
        """Keep the machine's code and the person's place beside the sentence; `others` are wrong as well."""
        super().__init__("\n".join(f"{where}: {what}" for where, what in [(place, message), *others]))
        self.code = code
        self.place = place
        self.message = "\n".join([message, *(f"{where}: {what}" for where, what in others)])
        self.findings = ((place, message), *others)


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """A file as read: its text, its digest, what it means. Relative paths resolve against `path`'s folder."""

    path: Path
    body: str
    digest: str
    workflow: Workflow


class Workflows(Protocol):
    """Reads and judges."""

    def files(self) -> tuple[Path, ...]:
        """The workflow files that this installation serves; raises WorkflowInvalid (missing_workflow_file)."""
        ...

    def read(self, path: Path) -> WorkflowFile:
        """One file, whole; raises WorkflowInvalid."""
        ...

    def parse(self, body: str, *, path: Path) -> Workflow:
        """What a stored body means; `path` is where it was read. Raises WorkflowInvalid."""
        ...
