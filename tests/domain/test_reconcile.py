"""What a tick does for one item, as a table: where the card stands against what is going on with it.

The laws that hold for whole plans are in test_laws.py.
"""

from dataclasses import replace

import pytest

from orchestrator.domain.reconcile import Cancel, Dispatch, EndTask, Expire, LiftHold, NoteAbsence, Refresh, Requeue
from orchestrator.domain.select import Limits, NotDispatched
from orchestrator.domain.turn import StopReason
from tests.domain import worlds
from tests.domain.worlds import PAST, World, board, held, item, queued, records, running, waiting

LIMITS = Limits(required_labels=("fleet",))
ACTIONS = {"cancel": Cancel, "expire": Expire, "requeue": Requeue, "end": EndTask, "lift": LiftHold}

CARDS = {
    "wanted": lambda: board(item(labels=("fleet",))),
    "closed": lambda: board(item(state="Done", labels=("fleet",))),
    "elsewhere": lambda: board(item(state="Backlog", labels=("fleet",))),
    "unlabelled": lambda: board(item(labels=())),
    "missing": lambda: board(gone=["A-1"]),
    "unread": board,
}

OURS = {
    "on-its-way": queued,
    "message-lost": lambda **more: queued(since=PAST, **more),
    "never-sent": lambda **more: queued(since=None, **more),
    "running": running,
    "silent": lambda **more: running(lease=PAST, **more),
    "flagged": lambda **more: running(flagged=True, **more),
    "flagged-silent": lambda **more: running(flagged=True, lease=PAST, **more),
    "backing-off": lambda **more: waiting(due=worlds.FUTURE, **more),
    "dead-letter": lambda **more: held(task=True, **more),
    "finished": held,
}

# One row for what is going on, one column for where the card stands; a missing card is believed the second time only.
TABLE = """
                  wanted   closed  elsewhere  unlabelled  missing  missing-again  unread
on-its-way        -        cancel  cancel     cancel      -        cancel         -
message-lost      requeue  cancel  cancel     cancel      requeue  cancel         requeue
never-sent        requeue  cancel  cancel     cancel      requeue  cancel         requeue
running           -        cancel  cancel     cancel      -        cancel         -
silent            expire   cancel  cancel     cancel      expire   cancel         expire
flagged           -        -       -          -           -        -              -
flagged-silent    expire   expire  expire     expire      expire   expire         expire
backing-off       -        end     end        end         -        end            -
dead-letter       -        end     end        end         -        end            -
finished          -        lift    lift       -           -        -              -
"""

# The same when the board is in doubt (a configured column is not there): only a card that a person closed counts.
DOUBTFUL = """
                  wanted   closed  elsewhere  unlabelled  missing  missing-again  unread
message-lost      requeue  cancel  requeue    requeue     requeue  requeue        requeue
running           -        cancel  -          -           -        -              -
silent            expire   cancel  expire     expire      expire   expire         expire
backing-off       -        end     -          -           -        -              -
dead-letter       -        end     -          -           -        -              -
finished          -        lift    -          -           -        -              -
"""


def cells(table):
    """The cells of a table: (row, column, what stands there)."""
    head, *lines = (line.split() for line in table.strip().splitlines())
    return [
        pytest.param(ours, card, cell, id=f"{ours}, {card}")
        for ours, *found in lines
        for card, cell in zip(head, found, strict=True)
    ]


def world_of(ours, card, **flags):
    """The world of one cell."""
    if card == "missing-again":
        return World(board(gone=["A-1"]), records(OURS[ours](absences=1), **flags), limits=LIMITS)
    return World(CARDS[card](), records(OURS[ours](), **flags), limits=LIMITS)


def steps(world):
    """The actions of a plan that are not a mere note about what was seen."""
    return [action for action in world.plan().actions if not isinstance(action, NoteAbsence | Refresh)]


