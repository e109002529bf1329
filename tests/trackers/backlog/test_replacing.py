"""Where two files cannot be exchanged: whatever a person saves in the midst of our write stands at its end."""

import errno
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.trackers.backlog import replacing, write

# A person's program: it saves in place, as Backlog.md does, each time that it is told a text.
PERSON = """
import sys
for text in sys.stdin:
    with open(sys.argv[1], "w") as file:
        file.write(text.strip())
    print(flush=True)
"""


def refuse(*_: object) -> None:
    """What a poorer file system says."""
    raise write.NoExchange(errno.EOPNOTSUPP, "no such step")


@pytest.fixture(params=[True, False], ids=["with second names", "without"])
def poor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """A file system that cannot exchange two files, and maybe gives no file a second name; whether it does."""
    monkeypatch.setattr(write, "exchange", refuse)
    monkeypatch.setattr(replacing, "SETTLING_SECONDS", 0.0)
    if not request.param:
        monkeypatch.setattr(Path, "hardlink_to", refuse)
    return request.param


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that says `read`."""
    path = tmp_path / "task-1 - x.md"
    path.write_bytes(b"read")
    return path


def names(folder: Path) -> set[str]:
    """What lies in a folder."""
    return {entry.name for entry in folder.iterdir()}


def around_our_rename(
    monkeypatch: pytest.MonkeyPatch, before: Callable[[], object], after: Callable[[], object] = lambda: None
) -> None:
    """What happens right before and right after our file takes the place of the old one."""
    rename = Path.replace

    def renamed(ours: Path, path: Path) -> Path:
        monkeypatch.setattr(Path, "replace", rename)
        before()
        rename(ours, path)
        after()
        return path

    monkeypatch.setattr(Path, "replace", renamed)


@pytest.mark.usefixtures("poor")
def test_a_write_that_nobody_meets_is_made(file: Path):
    """And nothing else is left in the folder."""
    assert write.replace(file, b"read", b"new")
    assert file.read_bytes() == b"new"
    assert names(file.parent) == {file.name}


@pytest.mark.proves("H29", "TW-04")
@pytest.mark.usefixtures("poor")
def test_a_save_in_place_between_comparison_and_rename_goes_back(file: Path, monkeypatch: pytest.MonkeyPatch):
    """It went into the file that we took away, and what that says is looked at once more."""
    around_our_rename(monkeypatch, lambda: file.write_bytes(b"a person's"))
    assert not write.replace(file, b"read", b"new")
    assert file.read_bytes() == b"a person's"
    assert names(file.parent) == {file.name}


@pytest.mark.proves("H29")
def test_a_save_that_is_only_under_way_goes_back_too(file: Path, monkeypatch: pytest.MonkeyPatch, *, poor: bool):
    """The old file was emptied before our rename and is filled after it: its second name, or a second look, has it."""
    opened = []
    around_our_rename(monkeypatch, lambda: opened.append(file.open("wb", buffering=0)))
    if not poor:
        monkeypatch.setattr(time, "sleep", lambda _: opened[0].tell() or opened[0].write(b"a person's"))
    assert not write.replace(file, b"read", b"new")
    if poor:
        opened[0].write(b"a person's")
    opened[0].close()
    assert file.read_bytes() == b"a person's"
    assert names(file.parent) == {file.name}


@pytest.mark.proves("H29")
@pytest.mark.usefixtures("poor")
def test_who_saves_once_more_over_ours_has_the_last_word(file: Path, monkeypatch: pytest.MonkeyPatch):
    """The first save met our rename; what was saved after it is not written over by its return."""
    around_our_rename(monkeypatch, lambda: file.write_bytes(b"first"), lambda: file.write_bytes(b"second"))
    assert not write.replace(file, b"read", b"new")
    assert file.read_bytes() == b"second"
    assert names(file.parent) == {file.name}


@pytest.mark.proves("H29")
@pytest.mark.usefixtures("poor")
@pytest.mark.parametrize("text", [b"a person's", b"read"])
def test_a_file_that_a_person_put_there_is_not_taken_away(file: Path, monkeypatch: pytest.MonkeyPatch, text: bytes):
    """An editor that renames, after we have read and before we look which file stands there: it is another one."""
    read = replacing._Old.text

    def read_and_renamed(old: replacing._Old) -> bytes:
        said = read(old)
        theirs = file.with_name("theirs")
        theirs.write_bytes(text)
        theirs.rename(file)
        return said

    monkeypatch.setattr(replacing._Old, "text", read_and_renamed)
    assert not write.replace(file, b"read", b"new")
    assert file.read_bytes() == text
    assert names(file.parent) == {file.name}


@pytest.mark.usefixtures("poor")
def test_a_file_that_is_moved_away_meanwhile_is_not_made_again(file: Path, monkeypatch: pytest.MonkeyPatch):
    """The program files a card elsewhere: ours must not stand there as a second one, nor lie about."""
    read = replacing._Old.text

    def read_and_moved(old: replacing._Old) -> bytes:
        file.rename(file.with_name("elsewhere.md"))
        return read(old)

    monkeypatch.setattr(replacing._Old, "text", read_and_moved)
    assert not write.replace(file, b"read", b"new")
    assert names(file.parent) == {"elsewhere.md"}


class Death(BaseException):
    """The process ends here; what it would have cleared away lies there."""


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """A process that removes nothing any more once it is dead; ends it."""
    unlink = Path.unlink

    def die() -> None:
        monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
        raise Death

    yield die
    monkeypatch.setattr(Path, "unlink", unlink)


@pytest.mark.proves("H29")
@pytest.mark.parametrize("saved", [False, True], ids=["nobody saved", "a person saved in between"])
@pytest.mark.parametrize("dies", ["before our rename", "after it"])
def test_a_write_that_died_is_cleared_up_by_the_next_one(
    file: Path, monkeypatch: pytest.MonkeyPatch, dying: Callable[[], None], dies: str, *, saved: bool
):
    """Above all, the text in the old file goes back before anything else is written."""
    monkeypatch.setattr(write, "exchange", refuse)
    with monkeypatch.context() as patch:
        first = (lambda: file.write_bytes(b"a person's")) if saved else (lambda: None)
        if dies == "after it":
            around_our_rename(patch, first, dying)
        else:
            around_our_rename(patch, lambda: (first(), dying()))
        unlink = Path.unlink
        with pytest.raises(Death):
            write.replace(file, b"read", b"new")
        patch.setattr(Path, "unlink", unlink)
    monkeypatch.undo()
    assert len(names(file.parent)) > 1
    monkeypatch.setattr(write, "exchange", refuse)
    seen = file.read_bytes()
    written = write.replace(file, seen, b"next")
    assert written is (not saved or dies == "before our rename")
    assert file.read_bytes() == (b"next" if written else b"a person's")
    assert names(file.parent) == {file.name}


class Person:
    """A program of its own that saves in the file when it is told to, and how long after that we go on."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.chance, self.number = process, random.Random(17), 0

    def begin(self) -> None:
        """Have it save the next text; we go on at about the moment at which it does."""
        assert self.process.stdin
        self.number += 1
        self.process.stdin.write(f"save {self.number}\n")
        self.process.stdin.flush()
        until = time.perf_counter() + self.chance.random() * 0.0004
        while time.perf_counter() < until:
            pass

    def end(self) -> bytes:
        """What it has saved now."""
        assert self.process.stdout
        self.process.stdout.readline()
        return b"save %d" % self.number


