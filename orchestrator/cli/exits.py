"""How a command ends: its exit code, and the sentence for a person when something is in the way.

The codes are a closed list that scripts may rely on. Every known trouble is turned into one sentence here; what is not
known here is a fault of ours and keeps its traceback.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of every command."""

    FINE = 0  # it did what was asked
    BROKEN = 1  # a promise or a check failed
    USAGE = 2  # the command line makes no sense; set by the parser
    CONFIGURATION = 3  # a value or a workflow file is wrong, or the system was never started here
    UNREACHABLE = 4  # Postgres, Redis or the tracker does not answer, or cannot be started
    REFUSED = 5  # a hold, or another launcher, says no


class Trouble(Exception):
    """A command cannot go on; the message names place, found, expected and remedy."""

    def __init__(self, exit_code: Exit, message: str) -> None:
        """Keep the code that the process ends with beside the sentence."""
        super().__init__(message)
        self.exit_code = exit_code


# Errors of other rooms by where they are defined, so that `--help` need not import SQLAlchemy and Celery to know them.
_KNOWN = {
    "orchestrator.domain.call.FlowUnknown": Exit.CONFIGURATION,
    "orchestrator.settings.NotConfigured": Exit.CONFIGURATION,
    "orchestrator.ports.workflows.WorkflowInvalid": Exit.CONFIGURATION,
    "orchestrator.store.migrate.SchemaMismatch": Exit.CONFIGURATION,
    "orchestrator.store.connections.UnfitServer": Exit.CONFIGURATION,
    "orchestrator.ports.store.StoreUnavailable": Exit.UNREACHABLE,
    "orchestrator.ports.queue.PublishFailed": Exit.UNREACHABLE,
    "orchestrator.ports.leases.LeasesUnavailable": Exit.UNREACHABLE,
    "orchestrator.ports.tracker.TrackerError": Exit.UNREACHABLE,
    "orchestrator.embedded.child.Unavailable": Exit.UNREACHABLE,
}


def guarded(command: Callable[[], object], *, say: Callable[[str], None]) -> Exit:
    """Run `command`; a known trouble is said in one sentence and becomes its exit code, anything else is raised on."""
    try:
        command()
    except Trouble as trouble:
        say(str(trouble))
        return trouble.exit_code
    except Exception as error:
        code = code_of(error)
        if code is None:
            raise
        say(sentence(error))
        return code
    return Exit.FINE


def code_of(error: Exception) -> Exit | None:
    """The exit code that a known error of another room stands for, None for one that is not known."""
    return next((code for name, code in _KNOWN.items() if _is_a(error, *name.rsplit(".", 1))), None)


def sentence(error: Exception) -> str:
    """The error for a person: its message, else what its class says of itself."""
    return str(error).strip() or " ".join((type(error).__doc__ or type(error).__name__).split())


def unknown_names() -> list[str]:
    """The entries of the table above that name nothing; a test keeps it empty."""
    return [name for name in _KNOWN if not _exists(*name.rsplit(".", 1))]


def _is_a(error: Exception, module: str, name: str) -> bool:
    """Whether the error is of that class. A class that nobody has imported yet cannot have been raised."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(error, kind)


def _exists(module: str, name: str) -> bool:
    return hasattr(importlib.import_module(module), name)