@pytest.mark.proves("RC-01", "RC-02", "RC-04", "RC-05", "RC-06", "CL-08", "FS-26", "FS-28")
@pytest.mark.parametrize(("ours", "card", "cell"), cells(TABLE))
def test_each_item_gets_the_one_step_it_needs(ours, card, cell):
    """What a person did comes first, then what died; what could not be read is neither gone nor fine."""
    assert [type(step) for step in steps(world_of(ours, card))] == ([ACTIONS[cell]] if cell != "-" else [])


@pytest.mark.proves("H8", "SC-14", "SC-17")
@pytest.mark.parametrize(("ours", "card", "cell"), cells(DOUBTFUL))
def test_a_broken_contract_stops_only_what_a_person_closed(ours, card, cell):
    """A renamed column or a lost scope cancels, ends and lifts nothing; a terminal state still does."""
    world = world_of(ours, card, contract_broken=True)
    assert [type(step) for step in steps(world)] == ([ACTIONS[cell]] if cell != "-" else [])


@pytest.mark.parametrize(
    ("card", "stop"),
    [
        ("closed", StopReason.TERMINAL_SEEN),
        ("elsewhere", StopReason.MOVED_AWAY),
        ("unlabelled", StopReason.MOVED_AWAY),
        ("missing-again", StopReason.NOT_VISIBLE),
    ],
)
@pytest.mark.parametrize("ours", ["running", "backing-off"])
def test_a_stop_says_what_the_person_did(ours, card, stop):
    """Closed, moved away and no longer visible are three different reasons, for a turn and for a task between turns."""
    assert [step.stop for step in steps(world_of(ours, card))] == [stop]


@pytest.mark.proves("RC-05", "FS-28")
def test_absence_is_believed_the_second_time():
    """Missing once is noted, missing twice in a row is believed, and being seen in between starts the count again."""
    once = World(board(gone=["A-1"]), records(running())).plan()
    assert once.actions == (NoteAbsence(running(), 1),)
    back = World(board(item()), records(running(absences=1))).plan()
    assert back.actions == (NoteAbsence(running(absences=1), 0),)
    twice = World(board(gone=["A-1"]), records(running(absences=1))).plan()
    assert twice.actions == (Cancel(running(absences=1), StopReason.NOT_VISIBLE),)


@pytest.mark.proves("RC-06")
def test_an_item_that_was_not_asked_for_is_not_absent():
    """A look at what is due shows only that: everything else keeps running, waiting and being held."""
    ours = records(running("A-1"), waiting("A-2"), held("A-3"), running("A-4", absences=1))
    assert World(board(whole=False), ours).plan().actions == ()


@pytest.mark.proves("SR-04", "H23")
def test_nothing_is_taken_over_after_a_blind_spell():
    """When the database was away, every lease ran out at once, and none of it means that a worker died."""
    assert steps(World(board(item()), records(running(lease=PAST), trusted=False))) == []


def test_a_running_item_is_noted_where_the_board_shows_it():
    """The caps count an item where it stands now, and a hold remembers it: so only active states are noted, folded."""
    moved = World(board(item(state="Rework")), records(running(state="Todo"))).plan()
    assert moved.actions == (Refresh(running(state="Todo"), "Rework"),)
    assert World(board(item(state=" TODO")), records(running(state="Todo"))).plan().actions == ()
    away = World(board(item(state="Backlog")), records(running(state="Todo"))).plan()
    assert [type(action) for action in away.actions] == [Cancel]


# --- holds -----------------------------------------------------------------------------------------------------------


@pytest.mark.proves("CL-09", "H16", "FS-11")
@pytest.mark.parametrize(
    ("record", "state"),
    [
        pytest.param(held(at="Todo"), "todo ", id="the card did not move"),
        pytest.param(held(at="Todo", unsent_move=True), "In Progress", id="a move of ours may have done it"),
        pytest.param(held(at="Todo", moved_at=worlds.FUTURE), "Rework", id="the look is older than our last move"),
        pytest.param(held(at="Todo", held_firmly=True), "Rework", id="the operator's hold waits for a command"),
        pytest.param(held(at="To do", task=True), "Todo", id="the column was renamed, nobody moved the card"),
        pytest.param(held(at=None), "Rework", id="nobody knows where it stood"),
    ],
)
def test_our_own_writes_and_mere_looks_lift_no_hold(record, state):
    """Only a person's move is a move: a brake that our own write releases would feed the loop that it stopped."""
    assert steps(World(board(item(state=state)), records(record))) == []


