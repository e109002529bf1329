"""Two mistakes of a person while everything runs, and what they cost: a renamed column, and a bad edit of the file."""

import pytest

from orchestrator import settings
from orchestrator.store.open import open_store
from tests.e2e.launcher import Launcher
from tests.waiting import until

# A start of everything on a machine that does other things too, and a few commands.
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]


@pytest.fixture
def launcher(tmp_path):
    """The system on a real Backlog.md board of four cards, whose first two agents work for long."""
    made = Launcher(tmp_path / "station")
    made.up()
    yield made
    if made.process is not None:
        made.process.terminate()
        made.process.wait(30)
    made.await_end()


@pytest.fixture
def store(launcher):
    """What `status` reads, asked in this process: quicker than a command."""
    opened = open_store(settings.read({}, launcher.folder).database_url)
    yield opened
    opened.close()


@pytest.fixture
def workflow_now(store):
    """The only workflow, as it stands now."""
    return lambda: store.queries.overview().workflows[0]


def edit(path, old, new):
    """A person replaces some words in a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.proves("SC-14", "SC-17", "H8", "CF-09")
def test_a_renamed_column_and_a_bad_edit_heal_by_themselves(launcher, store, workflow_now):
    """Each is told with its remedy, one line in the log; no agent is stopped for it, and mending the file is enough."""
    launcher.await_agents()
    config, log = (
        launcher.folder / "backlog" / "config.yml",
        launcher.folder / ".stationkeeper" / "logs" / "control.log",
    )

    edit(config, '"To Do"', '"Todo"')
    told = until(lambda: workflow_now().problem, what="the alarm")
    assert "no state 'To Do'; the closest that it has is 'Todo'" in told
    edit(launcher.stage.workflow, "max_concurrent_agents: 4", "max_concurrent_agents: many")
    assert "max_concurrent_agents" in until(lambda: workflow_now().file_problem, what="the complaint")
    assert workflow_now().version == 1
    assert "has no state" in launcher.orchestrator("status").stdout
    numbers = launcher.orchestrator("metrics").stdout
    assert 'stationkeeper_contract_broken{workflow="demo"} 1.0' in numbers
    assert 'stationkeeper_workflow_file_bad{workflow="demo"} 1.0' in numbers

    edit(config, '"Todo"', '"To Do"')
    edit(launcher.stage.workflow, "max_concurrent_agents: many", "max_concurrent_agents: 3")
    until(lambda: (workflow_now().problem, workflow_now().file_problem) == (None, None), what="that both healed")
    assert workflow_now().version == 2
    assert store.slow.rows("select * from turn where cancel is not null") == []
    said = log.read_text()
    assert [said.count(f'"event": "{event}"') for event in ("contract broken", "workflow refused")] == [1, 1]

    other = launcher.folder / "other.md"
    other.write_text(launcher.stage.workflow.read_text().replace("- In Progress", "- In Progress\n  - On Hold", 1))
    compared = launcher.orchestrator("plan", "--contract", "other.md")
    assert compared.returncode == 0, compared.stderr
