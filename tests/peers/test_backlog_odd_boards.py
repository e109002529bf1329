"""Boards as they grow in real projects, with the real program at them: each of its habits beside our writes."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.ports.tracker import Moved, NotMoved, Tracker, TrackerError, TrackerFault
from orchestrator.trackers import backlog
from tests.peers.backlog import Person, at_a_board

pytestmark = [pytest.mark.peer, pytest.mark.proves("H29"), pytest.mark.timeout(300)]

# So often each side writes on a card of the board that commits.
TIMES = 3


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    """A board with the program at it, in a repository that can be committed to."""
    with at_a_board(tmp_path / "project") as somebody:
        for key, value in (("user.name", "ada"), ("user.email", "ada@example.org"), ("commit.gpgsign", "false")):
            git(somebody.project, "config", key, value)
        yield somebody


def git(project: Path, *words: str) -> str:
    """What git says in the project."""
    return subprocess.run(["git", *words], cwd=project, check=True, capture_output=True, text=True).stdout


def board(person: Person) -> Tracker:
    """Our door to that board."""
    return backlog.connect({"path": str(person.project)})


def file_of(person: Person, card: str, shelf: str = "tasks") -> Path:
    """A card's file."""
    (found,) = (person.project / "backlog" / shelf).glob(f"{card.lower()} - *.md")
    return found


def moved(tracker: Tracker, card: str, to: str) -> bool:
    """Our move, as the relay makes it."""
    item = tracker.get_items([card])[card]
    return isinstance(tracker.move(card, to, only_from=[item.state], revision=item.revision), Moved)


def keyed(tracker: Tracker, card: str) -> dict[str | None, str]:
    """What is said on a card under our keys, and by people under none."""
    return {said.key: said.body for said in tracker.comments(card)}


def set_option(person: Person, name: str, value: str) -> None:
    """An option of the board's own config."""
    config = person.project / "backlog" / "config.yml"
    text, count = re.subn(rf"(?m)^{name}: .*$", f"{name}: {value}", config.read_text())
    config.write_text(text if count else f"{text}{name}: {value}\n")


def test_a_board_that_commits_itself_commits_our_words_too_and_we_commit_nothing(person: Person):
    """With `auto_commit` each command is a commit of its card's file, as it stands then; nothing of ours is undone."""
    set_option(person, "auto_commit", "true")
    tracker, cards = board(person), [person.create(f"Card {number}") for number in range(2)]
    commands = len(cards)
    for number in range(TIMES):
        for card in cards:
            tracker.comment(card, "inst:status", f"our word {number}")
            assert moved(tracker, card, ("In Progress", "To Do")[number % 2])
            person.run("task", "edit", card, "--comment", f"their word {number}", "--comment-author", "ada")
            commands += 1
    assert int(git(person.project, "rev-list", "--count", "HEAD")) == commands
    assert set(git(person.project, "log", "--format=%an").split()) == {"ada"}
    assert git(person.project, "status", "--porcelain", "backlog/tasks") == ""
    for card in cards:
        committed = git(person.project, "show", f"HEAD:./{file_of(person, card).relative_to(person.project)}")
        assert committed == file_of(person, card).read_text()
        said = [(one.key, one.body) for one in tracker.comments(card)]
        assert ("inst:status", f"our word {TIMES - 1}") in said
        assert [body for key, body in said if key is None] == [f"their word {number}" for number in range(TIMES)]
        assert tracker.get_items([card])[card].state == person.shown(card)["status"] == "In Progress"


def test_a_write_of_ours_that_nobody_committed_survives_the_commit_of_another_card(person: Person):
    """The program adds the file that it changed, and no other."""
    set_option(person, "auto_commit", "true")
    ours, theirs = person.create("Ours"), person.create("Theirs")
    assert moved(board(person), ours, "In Progress")
    person.run("task", "edit", theirs, "-s", "In Progress")
    assert file_of(person, ours).name in git(person.project, "status", "--porcelain", "backlog/tasks")
    assert board(person).get_items([ours])[ours].state == "In Progress"


