"""Where a board lies, and what its config says; and what a person reads who points somewhere else."""

from pathlib import Path

import pytest

from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.trackers.backlog import place
from tests.trackers.backlog.hand import CONFIG, Hand


def made(root: Path, folder: str) -> Path:
    """A board folder below a project."""
    (root / folder / "tasks").mkdir(parents=True)
    (root / folder / "config.yml").write_text(CONFIG)
    return root / folder


@pytest.mark.parametrize("folder", ["backlog", ".backlog"])
def test_a_project_root_leads_to_its_board(tmp_path: Path, folder: str):
    """The two names that the program looks for."""
    board = made(tmp_path, folder)
    assert place.find(tmp_path) == place.Place(board, board / "config.yml")


def test_the_board_folder_itself_will_do(tmp_path: Path):
    """Whatever its name; even without a config, when it has cards."""
    board = made(tmp_path, "anything")
    assert place.find(board).folder == board
    (board / "config.yml").unlink()
    assert place.find(board) == place.Place(board, None)


def test_the_roots_own_config_names_the_folder(tmp_path: Path):
    """Such a config holds the states too."""
    (tmp_path / "docs" / "board" / "tasks").mkdir(parents=True)
    root_config = tmp_path / "backlog.config.yml"
    root_config.write_text("project_name: x\nbacklog_directory: docs/board\nstatuses: [Open, Closed]\n")
    found = place.find(tmp_path)
    assert found == place.Place(tmp_path / "docs" / "board", root_config)
    assert place.read_config(found).states == ("Open", "Closed")


def test_the_same_board_by_another_way_is_the_same_place(tmp_path: Path):
    """A link to it, its root or itself: one scope, one set of items."""
    board = made(tmp_path / "project", "backlog")
    (tmp_path / "link").symlink_to(tmp_path / "project")
    assert place.find(tmp_path / "link").folder == place.find(board).folder == place.find(tmp_path / "project").folder


@pytest.mark.parametrize("path", ["nowhere", "a-file", "a-folder", "outside"])
def test_a_path_without_a_board_is_answered_for_a_person(tmp_path: Path, path: str):
    """What was found, what was expected, what to do."""
    (tmp_path / "a-file").write_text("x")
    (tmp_path / "a-folder" / "src").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "backlog.config.yml").write_text("project_name: x\nbacklog_directory: ../a-folder\n")
    with pytest.raises(TrackerError) as failure:
        place.find(tmp_path / path)
    assert failure.value.fault is TrackerFault.CONFIG
    assert all(part in str(failure.value) for part in ("tracker.path", path, "expected", "correct the path"))


def test_a_config_without_states_has_the_programs_own(tmp_path: Path):
    """To Do, In Progress, Done."""
    config = place.read_config(place.find(Hand(tmp_path, "project_name: x\n").project))
    assert config == place.Config(prefix="task")
    assert config.states == ("To Do", "In Progress", "Done")


def test_states_that_are_no_list_are_an_error_of_the_file(tmp_path: Path):
    """The message names the file and what it says."""
    hand = Hand(tmp_path, "statuses: To Do\n")
    with pytest.raises(TrackerError, match=r"config\.yml: found `statuses: To Do`, expected a list"):
        place.read_config(place.find(hand.project))


def test_a_config_that_is_no_yaml_is_still_read(tmp_path: Path):
    """The program reads it line by line, so people's files are not always YAML."""
    hand = Hand(tmp_path, "project_name: A: b\nstatuses:\n  - Open\n  - 'Closed'\npriorities: [Urgent, Later]\n")
    config = place.read_config(place.find(hand.project))
    assert (config.states, config.priorities) == (("Open", "Closed"), ("urgent", "later"))


def test_a_config_that_somebody_is_writing_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An empty file must not pass for a board with the default states."""
    hand = Hand(tmp_path, "")
    file = hand.folder / "config.yml"
    monkeypatch.setattr(place.time, "sleep", lambda _: file.write_text("statuses: [Open, Closed]\n"))
    assert place.read_config(place.find(hand.project)).states == ("Open", "Closed")