@pytest.fixture
def person(file: Path) -> Iterator[Person]:
    """A real program beside us."""
    words = [sys.executable, "-c", PERSON, str(file)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Person(process)
        process.communicate()


@pytest.mark.proves("H29", "TW-04")
@pytest.mark.parametrize("exchanges", [True, False], ids=["files are exchanged", "files are replaced"])
def test_of_a_real_program_that_saves_at_the_same_moment_nothing_is_lost(
    file: Path, person: Person, monkeypatch: pytest.MonkeyPatch, *, exchanges: bool
):
    """Again and again between our last look and our write: what it saved stands at the end, whoever was first.

    With time enough for a program that a busy machine stops between finding the file and emptying it.
    """
    monkeypatch.setattr(replacing, "UNDER_WAY_SECONDS", 0.02)
    exchange, stands_at = write.exchange, replacing._Old.stands_at

    def exchanged(one: Path, other: Path) -> None:
        monkeypatch.setattr(write, "exchange", exchange)
        person.begin()
        exchange(one, other)

    def looked(old: replacing._Old, path: Path) -> bool:
        stands = stands_at(old, path)
        person.begin()
        return stands

    monkeypatch.setattr(replacing._Old, "stands_at", looked)
    made = []
    for number in range(100):
        monkeypatch.setattr(write, "exchange", exchanged if exchanges else refuse)
        made.append(write.replace(file, file.read_bytes(), b"ours %d" % number))
        saved = person.end()
        assert file.read_bytes() == saved
    assert set(made) == {True, False}
    assert names(file.parent) == {file.name}
