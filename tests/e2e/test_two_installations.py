"""Two launchers, each with a Postgres and a Redis of its own, on one Backlog.md folder."""

import json
from collections import defaultdict

import pytest

from orchestrator.cli.demo import boardfile
from tests.e2e.launcher import Launcher
from tests.waiting import until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(420)]

# Two dozen processes boot on what may be two cores.
PATIENCE_SECONDS = 180
# From the moment in which both agents run to the end of one of them: a write-back, a look, a renewal that carries the
# word to the supervisor, an agent that ends. Its card takes twice as long, so that who does not stop is found out.
BOUND_SECONDS = 15.0


@pytest.fixture
def pair(tmp_path):
    """The two launchers; both are ended whatever happens."""
    ours = Launcher(tmp_path / "ours")
    theirs = Launcher(tmp_path / "theirs", board=ours.stage.board)
    launchers = (ours, theirs)
    yield launchers
    for launcher in launchers:
        if launcher.process is not None:
            launcher.process.terminate()
            launcher.process.wait(60)
        launcher.await_end()


def drag_all(launcher, column):
    """A person moves every card at once."""
    for card in boardfile.tasks(launcher.stage.board.path):
        boardfile.set_status(card, column)


def columns(launcher):
    """In which columns cards stand."""
    return {card.status for card in boardfile.tasks(launcher.stage.board.path)}


def await_look(launcher):
    """Wait until its workers are there and it has looked at the board: from here on it begins as soon as it may."""
    card = launcher.stage.board.cards[0].id

    def ready():
        workers = json.loads(launcher.orchestrator("status", "--json").stdout or "{}").get("workers", [])
        has_slots = any(worker["slots"] for worker in workers)
        return has_slots and "not_active" in launcher.orchestrator("explain", card).stdout

    until(ready, timeout_seconds=PATIENCE_SECONDS, what="a first look at the board")


def spells(launcher):
    """From when to when an agent of an installation was at work on each card, by the agents' own log."""
    found = defaultdict(list)
    for line in map(json.loads, launcher.stage.witness.read_text().splitlines()):
        found[line["item"]].append(line["at"])
    return {item: (min(moments), max(moments)) for item, moments in found.items()}


def ended(launcher):
    """Whose work was finished by an agent of this installation."""
    lines = map(json.loads, launcher.stage.witness.read_text().splitlines())
    return {line["item"] for line in lines if line["event"] == "end"}


@pytest.mark.proves("H30")
def test_two_launchers_at_one_board_do_not_work_on_one_card(pair):
    """All cards become active in one moment, for both: each is worked on by one, and the other says why it does not."""
    ours, theirs = pair
    drag_all(ours, "On Hold")
    for launcher in pair:
        launcher.up()
    for launcher in pair:
        await_look(launcher)
    drag_all(ours, "To Do")
    until(lambda: columns(ours) == {"In Review"}, timeout_seconds=PATIENCE_SECONDS, what="every card in review")

    one, two = spells(ours), spells(theirs)
    both = {item: min(one[item][1], two[item][1]) - max(one[item][0], two[item][0]) for item in set(one) & set(two)}
    assert {item: seconds for item, seconds in both.items() if seconds > BOUND_SECONDS} == {}
    cards = {card.id for card in ours.stage.board.cards}
    long = {card.id for card in ours.stage.board.cards[:2]}
    assert ended(ours) | ended(theirs) == cards
    assert not long & ended(ours) & ended(theirs)
    for card in sorted(long):
        told = [launcher.orchestrator("explain", card).stdout for launcher in pair]
        assert sum("(served_elsewhere, " in said and "the way out: by itself" in said for said in told) == 1, told
