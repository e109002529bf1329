"""`orchestrator init`: what it writes is valid, says what was chosen, and overwrites nothing."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from orchestrator.cli import app, exits
from orchestrator.cli.exits import Exit


@pytest.fixture
def project(tmp_path):
    """A folder with a board of four columns in a git repository."""
    tasks = tmp_path / "harbour" / "backlog" / "tasks"
    tasks.mkdir(parents=True)
    config = tasks.parent / "config.yml"
    config.write_text('project_name: "Harbour"\nstatuses: ["Ideas", "To Do: now", "Doing", "In Review", "Done"]\n')
    subprocess.run(["git", "init", "-q", "-b", "trunk", tasks.parents[1]], check=True)
    return tasks.parents[1]


def run(*words):
    """The command's exit code and what it printed, as `main` would end it."""
    said, result = [], None

    def command():
        nonlocal result
        result = CliRunner().invoke(app.app, [str(word) for word in words], catch_exceptions=False)

    code = exits.guarded(command, say=said.append)
    return code, result.output if result else "\n".join(said)


def test_what_it_writes_is_valid_and_has_the_boards_roles(project):
    """Read again by `validate`, there is no warning; the columns stand in their roles, quoted where YAML needs it."""
    code, told = run("init", project)
    assert code == Exit.FINE
    assert "left alone: Ideas" in told
    assert "no commit yet" in told
    front = yaml.safe_load((project / "WORKFLOW.md").read_text().split("---\n")[1])
    assert front["tracker"]["active_states"] == ["To Do: now", "Doing"]
    assert (front["tracker"]["in_progress_state"], front["tracker"]["handoff_state"]) == ("Doing", "In Review")
    assert front["workspace"] == {"root": ".stationkeeper/workspaces", "repository": ".", "base": "trunk"}
    code, told = run("validate", project, "--json")
    (result,) = json.loads(told)
    assert (code, result["valid"], result["warnings"]) == (Exit.FINE, True, [])


def test_a_file_that_is_there_is_never_written_over(project):
    """It is somebody's; the other one can be looked at with --stdout."""
    mine = project / "WORKFLOW.md"
    mine.write_text("mine")
    code, told = run("init", project)
    assert (code, mine.read_text()) == (Exit.REFUSED, "mine")
    assert "--stdout" in told
    code, told = run("init", project, "--stdout", "--command", "robot: --go")
    assert (code, mine.read_text()) == (Exit.FINE, "mine")
    assert "command: 'robot: --go'" in told


def test_a_board_elsewhere_is_named_by_its_own_path(project, tmp_path):
    """The workflow may stand outside of the project; without a repository nobody promises worktrees."""
    (tmp_path / "flows").mkdir()
    assert run("init", tmp_path / "flows", "--board", project / "backlog")[0] == Exit.FINE
    front = yaml.safe_load((tmp_path / "flows" / "WORKFLOW.md").read_text().split("---\n")[1])
    assert (tmp_path / "flows" / front["tracker"]["path"]).resolve() == project / "backlog"
    assert "repository" not in front["workspace"]


@pytest.mark.parametrize(
    ("config", "said"),
    [(None, "no board to write a workflow for"), ("statuses: [Done]\n", "leave no room for waiting, working and done")],
)
def test_where_there_is_nothing_to_say_nothing_is_written(tmp_path, config, said):
    """No board, or one without columns for work: a sentence and the code for a wrong configuration."""
    if config is not None:
        (tmp_path / "backlog" / "tasks").mkdir(parents=True)
        (tmp_path / "backlog" / "config.yml").write_text(config)
    code, told = run("init", tmp_path)
    assert code == Exit.CONFIGURATION
    assert said in told
    assert not (tmp_path / "WORKFLOW.md").exists()


def test_the_shared_example_of_columns_is_the_programs_default(tmp_path):
    """A board without a config has the columns that its own program gives it."""
    (tmp_path / "backlog" / "tasks").mkdir(parents=True)
    assert run("init", tmp_path)[0] == Exit.FINE
    assert "active_states: [To Do, In Progress]" in Path(tmp_path / "WORKFLOW.md").read_text()
