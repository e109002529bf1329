"""A tracker that moves without comparing: what is read back ends in what a person decided, and is told as that."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from orchestrator.ports.tracker import Moved, NotMoved, TrackerError, TrackerFault
from tests.world import World


def nothing() -> None:
    """Nobody does anything."""


@dataclass
class Loose:
    """A tracker that looks first and moves whatever stands there then; people act once before, in between and after."""

    tracker: Any
    before: Callable[[], object] = nothing
    between: Callable[[], object] = nothing
    after: Callable[[], object] = nothing
    moves: bool = True

    def __getattr__(self, name: str) -> Any:
        """Everything else it does as well as the others."""
        return getattr(self.tracker, name)

    @property
    def profile(self) -> Any:
        """It says so."""
        return replace(self.tracker.profile, conditional_moves=False)

    def move(self, item_id: str, to: str, *, only_from: Any, revision: str | None) -> Moved | NotMoved:
        """Look, and move."""
        self._once("before")
        item = self.tracker.get_items([item_id]).get(item_id)
        if item is None or item.state not in only_from or item.revision != revision:
            return NotMoved(None if item is None else item.state)
        self._once("between")
        there = self.tracker.get_items([item_id]).get(item_id)
        if there is None:
            raise TrackerError(TrackerFault.NOT_FOUND, "no such card")
        if self.moves:
            self.tracker.board.compare_and_move(item_id, to, only_from=[there.state], revision=None)
        self._once("after")
        return Moved()

    def _once(self, moment: str) -> None:
        act = getattr(self, moment)
        setattr(self, moment, nothing)
        act()


@pytest.fixture
def loose() -> list[Loose]:
    """The tracker of the world, once it is there."""
    return []


@pytest.fixture
def world(stage, loose: list[Loose]) -> World:
    """A world on such a tracker, with one card."""

    def wrapped(_pid: int, name: str, door: Any) -> Any:
        if name != "tracker":
            return door
        loose[:] = [Loose(door)]
        return loose[0]

    made = stage.world(wrap=wrapped)
    made.add("A-1")
    return made


@pytest.fixture
def waiting(world: World) -> World:
    """A finished turn: its card is in progress, its hand-off waits in the outbox."""
    world.agents.during = lambda _: world.relay()
    world.tick()
    world.deliver()
    assert world.state("A-1") == "In Progress"
    return world


def written(world: World) -> list[tuple[str, str | None]]:
    """What became of each move, and where we believe that the card was put by it or by a person."""
    return world.rows("select status, state from outbox where act = 'move' order by seq")


def audited(world: World) -> tuple[str, str | None, str]:
    """The last row of the audit about a move: outcome, after, why."""
    return world.rows("select outcome, after, detail from write_audit where act = 'move' order by id desc limit 1")[0]


def believed(world: World) -> str:
    """Where our records have the card."""
    return world.one("select state from item")


def said(world: World) -> str:
    """The status comment on the card."""
    return world.board.said("A-1")[0].body


@pytest.mark.proves("TW-04", "TW-05")
@pytest.mark.parametrize("column", ["Backlog", "Cancelled"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_person_right_before_or_right_after_our_hand_off_decides(waiting, loose, moment: str, column: str):
    """Between our read and our write, or between our write and the look back: the card stays, nothing is claimed."""
    setattr(loose[0], moment, lambda: waiting.drag("A-1", column))
    waiting.run_until_quiet()
    assert waiting.state("A-1") == column
    assert written(waiting) == [("sent", "In Progress"), ("suppressed", column)]
    outcome, after, why = audited(waiting)
    assert (outcome, after) == ("suppressed", None)
    assert column in why
    assert believed(waiting) != "In Review"
    assert [run.event for run in waiting.agents.log] == ["start", "done"]
    if column == "Backlog":
        assert f"The card stays where it is: {why}." in said(waiting)


@pytest.mark.proves("TW-05", "CS-14")
@pytest.mark.parametrize("column", ["Todo", "Rework"])
def test_a_person_who_wants_it_done_again_right_after_our_hand_off_gets_it(waiting, loose, column: str):
    """It is worked on anew, and the second hand-off is made."""
    loose[0].after = lambda: waiting.drag("A-1", column)
    waiting.run_until_quiet()
    assert waiting.state("A-1") == "In Review"
    assert [run.event for run in waiting.agents.log] == ["start", "done", "start", "done"]
    assert written(waiting)[:2] == [("sent", "In Progress"), ("suppressed", column)]


@pytest.mark.proves("TW-05")
def test_a_person_who_puts_it_back_in_progress_right_after_our_hand_off_has_it_done_again(waiting, loose):
    """The card stands where it stood and was touched: nobody claims that it was handed off."""
    loose[0].after = lambda: waiting.drag("A-1", "In Progress")
    waiting.tick()
    waiting.relay()
    waiting.jump(2)
    waiting.relay()
    assert waiting.state("A-1") == "In Progress"
    assert written(waiting)[1][0] == "suppressed"
    assert "The card stays where it is" in said(waiting)
    waiting.run_until_quiet()
    assert waiting.state("A-1") == "In Review"
    assert waiting.one("select count(*) from turn") == 2


@pytest.mark.proves("TW-04", "TW-05")
@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_a_card_that_is_thrown_away_at_that_moment_was_not_handed_off(waiting, loose, moment: str):
    """It is gone, and no record says that it stands in review."""
    setattr(loose[0], moment, lambda: waiting.delete("A-1"))
    waiting.run_until_quiet()
    assert written(waiting)[1] in {("suppressed", None), ("parked", None)}
    assert audited(waiting)[1] is None
    assert believed(waiting) != "In Review"
    assert waiting.one("select count(*) from turn") == 1


@pytest.mark.proves("TW-04", "TW-05")
def test_a_person_who_moves_on_after_our_in_progress_move_is_followed(world, loose):
    """The run ends, nothing is handed off, and our records do not have the card in progress."""
    loose[0].after = lambda: world.drag("A-1", "Backlog")
    world.agents.during = lambda _: (world.relay(), world.jump(2), world.relay())
    world.run_until_quiet()
    assert world.state("A-1") == "Backlog"
    assert written(world)[0] == ("suppressed", "Backlog")
    assert {status for status, _ in written(world)} == {"suppressed"}
    assert world.rows("select state from turn") == [("Todo",)]


@pytest.mark.proves("TW-04", "TW-13")
@pytest.mark.parametrize("shown", ["as it was", "as gone", "elsewhere"])
def test_one_look_back_that_lies_parks_and_gives_up_nothing(waiting, loose, monkeypatch, shown: str):
    """The copy that answers may lag: what it says is asked once more before anything is made of it."""
    before = waiting.board.item("A-1")
    stale = {
        "as it was": {"A-1": before},
        "as gone": {},
        "elsewhere": {"A-1": replace(before, state="Rework", revision="0")},
    }

    def lie() -> None:
        honest = type(loose[0].tracker).get_items

        def once(tracker: Any, _ids: Any) -> Any:
            monkeypatch.setattr(type(tracker), "get_items", honest)
            return stale[shown]

        monkeypatch.setattr(type(loose[0].tracker), "get_items", once)

    loose[0].after = lie
    waiting.run_until_quiet()
    assert waiting.state("A-1") == "In Review"
    assert written(waiting)[1] == ("sent", "In Review")
    assert waiting.rows("select kind from hold") == []
    assert waiting.one("select count(*) from turn") == 1


@pytest.mark.proves("FS-20", "TW-04")
def test_a_move_that_twice_shows_no_trace_is_parked_and_not_made_again(waiting, loose):
    """The server says that all is well: a person looks at it, and the card says so."""
    loose[0].moves = False
    waiting.run_until_quiet()
    assert waiting.state("A-1") == "In Progress"
    assert written(waiting)[1][0] == "parked"
    assert "'In Review', and it stands in 'In Progress' untouched" in audited(waiting)[2]
    assert any(comment.body.startswith("Held (parked_move)") for comment in waiting.board.said("A-1"))


@pytest.mark.proves("TW-05", "H15")
def test_a_renamed_column_is_not_taken_for_a_person_at_the_look_back(waiting, loose):
    """Our move was made, and its column bears another name a moment later: it waits until that is put right."""
    board = waiting.board

    def rename(name: str, other: str) -> None:
        board.states = tuple(other if state == name else state for state in board.states)
        for item_id in board.ids():
            if board.item(item_id).state == name:
                board._items[item_id] = replace(board._items[item_id], state=other)

    loose[0].after = lambda: rename("In Review", "Verify")
    waiting.relay()
    waiting.jump(20)
    waiting.relay()
    assert written(waiting)[1][0] == "unknown"
    rename("Verify", "In Review")
    waiting.run_until_quiet()
    assert written(waiting)[1] == ("sent", "In Review")
    assert waiting.one("select count(*) from turn") == 1


@pytest.mark.proves("TE-10")
def test_what_a_person_did_in_the_midst_of_such_a_move_leaves_no_trace(waiting, loose):
    """Best effort, as the profile says: neither we nor anybody can tell, and whoever moves the card later stands."""
    loose[0].between = lambda: waiting.drag("A-1", "Backlog")
    waiting.run_until_quiet()
    assert waiting.state("A-1") == "In Review"
    waiting.drag("A-1", "Backlog")
    waiting.run_until_quiet()
    assert waiting.state("A-1") == "Backlog"
