"""The files of a board, read when they must be and not more often, and never taken for gone too early."""

from pathlib import Path

import pytest

from orchestrator.ports.tracker import TrackerFault
from orchestrator.trackers.backlog import folder as folders
from tests.trackers.backlog.hand import (
    CARD,
    Hand,
    drag,
    fault_of,
    listed,
    malformed,
)


def test_half_a_file_is_read_again_before_it_counts(hand: Hand):
    """The program writes in place: the rest comes a moment later."""
    path = hand.write(1, CARD[:60])
    hand.while_paused = lambda: path.write_text(CARD) and None
    assert [item.id for item in listed(hand.open())] == ["TASK-1"]
    path.write_text(CARD[:60])
    assert set(hand.open().get_items(["TASK-1"])) == {"TASK-1"}
    assert hand.pauses == [folders.HALF_WRITTEN_SECONDS] * 2


def test_half_a_file_that_stays_half_is_malformed_never_gone(hand: Hand):
    """Broken is neither gone nor fine, in a listing as by id."""
    hand.write(1, CARD[:60])
    board = hand.open()
    assert "no front matter" in malformed(board)["TASK-1"]
    assert fault_of(lambda: board.get_items(["TASK-1"])) is TrackerFault.PAYLOAD


def test_an_old_broken_file_costs_no_wait_at_each_tick(hand: Hand):
    """Nobody is writing what nobody has touched for a minute."""
    hand.aged(hand.write(1, "nothing"))
    board = hand.open()
    assert set(malformed(board)) == set(malformed(board)) == {"TASK-1"}
    assert hand.pauses == []


def test_a_file_whose_name_lies_is_found_by_what_it_says(hand: Hand):
    """A copied file with an id of its own inside: gone is said only after each file was looked into."""
    hand.write(7, CARD.replace("id: TASK-1", "id: TASK-70").encode())
    board = hand.open()
    assert set(board.get_items(["TASK-70", "TASK-7"])) == {"TASK-70"}
    assert [item.id for item in listed(board)] == ["TASK-70"]


def test_a_card_is_followed_to_another_shelf(hand: Hand, monkeypatch: pytest.MonkeyPatch):
    """Filed as completed between our look at the folder and our look at the file: still there."""
    path, fresh = hand.write(1), folders.Folder.fresh

    def filed_first(self: folders.Folder, file: folders.File) -> object:
        monkeypatch.setattr(folders.Folder, "fresh", fresh)
        path.rename(hand.folder / "completed" / path.name)
        return fresh(self, file)

    monkeypatch.setattr(folders.Folder, "fresh", filed_first)
    assert hand.open().get_items(["TASK-1"])["TASK-1"].native_ref == f"completed/{path.name}"


@pytest.mark.proves("TE-03")
def test_a_board_whose_folder_is_gone_is_not_an_empty_board(hand: Hand):
    """An unmounted disk must not look as if every card had been deleted."""
    board = hand.open()
    (hand.folder / "tasks").rmdir()
    attempts = [lambda: listed(board), lambda: board.get_items(["TASK-1"]), board.states]
    assert {fault_of(attempt) for attempt in attempts} == {TrackerFault.NOT_FOUND}


@pytest.mark.proves("TE-01")
def test_asking_for_nothing_does_not_look_at_the_board(hand: Hand):
    """Not even at one that is not there."""
    board = hand.open()
    (hand.folder / "tasks").rmdir()
    assert list(board.list_items([])) == []
    assert board.get_items([]) == {}


def test_files_of_another_board_are_not_on_this_one(hand: Hand):
    """The program lists what begins with the board's prefix; people do not see the rest."""
    (hand.folder / "tasks" / "back-1 - x.md").write_text(CARD.replace("TASK-1", "BACK-1"))
    (hand.folder / "tasks" / "readme.md").write_text("# Tasks\n")
    assert listed(hand.open()) == []
    assert malformed(hand.open()) == {}


def test_a_listing_reads_only_what_has_changed(hand: Hand, monkeypatch: pytest.MonkeyPatch):
    """A board of thousands at rest costs a look at its folder; the card that a person saved is read."""
    paths = [hand.write(number) for number in range(1, 30)]
    hand.aged()
    board, read = hand.open(), []
    assert len(listed(board)) == 29
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: (read.append(path), read_bytes(path))[1])
    assert len(listed(board)) == 29
    assert read == []
    drag(paths[3], "Done")
    read.clear()
    assert len(listed(board)) == 28
    assert read == [paths[3]]


def test_what_is_asked_for_by_id_is_always_read(hand: Hand):
    """Same size, same time, same inode: a stamp proves nothing where we decide."""
    path = hand.write(1, CARD.replace("To Do", "Todo1"))
    hand.aged()
    board, stamp = hand.open(), path.stat()
    assert [item.id for item in listed(board, "Todo1")] == ["TASK-1"]
    drag(path, "Done1")
    folders.os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert board.get_items(["TASK-1"])["TASK-1"].state == "Done1"


def test_a_file_that_was_just_saved_is_not_trusted_by_its_stamp(hand: Hand):
    """Two saves within one tick of the file system's clock: the second is seen too."""
    path = hand.write(1, CARD.replace("To Do", "Todo1"))
    board, stamp = hand.open(), path.stat()
    assert [item.id for item in listed(board, "Todo1")] == ["TASK-1"]
    drag(path, "Done1")
    folders.os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert [item.id for item in listed(board, "Done1")] == ["TASK-1"]


def test_a_link_and_a_folder_are_what_they_are(hand: Hand):
    """A link to a card is that card a second time; a folder is no card, whatever its name."""
    hand.write(1)
    (hand.folder / "tasks" / "task-2 - link.md").symlink_to(hand.folder / "tasks" / "task-1 - A-card.md")
    (hand.folder / "tasks" / "task-3 - folder.md").mkdir()
    assert {name: "stands twice" in reason for name, reason in malformed(hand.open()).items()} == {"TASK-1": True}
