"""A Backlog.md folder through the door: what people, editors, the real program and a death in the middle may do to it."""

import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.domain.item import Item
from orchestrator.ports.tracker import Moved, NotMoved, Tracker, TrackerError, TrackerFault
from orchestrator.trackers.backlog import folder as folders
from orchestrator.trackers.backlog import tracker, write
from tests.trackers.backlog.hand import (
    CARD,
    CONFIG,
    NOW,
    PEOPLE_TALK,
    Hand,
    append_many,
    changed_lines,
    drag,
    say_many,
    state_in,
)


@pytest.fixture
def hand(tmp_path: Path) -> Hand:
    """An empty board and a person's hand on it."""
    return Hand(tmp_path)


def listed(board: Tracker, *states: str) -> list[Item]:
    """All pages of a listing as one."""
    return [item for page in board.list_items(states or ("To Do",)) for item in page.items]


def malformed(board: Tracker, *states: str) -> dict[str, str]:
    """What a listing could not read."""
    return {bad.id: bad.reason for page in board.list_items(states or ("To Do",)) for bad in page.malformed}


def fault_of(attempt: Callable[[], object]) -> TrackerFault:
    """The fault with which an attempt fails."""
    with pytest.raises(TrackerError) as failure:
        attempt()
    return failure.value.fault


def test_a_workflow_without_a_path_is_told_so():
    """Place, found, expected, remedy."""
    with pytest.raises(TrackerError, match=r"tracker\.path: found None, expected the path .*; add it"):
        tracker.connect({})


def test_a_move_leaves_the_card_as_people_wrote_it(hand: Hand):
    """Two lines change, the state and the date of change; unknown keys, comments and line ends stay."""
    before = CARD.replace("ordinal", "x").replace("labels:", "# sorted by hand\nlabels:").replace("\n", "\r\n").encode()
    path = hand.write(1, before)
    assert hand.open().move("TASK-1", "In Progress", only_from=["To Do"], revision=None) == Moved(NOW)
    assert changed_lines(before, path.read_bytes()) == [
        (b"status: To Do\r", b"status: In Progress\r"),
        (b"updated_date: '2026-02-03 04:05'\r", b"updated_date: '2026-11-29 12:34'\r"),
    ]


def test_a_move_to_where_the_card_stands_writes_nothing(hand: Hand):
    """The state that was asked for, in other letters: the file stays as it is."""
    path = hand.write(1)
    before = path.read_bytes()
    assert isinstance(hand.open().move("TASK-1", "TO DO", only_from=["to do"], revision=None), Moved)
    assert path.read_bytes() == before


@pytest.mark.proves("H7", "H29", "TW-04")
def test_a_person_who_saves_within_our_move_wins(hand: Hand, monkeypatch: pytest.MonkeyPatch):
    """After our read and before the exchange: the answer is theirs, and so is every byte of the file."""
    path, exchange = hand.write(1), write.exchange

    def saved_first(one: Path, other: Path) -> None:
        monkeypatch.setattr(write, "exchange", exchange)
        drag(path, "Done")
        exchange(one, other)

    monkeypatch.setattr(write, "exchange", saved_first)
    assert hand.open().move("TASK-1", "In Progress", only_from=["To Do"], revision=None) == NotMoved("Done")
    assert path.read_text() == CARD.replace("status: To Do", "status: Done")


@pytest.mark.proves("H29")
def test_a_comment_is_put_on_the_text_that_a_person_just_saved(hand: Hand, monkeypatch: pytest.MonkeyPatch):
    """Their save within our write costs us another try, not them their words."""
    path, exchange = hand.write(1), write.exchange

    def saved_first(one: Path, other: Path) -> None:
        monkeypatch.setattr(write, "exchange", exchange)
        path.write_text(CARD + PEOPLE_TALK)
        exchange(one, other)

    monkeypatch.setattr(write, "exchange", saved_first)
    board = hand.open()
    board.comment("TASK-1", "inst:status", "Working on it.")
    assert [comment.body for comment in board.comments("TASK-1")] == ["Which pump?", "The left one.", "Working on it."]


def test_a_card_that_is_never_at_rest_is_a_passing_fault(hand: Hand, monkeypatch: pytest.MonkeyPatch):
    """The relay tries again later; nothing was written."""
    path, exchange, saves = hand.write(1), write.exchange, []

    def saved_first(one: Path, other: Path) -> None:
        if one.name.startswith(".stationkeeper") and other == path and one.read_bytes() != path.read_bytes():
            saves.append(1)
            path.write_text(f"{CARD}{'x' * len(saves)}\n")
        exchange(one, other)

    monkeypatch.setattr(write, "exchange", saved_first)
    board = hand.open()
    assert fault_of(lambda: board.comment("TASK-1", "inst:status", "Hm.")) is TrackerFault.CONFLICT
    assert path.read_text().startswith(CARD)
    assert "Hm." not in path.read_text()


