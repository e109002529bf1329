"""The pages for people say what the code says, and every link in them leads somewhere."""

import re
from pathlib import Path

import pytest

from docs import generate
from orchestrator import workflow
from orchestrator.workflow import blocks, overrides

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


def settings_rows():
    """The table of docs/settings.md: its cells by key."""
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:3] == "| `"]
    return {row[0].strip("` "): row[1:] for row in rows}


# Those of trackers that people use; the memory board's are a test's.
_TRACKER_OPTIONS = blocks.TRACKER_OPTIONS["backlog"] | blocks.TRACKER_OPTIONS["roundup"]


def settings_defaults():
    """Every key of the code with its default."""
    found = {"name": None}
    for name, model in (
        ("tracker", blocks.Tracker),
        ("polling", blocks.Polling),
        ("workspace", blocks.Workspace),
        ("hooks", blocks.Hooks),
        ("agent", blocks.Agent),
        *blocks.AGENT_BLOCKS.items(),
    ):
        found |= {f"{name}.{key}": field.default for key, field in model.model_fields.items()}
    return {**found, **dict.fromkeys(f"tracker.{key}" for key in _TRACKER_OPTIONS)}


@pytest.mark.proves("CF-11")
def test_the_settings_page_has_every_key_and_says_when_it_counts():
    """No key of the code is missing, none is invented, and each says live or next turn: none needs a restart."""
    rows = settings_rows()
    assert set(rows) == set(settings_defaults())
    assert {row[1] for row in rows.values()} == {"live", "next turn"}


def as_written(default):
    """As a file says it."""
    return str(default).lower() if isinstance(default, bool) else str(default)


def test_the_settings_page_says_the_defaults_of_the_code():
    """A number or a word that is filled in is the one that people read."""
    rows = settings_rows()
    told = {key: default for key, default in settings_defaults().items() if isinstance(default, int | str)}
    assert {key: rows[key][0].strip("`") for key in told} == {key: as_written(default) for key, default in told.items()}


@pytest.mark.proves("CF-04", "CF-08")
def test_the_settings_page_names_the_variable_of_each_key_that_has_one():
    """And of no key that has none."""
    named = {key: row[2].strip("`") for key, row in settings_rows().items() if row[2]}
    keys = {".".join(map(str, key)): name for key, name in overrides.NAMES.items()}
    others = {"tracker.project", "tracker.query_filter"}
    assert named == {key: name for key, name in keys.items() if key not in others}
