"""An error on its way to a person: one sentence and a code for what is known, the traceback for what is not."""

import pytest

from orchestrator import settings
from orchestrator.cli import exits
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.ports.store import StoreUnavailable
from orchestrator.ports.workflows import WorkflowInvalid


def raising(error: Exception):
    """A command that ends in `error`."""

    def command() -> None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (Trouble(Exit.REFUSED, "runs already"), Exit.REFUSED, "runs already"),
        (settings.NotConfigured("set both"), Exit.CONFIGURATION, "set both"),
        (WorkflowInvalid("c", "WORKFLOW.md:3", "no kind"), Exit.CONFIGURATION, "WORKFLOW.md:3: no kind"),
        (StoreUnavailable(), Exit.UNREACHABLE, " ".join(str(StoreUnavailable.__doc__).split())),
    ],
    ids=["trouble", "not configured", "workflow", "silent store"],
)
def test_a_known_error_becomes_a_sentence_and_its_code(error: Exception, code: Exit, said: str):
    """A person reads place and remedy; a script reads the code."""
    lines: list[str] = []
    assert exits.guarded(raising(error), say=lines.append) is code
    assert lines == [said]


def test_an_unknown_error_keeps_its_traceback():
    """What nobody foresaw is our fault, and hiding where it happened would not help."""
    with pytest.raises(ZeroDivisionError):
        exits.guarded(raising(ZeroDivisionError()), say=lambda _: None)


def test_every_name_in_the_table_exists():
    """A renamed exception would turn a sentence into a traceback without anybody noticing."""
    assert exits.unknown_names() == []