@pytest.mark.proves("H29")
def test_a_card_that_another_process_edits_is_left_alone(hand: Hand):
    """The program's own lock, taken by somebody else: a fault that passes by itself."""
    path = hand.write(1)
    board = hand.open()
    (hand.folder / ".locks" / "task-task-1").mkdir(parents=True)
    assert fault_of(lambda: board.move("TASK-1", "Done", only_from=["To Do"], revision=None)) is TrackerFault.CONFLICT
    assert fault_of(lambda: board.comment("TASK-1", "inst:status", "Hm.")) is TrackerFault.CONFLICT
    assert path.read_text() == CARD


@pytest.mark.proves("H29", "TW-10")
def test_many_writers_on_one_card_lose_nothing(hand: Hand):
    """Two processes of ours comment while two others edit as the real program does: all of it stands there, once."""
    path, process = hand.write(1), multiprocessing.get_context("spawn").Process
    keys = [[f"inst-{number}:hold:{hold}" for hold in range(12)] for number in range(2)]
    lines = [[f"editor {number} line {line}" for line in range(12)] for number in range(2)]
    workers = [process(target=say_many, args=(str(hand.project), "TASK-1", mine)) for mine in keys]
    workers += [process(target=append_many, args=(str(path), "TASK-1", mine)) for mine in lines]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    said = [comment.key for comment in hand.open().comments("TASK-1")]
    assert sorted(said) == sorted(key for mine in keys for key in mine)
    written = path.read_text().split("\n")
    assert all(written.count(line) == 1 for mine in lines for line in mine)


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


def test_a_completed_card_keeps_the_state_that_it_has(hand: Hand):
    """Filed away by the program, and still on the board."""
    hand.write(1, CARD.replace("To Do", "Done"), shelf="completed")
    assert [(item.id, item.state, item.dispatchable) for item in listed(hand.open(), "Done")] == [
        ("TASK-1", "Done", True)
    ]


@pytest.mark.parametrize("shelf", ["archive/tasks", "drafts", "archive/drafts"])
def test_a_card_beside_the_board_is_there_but_never_dispatched(hand: Hand, shelf: str):
    """Archived is not gone; but it is in no listing, and no move of ours touches it."""
    path = hand.write(1, shelf=shelf)
    board = hand.open()
    assert listed(board) == []
    assert not board.get_items(["TASK-1"])["TASK-1"].dispatchable
    assert board.move("TASK-1", "In Progress", only_from=["To Do"], revision=None) == NotMoved("To Do")
    assert path.read_text() == CARD


def test_of_two_shelves_with_one_id_the_board_wins(hand: Hand):
    """tasks/ before completed/ before the archive."""
    hand.write(1, CARD.replace("To Do", "In Progress"))
    hand.write(1, CARD.replace("To Do", "Done"), shelf="completed")
    hand.write(2, CARD.replace("To Do", "Done"), shelf="completed")
    hand.write(1, shelf="archive/tasks")
    hand.write(2, shelf="archive/tasks")
    board = hand.open()
    assert {key: item.state for key, item in board.get_items(["TASK-1", "TASK-2"]).items()} == {
        "TASK-1": "In Progress",
        "TASK-2": "Done",
    }
    assert [item.id for item in listed(board, "Done")] == ["TASK-2"]


def test_an_id_that_stands_twice_on_the_board_is_not_dispatched(hand: Hand):
    """Nobody knows which one is meant: the reason names both files, so that a person can mend one."""
    hand.write(1, name="One")
    hand.write(1, name="Other")
    hand.write(2)
    board = hand.open()
    assert [item.id for item in listed(board)] == ["TASK-2"]
    assert "tasks/task-1 - One.md and tasks/task-1 - Other.md" in malformed(board)["TASK-1"]
    assert malformed(board, "In Review") == {}
    assert fault_of(lambda: board.get_items(["TASK-1"])) is TrackerFault.PAYLOAD


