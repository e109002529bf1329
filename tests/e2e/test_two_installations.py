"""Two launchers, each with a Postgres and a Redis of its own, on one Backlog.md folder."""

import json
import os
import re
import time

import pytest

from orchestrator.cli.demo import boardfile
from tests.e2e.launcher import Launcher
from tests.waiting import until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(420)]

# Two dozen processes boot on what may be two cores.
PATIENCE_SECONDS = 180
# From the moment in which both can write to the end of one agent: a write-back, a look, a renewal that carries the word
# to the supervisor, an agent that ends. The cards take four times as long, so that who does not stop is found out.
BOUND_SECONDS = 20.0
LONG_STEPS = 320  # of a quarter of a second each


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


def drag(launcher, column, cards):
    """A person moves cards, in an editor that takes no lock."""
    for card in boardfile.tasks(launcher.stage.board.path):
        if card.id in cards:
            text = card.path.read_text(encoding="utf-8")
            card.path.write_text(re.sub(r"(?m)^status: .*$", f"status: {column}", text, count=1), encoding="utf-8")


class Busy:
    """Another program has the cards' locks: everybody can read them, and no write-back of ours can be made."""

    def __init__(self, board, cards):
        (board / ".locks").mkdir(exist_ok=True)
        self.locks = [board / ".locks" / f"task-{card.lower()}" for card in cards]
        for lock in self.locks:
            lock.mkdir()

    def keep(self):
        """It is still there: a lock that seems to be forgotten is broken. Returns True."""
        for lock in self.locks:
            os.utime(lock)
        return True

    def end(self):
        """From now on both may write; returns when that was."""
        for lock in self.locks:
            lock.rmdir()
        return time.time()


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


def last_words(launcher):
    """When an agent of an installation was last at work on each card, by the agents' own log."""
    lines = map(json.loads, launcher.stage.witness.read_text().splitlines())
    return {line["item"]: line["at"] for line in lines}


def ended(launcher):
    """Whose work was finished by an agent of this installation."""
    lines = map(json.loads, launcher.stage.witness.read_text().splitlines())
    return {line["item"] for line in lines if line["event"] == "end"}


@pytest.mark.proves("H30")
def test_two_launchers_at_one_board_do_not_work_on_one_card(pair):
    """Two cards are begun by both before either can tell the card; of each one agent stops, and its card says why.

    Two more become active afterwards: whoever is first has them.
    """
    ours, theirs = pair
    cards = [card.id for card in ours.stage.board.cards]
    long, short = cards[:2], cards[2:]
    drag(ours, "On Hold", cards)
    for launcher in pair:
        written = launcher.stage.workflow.read_text()
        launcher.stage.workflow.write_text(written.replace("--steps=16", f"--steps=16 --long-steps={LONG_STEPS}"))
        launcher.up()
    for launcher in pair:
        await_look(launcher)
    busy = Busy(ours.stage.board.path, long)
    drag(ours, "To Do", long)
    until(
        lambda: busy.keep() and all(set(long) <= set(last_words(launcher)) for launcher in pair),
        timeout_seconds=PATIENCE_SECONDS,
        what="an agent of each at both cards",
    )
    freed_at = busy.end()
    drag(ours, "To Do", short)
    until(lambda: columns(ours) == {"In Review"}, timeout_seconds=PATIENCE_SECONDS, what="every card in review")

    assert ended(ours) | ended(theirs) == set(cards)
    for card in long:
        [loser] = [launcher for launcher in pair if card not in ended(launcher)]
        assert last_words(loser)[card] - freed_at < BOUND_SECONDS
        said = loser.orchestrator("explain", card).stdout
        assert "(served_elsewhere, " in said
        assert "the way out: by itself" in said
        assert "ended cancelled (served_elsewhere)" in said
    both = ended(ours) & ended(theirs)
    assert not both & set(long)
