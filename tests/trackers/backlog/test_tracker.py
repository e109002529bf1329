"""A Backlog.md folder through the door: what people, their editors and the real program may do to it meanwhile."""

import multiprocessing
from pathlib import Path

import pytest

from orchestrator.ports.tracker import Moved, NotMoved, TrackerError, TrackerFault
from orchestrator.trackers.backlog import tracker, write
from tests.trackers.backlog.hand import (
    CARD,
    NOW,
    PEOPLE_TALK,
    Hand,
    append_many,
    changed_lines,
    drag,
    fault_of,
    say_many,
    state_in,
)


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


def test_a_broken_comments_section_fails_the_comment_alone(hand: Hand):
    """Ours would end up inside a person's words: the fault says what to mend, nothing is written; a move works."""
    half = "## Comments\n\n<!-- COMMENTS:BEGIN -->\nauthor: @ada\n---\nAn open"
    path = hand.write(1, f"---\nid: TASK-1\nstatus: To Do\n---\n{half}")
    board, before = hand.open(), path.read_bytes()
    assert fault_of(lambda: board.comment("TASK-1", "inst:status", "Hm.")) is TrackerFault.PAYLOAD
    assert path.read_bytes() == before
    assert isinstance(board.move("TASK-1", "In Progress", only_from=["To Do"], revision=None), Moved)


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
