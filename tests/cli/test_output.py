"""How commands answer: cells become one line of text, documents become JSON."""

import json
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from orchestrator.cli import output
from orchestrator.cli.output import Rows
from orchestrator.domain.turn import TurnStatus


def test_elsewhere_than_on_a_terminal_a_row_is_one_line(capsys: pytest.CaptureFixture[str]):
    """A script can cut at tabs: a cell's own newlines and tabs are spaces."""
    output.show(
        Rows("turns", ("item", "status", "summary"), [("LAMP-1", TurnStatus.LOST, "two\nlines\tand"), ("B", None, "")])
    )
    assert capsys.readouterr().out == "turns\tLAMP-1\tlost\ttwo lines and\nturns\tB\t\t\n"


def test_a_document_holds_times_ids_and_words(capsys: pytest.CaptureFixture[str]):
    """Times are ISO 8601 with their zone, enums their word."""
    at = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    output.show_json({"at": at, "id": UUID(int=1), "status": TurnStatus.LOST, "path": Path("x")})
    assert json.loads(capsys.readouterr().out) == {
        "at": "2026-01-02T03:04:00+00:00",
        "id": "00000000-0000-0000-0000-000000000001",
        "status": "lost",
        "path": "x",
    }
