"""A copy of somebody's board: the original untouched, every file told of, what is lacking added and said."""

from pathlib import Path

import pytest

from orchestrator.cli.demo import boardfile, borrowed
from orchestrator.cli.exits import Exit, Trouble

CARD = "---\nid: BACK-{0}\ntitle: 'Card {0}'\nstatus: {1}\nlabels: []\ndependencies: [{2}]\n---\n\nText.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the default columns: five cards to do (one blocked), one done, one file that is no card."""
    board = tmp_path / "project" / "backlog"
    (board / "tasks").mkdir(parents=True)
    (board / "config.yml").write_text('statuses: ["To Do", "In Progress", "Done"]\ntask_prefix: "back"\n')
    for number, (status, blocker) in enumerate(
        [("To Do", ""), ("To Do", ""), ("To Do", ""), ("To Do", ""), ("To Do", "BACK-1"), ("Done", "")], start=1
    ):
        (board / "tasks" / f"back-{number} - Card.md").write_text(CARD.format(number, status, blocker))
    (board / "tasks" / "readme.md").write_text("not a card\n")
    return board.parent


def files(folder: Path) -> dict[str, bytes]:
    """Every file below `folder`."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_original_is_never_written(project: Path, tmp_path: Path):
    """A demo is for looking: not a byte of the given board changes."""
    before = files(project)
    borrowed.copy(project, tmp_path / "copy", 4)
    assert files(project) == before


def test_a_read_only_board_gives_a_writable_copy(project: Path, tmp_path: Path):
    """A board may lie on a medium that nobody can write to."""
    for path in (project, *project.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    board = borrowed.copy(project, tmp_path / "copy", 4)
    assert all(path.stat().st_mode & 0o200 for path in board.path.rglob("*"))


def test_what_is_lacking_is_added_and_said(project: Path, tmp_path: Path):
    """No review column and none to lay a card aside: the copy gains both, before the last one."""
    board = borrowed.copy(project, tmp_path / "copy", 4)
    assert (board.columns.active, board.columns.in_progress, board.columns.terminal) == ("To Do", "In Progress", "Done")
    assert (board.columns.handoff, board.columns.aside) == ("In Review", "On Hold")
    assert "the copy gains the column 'In Review'" in board.notes
    assert "the copy gains the column 'On Hold'" in board.notes


def test_chosen_cards_can_start_and_bear_the_label(project: Path, tmp_path: Path):
    """A blocked card is not chosen, and the fleet is told by a label which ones are its own."""
    board = borrowed.copy(project, tmp_path / "copy", 4)
    assert [card.id for card in board.cards] == ["BACK-1", "BACK-2", "BACK-3", "BACK-4"]
    labelled = {card.id for card in boardfile.tasks(board.path) if borrowed.LABEL in card.labels}
    assert labelled == {"BACK-1", "BACK-2", "BACK-3", "BACK-4"}


def test_a_file_that_is_no_card_is_told_by_name(project: Path, tmp_path: Path):
    """Every file is read, or reported with its reason."""
    board = borrowed.copy(project, tmp_path / "copy", 4)
    assert any("tasks/readme.md: not a card" in note for note in board.notes)
    assert any(note.startswith("7 files: 6 cards on the board") for note in board.notes)


def test_a_board_with_too_few_cards_gains_cards_of_the_sample(project: Path, tmp_path: Path):
    """The demo needs its number of cards, and says where they come from."""
    board = borrowed.copy(project, tmp_path / "copy", 6)
    assert len(board.cards) == 6
    assert "it has 4 cards that could start, so the copy gains 2 more" in board.notes
    assert sum("importlib" in card.test_body for card in board.cards) == 2


def test_a_folder_that_is_no_board_is_a_sentence(tmp_path: Path):
    """The person is told what was found and what was expected."""
    with pytest.raises(Trouble, match="has no board") as told:
        borrowed.copy(tmp_path, tmp_path / "copy", 4)
    assert told.value.exit_code is Exit.CONFIGURATION
