"""A tracker's options as they are when the tracker is opened: `$VAR` resolved in the process that opens it."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.workflow.variables import Unresolved, resolve_options


def opened_options(options: Mapping[str, object], *, environment: Mapping[str, str]) -> Mapping[str, object]:
    """The options with every variable resolved; raises TrackerError (CONFIG) for one that is not set."""
    try:
        return resolve_options(options, environment)
    except Unresolved as error:
        raise TrackerError(TrackerFault.CONFIG, f"tracker.{error}") from error
