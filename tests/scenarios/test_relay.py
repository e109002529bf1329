"""The relay reads the card again before every write, and a person's decision always wins."""

import pytest

from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.trackers.memory import MemoryTracker


@pytest.fixture
def waiting(world):
    """A finished turn whose hand-off waits in the outbox."""
    world.add("A-1")
    world.tick()
    world.deliver()
    return world


@pytest.mark.proves("TW-01", "TW-02", "FS-17")
def test_nothing_is_written_on_a_closed_card(waiting):
    """No move, and no comment that implies progress."""
    waiting.close("A-1")
    waiting.run_until_quiet()
    assert waiting.state("A-1") == "Done"
    assert waiting.board.said("A-1") == ()
    assert {row[0] for row in waiting.rows("select status from outbox")} <= {"suppressed", "superseded"}


@pytest.mark.proves("TW-03")
def test_a_card_that_cannot_be_read_is_not_written(waiting, monkeypatch):
    """The write stays in the outbox, with a due time; once the card can be read it is made."""

    def unreadable(_tracker, _ids):
        raise TrackerError(TrackerFault.TRANSPORT, "no answer")

    monkeypatch.setattr(MemoryTracker, "get_items", unreadable)
    waiting.relay()
    assert waiting.state("A-1") == "Todo"
    assert ("move", "pending", 1) in waiting.rows("select act, status, tries from outbox where due_at is not null")
    monkeypatch.undo()
    waiting.run_until_quiet()
    assert waiting.state("A-1") == "In Review"


@pytest.mark.proves("TW-04", "TW-05", "H15")
@pytest.mark.parametrize("column", ["Backlog", "Done", "Rework", "Cancelled"])
def test_a_move_between_our_read_and_our_write_wins(waiting, monkeypatch, column):
    """The move itself is conditional: the person is faster by one instant, and the card stays where they put it."""
    move = MemoryTracker.move

    def person_first(tracker, *values, **named):
        waiting.drag("A-1", column)
        return move(tracker, *values, **named)

    monkeypatch.setattr(MemoryTracker, "move", person_first)
    waiting.relay()
    assert waiting.state("A-1") == column
    assert ("move", "suppressed") in waiting.rows("select act, status from outbox")


@pytest.mark.proves("TW-13")
def test_a_move_whose_answer_was_lost_is_looked_up_first(waiting, monkeypatch):
    """The card shows our state: the move is settled and not made twice."""
    move = MemoryTracker.move

    def answer_lost(tracker, *values, **named):
        move(tracker, *values, **named)
        raise TrackerError(TrackerFault.TRANSPORT, "no answer", sent=True)

    monkeypatch.setattr(MemoryTracker, "move", answer_lost)
    waiting.relay()
    assert ("move", "unknown") in waiting.rows("select act, status from outbox")
    monkeypatch.undo()
    waiting.run_until_quiet()
    assert [entry.actor for entry in waiting.board.history] == ["person", "stationkeeper"]
    assert ("move", "sent") in waiting.rows("select act, status from outbox")


@pytest.mark.proves("TW-07", "FS-23")
def test_a_move_that_can_never_be_made_is_parked(waiting):
    """The review column is gone: one hold that says so, no loop, and the finished work is not done again."""
    waiting.board.states = tuple(state for state in waiting.board.states if state != "In Review")
    waiting.run_until_quiet()
    assert ("move", "parked") in waiting.rows("select act, status from outbox")
    assert waiting.rows("select kind from hold where lifted_at is null") == [("parked_move",)]
    assert waiting.one("select count(*) from turn") == 1


@pytest.mark.proves("TW-10", "FS-44")
def test_a_card_has_one_status_comment_however_often_it_changes(waiting):
    """It is edited in place, through a second task as well."""
    waiting.run_until_quiet()
    waiting.drag("A-1", "Todo")
    waiting.run_until_quiet()
    assert [comment.body.splitlines()[0] for comment in waiting.board.said("A-1")] == [
        "Turn 2 is done; ready for review."
    ]


@pytest.mark.proves("H14", "TW-05", "TW-13")
@pytest.mark.parametrize("column", ["Todo", "In Progress", "Rework"])
def test_a_person_who_drags_the_card_back_before_we_know_wins(waiting, monkeypatch, column):
    """Our move landed and its answer was lost; the card is dragged back: it is not moved again, it is worked on."""
    move = MemoryTracker.move

    def answer_lost(tracker, *values, **named):
        move(tracker, *values, **named)
        raise TrackerError(TrackerFault.TRANSPORT, "no answer", sent=True)

    monkeypatch.setattr(MemoryTracker, "move", answer_lost)
    waiting.relay()
    monkeypatch.undo()
    waiting.drag("A-1", column)
    waiting.run_until_quiet()
    assert waiting.state("A-1") == "In Review"
    assert [run.event for run in waiting.agents.log] == ["start", "done", "start", "done"]


@pytest.mark.proves("H14", "TW-13")
def test_a_move_that_never_left_is_made_when_the_card_is_untouched(waiting, monkeypatch):
    """The relay died between its intent and the send: the card bears what it bore then, so the move is made."""

    def nobody(_tracker, *_, **__):
        raise TrackerError(TrackerFault.TRANSPORT, "no answer", sent=True)

    monkeypatch.setattr(MemoryTracker, "move", nobody)
    waiting.relay()
    monkeypatch.undo()
    waiting.run_until_quiet()
    assert waiting.state("A-1") == "In Review"
    assert waiting.one("select count(*) from turn") == 1


@pytest.mark.proves("H18", "H7")
def test_an_old_text_that_arrives_late_does_not_stay(waiting, monkeypatch):
    """A relay freezes right before its comment and thaws after everything: the newest text is sent again."""
    comment, late = MemoryTracker.comment, []

    def freeze_once(tracker, *values):
        if not late:
            late.append(values)
            waiting.jump(100)
            waiting.run_until_quiet()
            waiting.drag("A-1", "Todo")
            waiting.run_until_quiet()
        comment(tracker, *values)

    monkeypatch.setattr(MemoryTracker, "comment", freeze_once)
    waiting.relay()
    waiting.run_until_quiet()
    assert [said.body.splitlines()[0] for said in waiting.board.said("A-1")] == ["Turn 2 is done; ready for review."]