def test_a_card_with_the_line_ends_of_windows_keeps_them(person: Person):
    """Our move and our comment bear them; the program reads both; what it writes anew we read again."""
    card = person.create("Mend the pump", "-d", "It leaks.\nAnd it is loud.")
    file, tracker = file_of(person, card), board(person)
    file.write_bytes(file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert moved(tracker, card, "In Progress")
    tracker.comment(card, "inst:status", "Working on it.\nStill.")
    written = file.read_bytes()
    assert written.count(b"\n") == written.count(b"\r\n")
    shown = person.shown(card)
    assert (shown["status"], len(shown["comments"])) == ("In Progress", 1)
    assert "Working on it." in shown["comments"][0]["body"]
    person.run("task", "edit", card, "--comment", "Which pump?", "--comment-author", "ada")
    tracker.comment(card, "inst:status", "Done.")
    assert keyed(tracker, card) == {"inst:status": "Done.", None: "Which pump?"}
    assert "And it is loud." in tracker.get_items([card])[card].description
    assert person.shown(card)["status"] == tracker.get_items([card])[card].state == "In Progress"


def test_a_worktree_that_holds_a_copy_of_the_board_is_another_board(person: Person):
    """An agent's branch has the cards too; what the program does to them there moves no card here."""
    card = person.create("Mend the pump")
    git(person.project, "add", "-A")
    git(person.project, "commit", "-q", "-m", "the board")
    copy = person.project / "worktrees" / "one"
    git(person.project, "worktree", "add", "-q", "-b", "agent", str(copy))
    there = Person(copy, person.page, person.busy)
    there.run("task", "edit", card, "-s", "Done", "-t", "Renamed by an agent")
    git(copy, "commit", "-q", "-am", "the agent closes its own card")
    tracker = board(person)
    listed = [item for page in tracker.list_items(["To Do", "In Progress", "Done"]) for item in page.items]
    assert [(item.id, item.title, item.state) for item in listed] == [(card, "Mend the pump", "To Do")]
    assert moved(tracker, card, "In Progress")
    assert backlog.connect({"path": str(copy)}).get_items([card])[card].state == "Done"
    assert person.shown(card)["title"] == "Mend the pump"


def test_a_card_of_an_older_program_is_the_same_card_in_either_spelling(person: Person):
    """`task-9` in its file is `TASK-9` in every command and here; either spelling finds it."""
    old = person.project / "backlog" / "tasks" / "task-9 - Old.md"
    old.write_text(
        "---\nid: task-9\ntitle: Old\nstatus: To Do\nassignee: []\ncreated_date: '2025-01-01'\n---\n\nText.\n"
    )
    tracker = board(person)
    assert [item.id for page in tracker.list_items(["To Do"]) for item in page.items] == ["TASK-9"]
    assert tracker.get_items(["task-9"])["task-9"].title == "Old"
    tracker.comment("TASK-9", "inst:status", "Working on it.")
    assert moved(tracker, "TASK-9", "In Progress")
    person.run("task", "edit", "9", "--comment", "Good.", "--comment-author", "ada")
    assert person.shown("TASK-9")["status"] == "In Progress"
    assert keyed(tracker, "TASK-9") == {"inst:status": "Working on it.", None: "Good."}
    assert person.create("New") == "TASK-10"


def test_a_board_with_another_prefix_is_the_cards_of_that_prefix(person: Person):
    """The program names its cards, and its locks, by `task_prefix`; those of the one before are off the board."""
    before = person.create("Before")
    set_option(person, "task_prefix", '"back"')
    after, tracker = person.create("After"), board(person)
    assert after.startswith("BACK-")
    assert [item.id for page in tracker.list_items(["To Do"]) for item in page.items] == [after]
    assert tracker.get_items([before]) == {}
    assert moved(tracker, after, "In Progress")
    person.run("task", "edit", after, "--comment", "Good.", "--comment-author", "ada")
    assert keyed(tracker, after) == {None: "Good."}
    assert tracker.get_items([after])[after].state == "In Progress"


def test_drafts_completed_and_archived_cards_follow_the_person(person: Person):
    """Off the board a card is neither moved nor dispatched; a promoted draft is a card with a number of its own."""
    card, other, third = (person.create(title) for title in ("Mend the pump", "Paint the hull", "Some day"))
    tracker = board(person)
    person.run("task", "demote", third)
    assert tracker.get_items([third]) == {}
    assert {item.id for page in tracker.list_items(["To Do", "Draft"]) for item in page.items} == {card, other}
    promoted = person.run("draft", "promote", "DRAFT-1")
    assert "DRAFT-1" in promoted
    listed = [item for page in tracker.list_items(["To Do"]) for item in page.items if item.title == "Some day"]
    assert [item.dispatchable for item in listed] == [True]
    person.run("task", "edit", card, "-s", "Done")
    person.run("task", "complete", card)
    assert (tracker.get_items([card])[card].state, file_of(person, card, "completed").exists()) == ("Done", True)
    assert tracker.move(card, "In Review", only_from=["In Progress"], revision=None) == NotMoved("Done")
    person.run("task", "archive", other)
    assert not tracker.get_items([other])[other].dispatchable
    before = file_of(person, other, "archive/tasks").read_bytes()
    assert isinstance(tracker.move(other, "In Progress", only_from=["To Do"], revision=None), NotMoved)
    assert file_of(person, other, "archive/tasks").read_bytes() == before


def test_an_id_that_stands_twice_is_told_and_not_worked_on(person: Person):
    """Two branches made the same number and both were merged; a copy in completed/ alone changes nothing."""
    card = person.create("Mend the pump")
    file, tracker = file_of(person, card), board(person)
    completed = person.project / "backlog" / "completed"
    completed.mkdir(exist_ok=True)
    shutil.copy(file, completed / file.name)
    assert tracker.get_items([card])[card].dispatchable
    file.with_name(f"{card.lower()} - Another.md").write_text(file.read_text().replace("Mend the pump", "Another"))
    (page,) = tracker.list_items(["To Do"])
    assert (page.items, [bad.id for bad in page.malformed]) == ((), [card])
    both = {path: path.read_bytes() for path in file.parent.iterdir()}
    with pytest.raises(TrackerError, match="the id stands twice") as caught:
        tracker.move(card, "In Progress", only_from=["To Do"], revision=None)
    assert caught.value.fault is TrackerFault.PAYLOAD
    assert {path: path.read_bytes() for path in file.parent.iterdir()} == both
