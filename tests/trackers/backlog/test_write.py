"""Putting a file back: only over what was read, under the program's lock, and after a death in the middle."""

import errno
import os
import stat
from pathlib import Path

import pytest

from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.trackers.backlog import write


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that says `read`."""
    path = tmp_path / "task-1 - x.md"
    path.write_bytes(b"read")
    return path


def names(folder: Path) -> set[str]:
    """What lies in a folder."""
    return {entry.name for entry in folder.iterdir()}


@pytest.fixture
def no_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that cannot exchange two files."""

    def refuse(*_: object) -> None:
        raise write.NoExchange(errno.ENOSYS, "no such step")

    monkeypatch.setattr(write, "exchange", refuse)


def test_the_new_bytes_stand_in_the_place_of_those_read(file: Path):
    """Nothing else is left in the folder, and the mode is kept."""
    file.chmod(0o640)
    assert write.replace(file, b"read", b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert names(file.parent) == {file.name}


@pytest.mark.proves("H29")
def test_a_save_right_before_the_exchange_wins(file: Path, monkeypatch: pytest.MonkeyPatch):
    """The person's bytes come out of the exchange, are seen to be others, and go back."""
    exchange = write.exchange

    def saved_first(one: Path, other: Path) -> None:
        monkeypatch.setattr(write, "exchange", exchange)
        file.write_bytes(b"a person's")
        exchange(one, other)

    monkeypatch.setattr(write, "exchange", saved_first)
    assert not write.replace(file, b"read", b"new")
    assert file.read_bytes() == b"a person's"
    assert names(file.parent) == {file.name}


@pytest.mark.proves("H29")
def test_a_save_between_exchange_and_return_is_the_last_word(file: Path, monkeypatch: pytest.MonkeyPatch):
    """A person who saves twice, the second time over ours, finds the second text."""
    exchange, calls = write.exchange, []

    def saved_around(one: Path, other: Path) -> None:
        calls.append(one)
        if len(calls) <= 2:
            file.write_bytes(b"save %d" % len(calls))
        exchange(one, other)

    monkeypatch.setattr(write, "exchange", saved_around)
    assert not write.replace(file, b"read", b"new")
    assert file.read_bytes() == b"save 2"
    assert names(file.parent) == {file.name}


def test_a_file_that_was_moved_away_is_not_made_again(file: Path):
    """The program files a card elsewhere: ours must not stand there as a second one."""
    file.rename(file.with_name("elsewhere.md"))
    assert not write.replace(file, b"read", b"new")
    assert names(file.parent) == {"elsewhere.md"}


@pytest.mark.usefixtures("no_exchange")
def test_without_exchange_the_bytes_are_compared_once_more(file: Path):
    """The next best thing; a save before the comparison wins."""
    assert write.replace(file, b"read", b"new")
    assert not write.replace(file, b"read", b"newer")
    assert file.read_bytes() == b"new"
    assert names(file.parent) == {file.name}


@pytest.mark.usefixtures("no_exchange")
def test_a_board_that_cannot_exchange_is_known_as_one(tmp_path: Path):
    """The profile says so to people."""
    assert not write.can_exchange(tmp_path)


def test_a_link_is_written_through(file: Path):
    """A card that is a link to a file elsewhere stays a link."""
    link = file.with_name("task-2 - link.md")
    link.symlink_to(file)
    assert write.replace(link, b"read", b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"


class Death(BaseException):
    """The process ends here."""


@pytest.mark.proves("H29")
@pytest.mark.parametrize("saved_first", [False, True], ids=["nobody saved", "a person saved before"])
@pytest.mark.parametrize("dies", ["before the exchange", "after the exchange"])
def test_a_write_that_died_is_cleared_up_by_the_next(
    file: Path, monkeypatch: pytest.MonkeyPatch, dies: str, *, saved_first: bool
):
    """Above all, a person's text that was swapped out goes back before anything else is written."""
    exchange = write.exchange

    def die(one: Path, other: Path) -> None:
        if saved_first:
            file.write_bytes(b"a person's")
        if dies == "after the exchange":
            exchange(one, other)
        raise Death

    monkeypatch.setattr(write, "exchange", die)
    with pytest.raises(Death):
        write.replace(file, b"read", b"new")
    monkeypatch.setattr(write, "exchange", exchange)
    seen = file.read_bytes()
    written = write.replace(file, seen, b"next")
    if saved_first:
        assert written is (dies == "before the exchange")
        assert b"a person's" in {seen, file.read_bytes()}
    else:
        assert written
        assert file.read_bytes() == b"next"
    assert names(file.parent) == {file.name}


def test_a_lock_that_is_held_is_a_passing_fault(tmp_path: Path):
    """As the program itself: no waiting, somebody else is at it."""
    with write.locked(tmp_path, "TASK-1"), pytest.raises(TrackerError) as failure, write.locked(tmp_path, "task-1"):
        pass
    assert failure.value.fault is TrackerFault.CONFLICT
    assert names(tmp_path / ".locks") == set()


def test_a_lock_of_a_dead_process_is_taken_over(tmp_path: Path):
    """At the age at which the program takes it over too, and not before."""
    lock = tmp_path / ".locks" / "task-task-1"
    lock.mkdir(parents=True)
    born = lock.stat().st_mtime
    os.utime(lock, (born, born - write.STALE_LOCK_SECONDS - 1))
    with write.locked(tmp_path, "TASK-1"):
        assert lock.is_dir()
    assert not lock.exists()


def test_a_lock_that_was_taken_from_us_is_not_released(tmp_path: Path):
    """Whoever found us too slow holds it now."""
    lock = tmp_path / ".locks" / "task-task-1"
    with write.locked(tmp_path, "TASK-1"):
        lock.rename(tmp_path / "ours")
        lock.mkdir()
    assert lock.is_dir()


@pytest.mark.parametrize(
    ("card_id", "name"), [("TASK-1", "task-1"), (" Ä/b ", "-b"), ("../x", "-x"), ("..", "unknown")]
)
def test_locks_are_named_as_the_program_names_them(card_id: str, name: str):
    """One lock for both, or none."""
    assert write.lock_name(card_id) == name
