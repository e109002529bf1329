"""What may be written on a card, as a table: which write, against where the card stands at the last look."""

import pytest

from orchestrator.domain import writeback
from orchestrator.domain.contract import StateContract
from orchestrator.domain.sighting import Sighting
from orchestrator.domain.writeback import Comment, Defer, Move, Post, Role, Suppress, Write, WriteKind
from tests.domain.worlds import CONTRACT, NO_REVIEW, STATES, item

FROM_DISPATCH = ("Todo", "In Progress")
STARTING = Write(WriteKind.STARTED, Move(Role.IN_PROGRESS, FROM_DISPATCH))
HANDING_OFF = Write(WriteKind.TURN_ENDED, Move(Role.HANDOFF, FROM_DISPATCH))


def note(kind):
    """A comment of that kind."""
    return Write(kind, Comment("station:status", "Turn 3 is running."))


# One row a write; "yes" is written, "no" is never written. `Rework` is active, but not where the turn was dispatched.
TABLE = """
                  Todo  In-Progress  Rework  In-Review  Backlog  Done
start             yes   no           no      no         no       no
hand-off          yes   yes          no      no         no       no
started-note      yes   yes          yes     yes        yes      no
ended-note        yes   yes          yes     yes        yes      no
no-change-note    yes   yes          yes     yes        yes      no
hold-note         yes   yes          yes     yes        yes      no
escalation-note   yes   yes          yes     yes        yes      no
cancelled-note    yes   yes          yes     yes        yes      yes
merged-note       yes   yes          yes     yes        yes      yes
"""
WRITES = {
    "start": STARTING,
    "hand-off": HANDING_OFF,
    "started-note": note(WriteKind.STARTED),
    "ended-note": note(WriteKind.TURN_ENDED),
    "no-change-note": note(WriteKind.NO_CHANGE),
    "hold-note": note(WriteKind.HOLD),
    "escalation-note": note(WriteKind.ESCALATION),
    "cancelled-note": note(WriteKind.CANCELLED),
    "merged-note": note(WriteKind.MERGED),
}


def cells():
    """The cells of the table: (write, where the card stands, whether it is written)."""
    head, *lines = (line.split() for line in TABLE.strip().splitlines())
    return [
        pytest.param(WRITES[name], column.replace("-", " "), cell == "yes", id=f"{name}, {column}: {cell}")
        for name, *found in lines
        for column, cell in zip(head, found, strict=True)
    ]


@pytest.mark.proves("TW-02", "TW-05", "TW-08", "H15", "FS-17")
@pytest.mark.parametrize(("write", "state", "written"), cells())
def test_a_person_who_acted_first_wins(write, state, written):
    """A closed card is told of no progress, and a move is made only from where the turn was allowed to start."""
    verdict = writeback.permit(write, item(state=state), CONTRACT)
    assert isinstance(verdict, Post if written else Suppress)


@pytest.mark.proves("TW-03", "RC-06", "FS-29")
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_could_not_be_read_is_not_written_over(write):
    """A read that failed defers the write; a card that a successful read did not find is written to never again."""
    assert isinstance(writeback.permit(write, None, CONTRACT, readable=False), Defer)
    assert isinstance(writeback.permit(write, None, CONTRACT), Suppress)


@pytest.mark.proves("TW-02", "FS-17")
@pytest.mark.parametrize("state", ["Done", " CLOSED"])
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("kind", WriteKind)
def test_a_terminal_state_is_never_overwritten(kind, role, state):
    """Whatever the write says of itself, and even where its `only_from` names the state: closed stays closed."""
    verdict = writeback.permit(Write(kind, Move(role, STATES)), item(state=state), CONTRACT)
    assert isinstance(verdict, Suppress)


@pytest.mark.proves("H9")
def test_a_move_goes_where_the_role_stands_now():
    """The outbox keeps the role; a review column that was renamed in the workflow is met under its new name."""
    renamed = StateContract(("Todo",), ("Done",), handoff="Needs Review")
    assert writeback.permit(HANDING_OFF, item(), renamed) == Post("Needs Review")
    assert isinstance(writeback.permit(HANDING_OFF, item(), NO_REVIEW), Suppress)


@pytest.mark.proves("SC-09")
def test_states_are_compared_folded_and_written_as_spelled():
    """`in review ` is where the card is already; what is written is the contract's own spelling."""
    assert writeback.permit(HANDING_OFF, item(state=" todo "), CONTRACT) == Post("In Review")
    anywhere = Write(WriteKind.TURN_ENDED, Move(Role.HANDOFF, STATES))
    assert writeback.permit(anywhere, item(state="IN REVIEW "), CONTRACT) == Suppress("the card is there already")


@pytest.mark.proves("TW-09")
def test_the_kinds_of_write_are_a_closed_list():
    """Eight observed facts; a ninth is a decision."""
    assert {kind.value for kind in WriteKind} == {
        "started", "turn_ended", "no_change", "merged", "cancelled", "hold", "escalation", "kept",
    }  # fmt: skip


# What was seen, what became of the turn's move before it, and from which of four columns the hand-off is made then.
PAST = """
seen in      moved before    Todo  In-Progress  Rework  Backlog
Todo         nothing         yes   yes          no      no
In-Progress  nothing         yes   yes          no      no
Rework       nothing         no    no           no      no
Todo         sent            no    yes          no      no
In-Progress  sent            no    yes          no      no
Rework       sent            no    no           no      no
Todo         Backlog         no    no           no      no
"""


def past():
    """The cells of that table: (the hand-off, where the card stands, whether it is moved)."""
    _, *lines = (line.split() for line in PAST.strip().splitlines())
    for seen, before, *cells_ in lines:
        move = Move(Role.HANDOFF, FROM_DISPATCH, Sighting(seen.replace("-", " ")))
        if before == "sent":
            move = move.after_sent("In Progress")
        elif before != "nothing":
            move = move.after_refused(before)
        for column, cell in zip(("Todo", "In Progress", "Rework", "Backlog"), cells_, strict=True):
            yield pytest.param(move, column, cell == "yes", id=f"{seen}, {before}, {column}: {cell}")


@pytest.mark.proves("TW-05", "H15")
@pytest.mark.parametrize(("move", "state", "made"), list(past()))
def test_a_decision_that_was_seen_is_not_forgotten(move, state, made):
    """Neither that the card was elsewhere, nor that our own move took it from where its run began."""
    verdict = writeback.permit(Write(WriteKind.TURN_ENDED, move), item(state=state), CONTRACT)
    assert isinstance(verdict, Post if made else Suppress)


@pytest.mark.proves("TW-01")
@pytest.mark.parametrize("seen_in", ["Todo", "In Progress"])
def test_where_the_run_began_is_no_sure_sign_once_our_move_was_sent(seen_in):
    """A copy from before that move shows the card there too, under the very stamp that was seen."""
    move = Move(Role.HANDOFF, FROM_DISPATCH, Sighting(seen_in)).after_sent("In Progress")
    assert not writeback.is_sure(move, item(state="Todo"))
    assert writeback.is_sure(move, item(state="In Progress"))
