"""A workflow file as the commands meet it: opened with this process's environment and the kinds that are here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import settings

if TYPE_CHECKING:
    from orchestrator.workflow import WorkflowFiles


def door(paths: Sequence[Path]) -> WorkflowFiles:
    """The door to these files and folders."""
    from orchestrator import adapters, workflow

    return workflow.WorkflowFiles(paths, environment=settings.inherited(), kinds=workflow.Kinds(*adapters.kinds()))