def test_a_broken_card_is_not_replaced_by_its_archived_copy(hand: Hand):
    """The one that counts cannot be read: its older twin must not speak for it."""
    hand.write(1, "broken")
    hand.write(1, shelf="completed")
    assert listed(hand.open()) == []
    assert set(malformed(hand.open())) == {"TASK-1"}


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
    attempts = [lambda: listed(board), lambda: board.get_items(["TASK-1"]), lambda: board.states()]
    assert {fault_of(attempt) for attempt in attempts} == {TrackerFault.NOT_FOUND}


@pytest.mark.proves("TE-01")
def test_asking_for_nothing_does_not_look_at_the_board(hand: Hand):
    """Not even at one that is not there."""
    board = hand.open()
    (hand.folder / "tasks").rmdir()
    assert list(board.list_items([])) == []
    assert board.get_items([]) == {}


@pytest.mark.proves("CS-09")
def test_only_a_card_of_the_board_can_unblock(hand: Hand):
    """Old prefixes, archived cards and broken ones are missing, and what is missing blocks; a bare number is meant as ours."""
    hand.write(2, CARD.replace("To Do", "Done"), shelf="completed")
    hand.write(3, CARD.replace("To Do", "Done"), shelf="archive/tasks")
    hand.write(4, "broken")
    named = "[task-02, back-2, TASK-3, task-4, '2']"
    hand.write(1, CARD.replace("dependencies: []", f"dependencies: {named}"))
    for item in (listed(hand.open())[0], hand.open().get_items(["TASK-1"])["TASK-1"]):
        assert [(blocker.id, blocker.state) for blocker in item.blocked_by] == [
            ("TASK-2", "Done"),
            ("BACK-2", None),
            ("TASK-3", None),
            ("TASK-4", None),
            ("TASK-2", "Done"),
        ]


@pytest.mark.proves("TE-05")
@pytest.mark.parametrize(("word", "rank"), [("high", 1), ("Medium", 2), ("low", 3), ("whenever", None), ("", None)])
def test_a_priority_is_its_place_among_the_words(hand: Hand, word: str, rank: int | None):
    """1 is first; an unknown word is none."""
    hand.write(1, CARD.replace("priority: high", f"priority: {word}"))
    assert listed(hand.open())[0].priority == rank


def test_a_board_with_words_of_its_own_ranks_by_them(tmp_path: Path):
    """The order in the config is the order of urgency."""
    hand = Hand(tmp_path, f"{CONFIG}priorities: [Now, High]\n")
    hand.write(1)
    assert listed(hand.open())[0].priority == 2


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


def test_a_card_that_cannot_be_opened_is_reported(hand: Hand):
    """A folder in the place of a file, say; the others come as ever."""
    hand.write(1)
    (hand.folder / "tasks" / "task-2 - gone.md").symlink_to(hand.folder / "tasks" / "task-1 - A-card.md")
    (hand.folder / "tasks" / "task-3 - folder.md").mkdir()
    assert "stands twice" in malformed(hand.open())["TASK-1"]


def test_a_broken_comments_section_fails_the_write_not_the_card(hand: Hand):
    """People's words would be lost: the fault says what to mend, and the move still works."""
    talk = PEOPLE_TALK.replace("<!-- COMMENTS:END -->\n", "").replace("The left one.\n---\n", "The left one.\n")
    hand.write(1, CARD + talk)
    board = hand.open()
    assert isinstance(board.move("TASK-1", "In Progress", only_from=["To Do"], revision=None), Moved)
    before = (hand.folder / "tasks" / "task-1 - A-card.md").read_text()
    try:
        board.comment("TASK-1", "inst:status", "Hm.")
    except TrackerError as error:
        assert error.fault is TrackerFault.PAYLOAD
        assert (hand.folder / "tasks" / "task-1 - A-card.md").read_text() == before
    else:
        assert "The left one." in [comment.body for comment in board.comments("TASK-1")]


@pytest.mark.parametrize("key", ["", "two words", "a-->b", "line\nend"])
def test_a_key_that_cannot_be_hidden_is_refused(hand: Hand, key: str):
    """A key is one word; anything else would show, or hide more than itself."""
    hand.write(1)
    with pytest.raises(ValueError, match="one word"):
        hand.open().comment("TASK-1", key, "Hm.")


@pytest.mark.proves("TE-10")
def test_the_profile_says_what_this_file_system_can_do(hand: Hand, monkeypatch: pytest.MonkeyPatch):
    """Conditional by exchange, or best effort and said so."""
    assert hand.open().profile.conditional_moves
    monkeypatch.setattr(write, "can_exchange", lambda _: False)
    poorer = hand.open().profile
    assert not poorer.conditional_moves
    assert "may be lost" in poorer.notes
    assert state_in(hand.write(1)) == "To Do"
