"""The real Backlog.md program and us at one board, at the same time: nothing of either side is lost."""

import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator.ports.tracker import Moved, NotMoved, Tracker, TrackerError, TrackerFault
from orchestrator.trackers import backlog
from tests.peers.backlog import Person, at_a_board

pytestmark = pytest.mark.peer

CARDS = 8
# Half of the thousand operations are the person's, half are ours.
EACH_SIDE = 500
# A command starts a program, a click does not: one in so many of the person's operations is a command.
COMMANDS = 8
# In so many of the person's operations one card is made, and one of those put away.
COMES_AND_GOES = 20


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    """A board with the program at it."""
    with at_a_board(tmp_path / "project") as somebody:
        yield somebody


def board(person: Person) -> Tracker:
    """Our door to that board."""
    return backlog.connect({"path": str(person.project)})


def test_the_program_reads_what_we_write_and_we_what_it_writes(person: Person):
    """Created, edited, moved, commented, completed and archived by command and by click; moved and commented by us."""
    tracker = board(person)
    first = person.create("Mend the pump", "-d", "It leaks.", "-l", "Hull,urgent", "--priority", "high")
    second = person.create("Paint the hull", "--dep", first)
    item = tracker.get_items([first])[first]
    assert (item.title, item.state, item.labels, item.priority) == ("Mend the pump", "To Do", ("hull", "urgent"), 1)
    assert [blocker.state for blocker in tracker.get_items([second])[second].blocked_by] == ["To Do"]
    assert isinstance(tracker.move(first, "In Progress", only_from=["To Do"], revision=item.revision), Moved)
    tracker.comment(first, "inst:status", "Working on it.")
    person.run("task", "edit", first, "--comment", "Which pump?", "--comment-author", "ada")
    shown = person.shown(first)
    assert shown["status"] == "In Progress"
    assert ["Working on it." in said["body"] for said in shown["comments"]] == [True, False]
    person.put(first, status="Done")
    assert tracker.move(first, "In Review", only_from=["In Progress"], revision=None) == NotMoved("Done")
    person.run("task", "complete", first)
    assert tracker.get_items([first])[first].state == "Done"
    person.run("task", "archive", second)
    assert not tracker.get_items([second])[second].dispatchable
    assert [(said.key, said.body) for said in tracker.comments(first)] == [
        ("inst:status", "Working on it."),
        (None, "Which pump?"),
    ]


class Ours:
    """What we do, and what of it must be on the board in the end."""

    def __init__(self, tracker: Tracker, cards: list[str], seed: int) -> None:
        self.tracker, self.cards, self.chance = tracker, cards, random.Random(seed)
        self.said: dict[str, dict[str, str]] = {card: {} for card in cards}
        self.ended = Counter[str]()

    def work(self) -> None:
        """Half of our operations: moves, comments and reads, each tried again where somebody else was writing."""
        for number in range(EACH_SIDE):
            card = self.chance.choice(self.cards)
            try:
                self.ended[self._act(card, number)] += 1
            except TrackerError as error:
                self.ended[error.fault.value] += 1

    def _act(self, card: str, number: int) -> str:
        match self.chance.randrange(3):
            case 0:
                key = f"inst:{self.chance.choice('abc')}"
                self.tracker.comment(card, key, f"our word {number}")
                self.said[card][key] = f"our word {number}"
                return "comment"
            case 1:
                to, only_from = self.chance.choice([("In Progress", "To Do"), ("In Review", "In Progress")])
                revision = self.tracker.get_items([card])[card].revision
                return type(self.tracker.move(card, to, only_from=[only_from], revision=revision)).__name__
            case _:
                listed = [item.id for page in self.tracker.list_items(["To Do", "Done"]) for item in page.items]
                assert len(listed) == len(set(listed))
                return "listing"


