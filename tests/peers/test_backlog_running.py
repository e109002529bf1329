"""The real Backlog.md program at a board that the whole system works on meanwhile."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.e2e.launcher import Launcher
from tests.peers.backlog import Person, at_a_board
from tests.waiting import until

pytestmark = [pytest.mark.peer, pytest.mark.e2e, pytest.mark.timeout(600)]

CARDS = 5
DONE = """sh -c 'cat > /dev/null; echo "{\\"type\\":\\"result\\",\\"outcome\\":\\"done\\"}"'"""


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    """A board with the program at it."""
    with at_a_board(tmp_path / "project") as somebody:
        yield somebody


@pytest.fixture
def station(person: Person, tmp_path: Path, database_url: str, redis_url: str) -> Iterator[Launcher]:
    """The whole system at work on that board, with agents that are done at once."""
    launcher = Launcher(tmp_path / "station", DATABASE_URL=database_url, REDIS_URL=redis_url)
    front = {
        "name": "peers",
        "tracker": {
            "kind": "backlog",
            "path": str(person.project),
            "active_states": ["To Do", "In Progress"],
            "terminal_states": ["Done"],
            "in_progress_state": "In Progress",
            "handoff_state": "In Review",
        },
        "polling": {"interval_ms": 1000},
        "workspace": {"root": "workspaces"},
        "agent": {"command": DONE},
    }
    path = launcher.folder / "PEERS.md"
    path.write_text(f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n{{{{ issue.title }}}}\n")
    launcher.up("--workflow", str(path))
    yield launcher
    assert launcher.process
    launcher.process.terminate()
    launcher.process.wait(60)
    launcher.await_end()


def words(person: Person, card: str) -> list[str]:
    """Each comment, as the program shows it."""
    return [said["body"] for said in person.shown(card)["comments"]]


def reviewed(person: Person, card: str, turn: int) -> bool:
    """Whether the program shows the card in review, after so many turns."""
    return person.shown(card)["status"] == "In Review" and f"Turn {turn} is done." in " ".join(words(person, card))


@pytest.mark.proves("H29", "TW-05", "TW-10", "CL-09")
def test_a_person_and_the_fleet_at_one_board_lose_nothing_of_each_other(person: Person, station: Launcher):
    """Created, edited, commented, moved back, closed, completed and archived while turns begin and end on the cards."""
    cards = [person.create(f"Card {number}", "-d", f"Text {number}.") for number in range(CARDS)]
    for number, card in enumerate(cards):
        person.run("task", "edit", card, "--comment", f"their word {number}", "--comment-author", "ada")
        person.put(card, title=f"New title {number}")
    for card in cards:
        until(lambda card=card: reviewed(person, card, 1), timeout_seconds=120, what=f"{card} in review")
    again, closed, completed, archived, *rest = cards
    person.put(again, status="To Do")
    person.put(closed, status="Done")
    person.complete(completed)
    person.archive(archived)
    late = person.create("A late card")
    until(lambda: reviewed(person, again, 2), timeout_seconds=60, what="the card that was asked for again")
    until(lambda: reviewed(person, late, 1), timeout_seconds=60, what="the card that came late")
    assert person.shown(closed)["status"] == "Done"
    for number, card in enumerate(cards):
        (file,) = person.project.glob(f"backlog/**/{card.lower()} *.md")
        assert file.parent.name == {completed: "completed", archived: "tasks"}.get(card, "tasks")
        assert ("archive" in file.parts) is (card == archived)
        text = file.read_text()
        assert f"Text {number}." in text
        assert text.count(f"their word {number}\n") == 1
        assert text.count(f"New title {number}\n") == 1
    assert {card: len(words(person, card)) for card in (again, closed, *rest)} == dict.fromkeys(
        (again, closed, *rest), 2
    )
    assert station.orchestrator("status").returncode == 0
