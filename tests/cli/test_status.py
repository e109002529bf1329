"""The fleet at a glance: what a person sees first, and the same for programs."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from orchestrator.cli import output, status
from orchestrator.store.views import Overview
from tests.cli import views

OVERVIEW = Overview(
    now=views.NOW,
    workflows=(),
    turns=(views.RUNNING, views.QUEUED),
    retries=(views.TASK,),
    holds=(views.HOLD,),
    writes=(views.WRITE,),
    workers=(),
    waits={("demo", "blocked_by"): 3},
)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s ago"), (119, "119 s ago"), (120, "2 min ago"), (7200, "2 h ago"), (172800, "2 d ago")],
)
def test_an_age_is_told_in_a_persons_unit(seconds: int, said: str):
    """Seconds while they matter, then minutes, hours, days."""
    assert status.ago(views.NOW - timedelta(seconds=seconds), views.NOW) == said


def test_every_part_of_the_fleet_has_its_table():
    """Turns, retries, holds, unsent writes and waits are all there, with the card's name."""
    rows = {table.title: table.rows for table in status.tables(OVERVIEW)}
    assert [row[0] for row in rows["turns"]] == ["BACK-7", "BACK-7"]
    assert [rows[title][0][0] for title in ("holds", "unsent writes", "tried again")] == ["BACK-7"] * 3
    assert rows["waiting"] == [("demo", "blocked_by", 3)]


def test_what_is_doubtful_in_a_file_is_told_with_its_workflow():
    """Each warning on a row of its own, and beside the workflow when its board was read whole last."""
    doubtful = replace(
        views.WORKFLOW, warnings=("WORKFLOW.md:3: one", "WORKFLOW.md:4: two"), whole_at=views.before(300)
    )
    rows = {table.title: table.rows for table in status.tables(replace(OVERVIEW, workflows=(doubtful,)))}
    assert rows["warnings"] == [("demo", "WORKFLOW.md:3: one"), ("demo", "WORKFLOW.md:4: two")]
    assert rows["workflows"][0][-1] == "5 min ago"


def test_a_hold_on_a_workflow_is_named_by_it():
    """What no card bears is named by what it stands on."""
    hold = replace(views.HOLD, identifier=None, scope="workflow")
    rows = {table.title: table.rows for table in status.tables(replace(OVERVIEW, holds=(hold,)))}
    assert rows["holds"][0][0] == "demo"


def test_the_document_is_json(capsys: pytest.CaptureFixture[str]):
    """A program reads the same facts, the waits as a list."""
    output.show_json(status.document(OVERVIEW))
    read = json.loads(capsys.readouterr().out)
    assert read["waits"] == [{"workflow": "demo", "reason": "blocked_by", "items": 3}]
    assert read["turns"][0]["fence"] == 2