class Theirs:
    """What the person does, and what of it must be on the board in the end."""

    def __init__(self, person: Person, cards: list[str], seed: int) -> None:
        self.person, self.cards, self.chance = person, cards, random.Random(seed)
        self.said: dict[str, list[str]] = {card: [] for card in cards}
        self.titles: dict[str, str] = {}
        self.made: list[str] = []
        self.away: dict[str, str] = {}

    def work(self) -> None:
        """The person's half: drags, new titles and comments; new cards, which are completed or archived later.

        In the last fifth every other card is closed, one by one.
        """
        closed = 0
        for number in range(EACH_SIDE):
            card = self.chance.choice(self.cards[closed:])
            if number % COMES_AND_GOES == 1:
                self.made.append(self.person.create(f"Passing {number}", "-d", f"Came at {number}."))
            elif number % COMES_AND_GOES == COMES_AND_GOES // 2 and len(self.made) > 1:
                # Never the newest: the program gives the number of an archived card away again.
                self._put_away(self.made[len(self.away)], number)
            elif closed < CARDS - 1 and number >= EACH_SIDE * 4 // 5 + closed * (EACH_SIDE // 5 // CARDS):
                self.person.put(self.cards[closed], status="Done")
                closed += 1
            elif number % COMMANDS == 0:
                self.person.run("task", "edit", card, "--comment", f"their word {number}", "--comment-author", "ada")
                self.said[card].append(f"their word {number}")
            elif number % 2:
                self.person.put(card, status=self.chance.choice(["To Do", "In Progress"]))
            else:
                self.person.put(card, title=f"Card {number}")
                self.titles[card] = f"Card {number}"
        self.person.put(self.cards[-1], status="Done")

    def _put_away(self, card: str, number: int) -> None:
        """Completed or archived, by command or by click: each in its turn."""
        turn = number // COMES_AND_GOES
        self.away[card] = ("complete", "archive")[turn % 2]
        if turn // 2 % 2:
            self.person.put(
                card, status="Done" if self.away[card] == "complete" else "To Do"
            )  # as the command wants it
            self.person.run("task", self.away[card], card)
        else:
            getattr(self.person, self.away[card])(card)


@pytest.mark.timeout(900)
@pytest.mark.proves("H29", "H7", "TW-05", "TW-10")
def test_a_thousand_interleaved_operations_lose_nothing_of_either_side(person: Person):
    """What a person decided and said stands as decided and said; each word of ours stands once, as we said it last."""
    cards = [person.create(f"Card {number}", "-d", f"Text {number}.") for number in range(CARDS)]
    ours, theirs = Ours(board(person), cards, 1), Theirs(person, cards, 2)
    with ThreadPoolExecutor(2) as pool:
        for side in [pool.submit(ours.work), pool.submit(theirs.work)]:
            side.result()
    items, tracker = board(person).get_items(cards), board(person)
    assert {item.state for item in items.values()} == {"Done"}
    assert {card: items[card].title for card in theirs.titles} == theirs.titles
    assert all(items[card].description.strip().endswith(f"Text {number}.") for number, card in enumerate(cards))
    for card in cards:
        said = tracker.comments(card)
        assert [one.body for one in said if one.key is None] == theirs.said[card]
        assert {one.key: one.body for one in said if one.key is not None} == ours.said[card]
        assert len([one for one in said if one.key is not None]) == len(ours.said[card])
        assert len(person.shown(card)["comments"]) == len(said)
    for card, how in theirs.away.items():
        (file,) = person.project.glob(f"backlog/**/{card.lower()} *.md")
        assert file.relative_to(person.project / "backlog").parts[0] == {"complete": "completed"}.get(how, how)
        assert tracker.get_items([card])[card].description.count("Came at") == 1
    assert len(theirs.made) == len(theirs.away) + 1 == EACH_SIDE // COMES_AND_GOES
    assert set(ours.ended) <= {"comment", "Moved", "NotMoved", "listing", TrackerFault.CONFLICT.value}, ours.ended
    assert min(ours.ended[kind] for kind in ("comment", "Moved", "NotMoved", "listing")) > 0, ours.ended
