"""The pages for people say what the code says, and every link in them leads somewhere."""

import re
from pathlib import Path

import pytest

from docs import generate
from orchestrator import workflow

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))

# A record that needs more is two decisions, or a design.
MAX_DECISION_LINES = 40


def named(path):
    """A page's name from the root, for the test's id."""
    return path.relative_to(ROOT).as_posix()


def test_the_lifecycle_page_is_printed_from_the_code():
    """A status, an edge or a reason that changed is on the page; if not, run `python docs/generate.py`."""
    assert generate.PAGE.read_text(encoding="utf-8") == generate.lifecycle()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_to_a_file_leads_to_one(page):
    """A page that names a file of ours has it."""
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("record", DECISIONS, ids=named)
def test_a_decision_says_why_what_and_what_follows(record):
    """A record is short, is numbered as its file is, and has its three parts in order."""
    text = record.read_text(encoding="utf-8")
    assert text.startswith(f"# {record.name[:4]} ")
    assert re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert len(text.splitlines()) <= MAX_DECISION_LINES


def test_decisions_are_numbered_without_a_gap():
    """Two sessions that write at once must not take the same number."""
    assert [int(record.name[:4]) for record in DECISIONS] == list(range(1, len(DECISIONS) + 1))


def test_the_example_workflow_is_read_without_a_warning():
    """Who copies the example starts from a file in which every key is read and no rule is broken."""
    example = workflow.WorkflowFiles([], environment={}).read(ROOT / "docs" / "examples" / "WORKFLOW.backlog.md")
    assert example.workflow.warnings == ()


def test_the_readme_names_every_command_of_the_makefile_that_people_start_with():
    """The commands that the README promises are there."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"^make (\w+)", readme, re.MULTILINE):
        assert f"\n{command}:" in makefile