@pytest.mark.proves("CL-09")
@pytest.mark.parametrize("state", ["Rework", "In Review", "Backlog"])
def test_a_persons_drag_lifts_a_hold(state):
    """Wherever the card goes: the next tick then decides whether it runs."""
    (lift,) = steps(World(board(item(state=state)), records(held(at="Todo"))))
    assert lift == LiftHold(held(at="Todo"), state, f"a person moved the card from Todo to {state}")


@pytest.mark.parametrize("more", [{"held_firmly": True}, {"unsent_move": True}, {"at": None}])
def test_a_closed_card_ends_even_a_firm_hold(more):
    """Terminal wins over every hold, whoever placed it and whatever we know of the card's past."""
    (lift,) = steps(World(board(item(state="Closed")), records(held(**more))))
    assert isinstance(lift, LiftHold)


def test_a_held_item_is_lifted_first_and_started_a_tick_later():
    """The tick that lifts a hold starts nothing on it: its version has moved, and the next tick sees that."""
    plan = World(board(item(state="Rework")), records(held(at="Todo", task=True))).plan()
    assert [type(action) for action in plan.actions] == [LiftHold]
    assert plan.reasons["A-1"].reason is NotDispatched.HELD_ITEM


# --- what is sent to the workers -------------------------------------------------------------------------------------


@pytest.mark.proves("H3")
@pytest.mark.parametrize(
    ("free", "sent"), [(0, []), (1, []), (2, [Requeue]), (3, [Requeue, Dispatch]), (9, [Requeue, Dispatch])]
)
def test_no_more_is_enqueued_than_workers_can_take(free, sent):
    """What is on its way takes a slot, lost messages come next, new turns last; without workers, nothing."""
    ours = records(queued("A-1"), queued("A-2", since=PAST), free_slots=free)
    look = board(item("A-1"), item("A-2"), item("A-3"))
    plan = World(look, ours).plan()
    assert [type(action) for action in plan.actions] == sent
    left_out = plan.reasons.get("A-3")
    assert left_out is None if Dispatch in sent else left_out.reason is NotDispatched.NO_WORKER_SLOT


@pytest.mark.parametrize("flags", [{"held_fleet": "stop"}, {"held_workflow": "drained"}])
def test_a_message_that_admission_would_refuse_is_not_sent_again(flags):
    """Under a hold a queued turn waits without new messages; when the hold ends it is due at once."""
    assert steps(World(board(item()), records(queued(since=PAST), **flags))) == []


def test_an_action_carries_the_version_that_the_records_showed():
    """A dispatch of an item that has no row yet carries 0: it must not find one either."""
    plan = World(board(item("A-1"), item("A-2")), records(waiting("A-2", version=41))).plan()
    assert {action.item.id: action.version for action in plan.actions} == {"A-1": 0, "A-2": 41}


def test_a_plan_counts_its_actions_and_its_reasons():
    """The report of a tick names each kind once, with how often."""
    plan = World(board(item("A-1"), item("A-2", "Backlog"), item("A-3", "Done")), records(running("A-3"))).plan()
    assert plan.counts() == {"cancel": 1, "dispatch": 1, "not_active": 2}


def test_a_supervisors_word_counts_even_after_a_blind_spell():
    """Leases are not judged after a blind spell; the word of whoever watched a worker die needs no lease."""
    alive = running("A-1")
    lost = replace(alive, turn=replace(alive.turn, dead=True))
    plan = World(board(item("A-1")), records(lost, trusted=False)).plan()
    assert [type(action).__name__ for action in plan.actions] == ["Expire"]
