"""How a turn ends, and what its end means for the item: the ladder as a table, the caps as walks that must end."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain import turn
from orchestrator.domain.hold import HoldKind
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import (
    Counters,
    End,
    Ending,
    Handoff,
    Outcome,
    Parked,
    Recheck,
    StopReason,
    TurnLimits,
    TurnStatus,
)
from tests.domain.worlds import CONTRACT, NO_REVIEW, NOW, STATES, item

LIMITS = TurnLimits()

ENDINGS = {
    "done": Ending(Outcome.DONE, StopReason.DONE, summary="mended"),
    "no-change": Ending(Outcome.NO_CHANGE, StopReason.NO_CHANGE),
    "blocked": Ending(Outcome.BLOCKED, StopReason.BLOCKED, reason="which colour?"),
    "no-prompt": Ending(Outcome.BLOCKED, StopReason.CONTRACT_BROKEN, reason="unknown variable"),
    "continue": Ending(Outcome.CONTINUE, StopReason.DONE),
    "failed": Ending(Outcome.FAILED, StopReason.AGENT_FAILED),
    "no-evidence": Ending(Outcome.FAILED, StopReason.NO_EVIDENCE),
    "stalled": Ending(Outcome.FAILED, StopReason.STALLED),
    "cancelled": Ending(Outcome.FAILED, StopReason.CANCELLED),
    "deploy": Ending(Outcome.FAILED, StopReason.DEPLOY),
    "unread": Ending(Outcome.FAILED, StopReason.READ_FAILED),
}

# One row for what the agent said or what stopped it, one column for where the card stands at the fresh look.
# First what becomes of the item (a final status ends its task, `hand` hands off, `again` looks again), then the reason.
TABLE = """
             Todo               In-Review                Backlog                   Done                         ?
done         hand:done          succeeded:done           succeeded:moved_away      succeeded:terminal_seen      hand:done
no-change    hand:no_change     succeeded:no_change      succeeded:moved_away      succeeded:terminal_seen      hand:no_change
blocked      held:blocked       cancelled:moved_away     cancelled:moved_away      cancelled:terminal_seen      held:blocked
no-prompt    held:contract_broken cancelled:moved_away   cancelled:moved_away      cancelled:terminal_seen      held:contract_broken
continue     again:done         cancelled:moved_away     cancelled:moved_away      cancelled:terminal_seen      again:done
failed       again:agent_failed cancelled:moved_away     cancelled:moved_away      cancelled:terminal_seen      again:agent_failed
no-evidence  again:no_evidence  cancelled:moved_away     cancelled:moved_away      cancelled:terminal_seen      again:no_evidence
stalled      again:stalled      cancelled:moved_away     cancelled:moved_away      cancelled:terminal_seen      again:stalled
cancelled    cancelled:cancelled cancelled:cancelled     cancelled:cancelled       cancelled:cancelled          cancelled:cancelled
deploy       again:deploy       again:deploy             again:deploy              again:deploy                 again:deploy
unread       again:read_failed  again:read_failed        again:read_failed         again:read_failed            again:read_failed
"""  # noqa: E501 -- one row an ending


def cells():
    """The cells of the table: (ending, where the card stands or None, what becomes of the item)."""
    head, *lines = (line.split() for line in TABLE.strip().splitlines())
    return [
        pytest.param(ENDINGS[name], None if state == "?" else state.replace("-", " "), cell, id=f"{name}, {state}")
        for name, *found in lines
        for state, cell in zip(head, found, strict=True)
    ]


def concluded(ending, state="Todo", contract=CONTRACT, counters=Counters(), limits=LIMITS):  # noqa: B008 -- frozen
    """What a turn's end means with the card in `state`; None: it could not be read."""
    card = item(state=state) if state is not None else None
    return turn.conclude(ending, card, contract, counters=counters, limits=limits, now=NOW)


def spoken(conclusion):
    """A conclusion in the words of the table."""
    match conclusion:
        case End(status=status, stop=stop):
            return f"{status.value}:{stop.value}"
        case Handoff(stop=stop):
            return f"hand:{stop.value}"
        case Recheck(stop=stop):
            return f"again:{stop.value}"
        case Parked(stop=stop):
            return f"held:{stop.value}"


@pytest.mark.proves("TW-02", "TW-06", "RT-08", "RT-11", "PT-03", "RT-17", "FS-10", "FS-17")
@pytest.mark.parametrize(("ending", "state", "meaning"), cells())
def test_an_end_means_what_the_ladder_says(ending, state, meaning):
    """First what is nobody's doing, then what a person decided, then what the agent said; unread decides nothing."""
    assert spoken(concluded(ending, state)) == meaning


@pytest.mark.proves("RT-10", "FS-07")
def test_a_board_without_a_review_column_holds_what_is_done():
    """Done and still active, with nowhere to go: a hold, or the next tick would start finished work again."""
    ended = concluded(ENDINGS["done"], contract=NO_REVIEW)
    assert ended == Parked(HoldKind.FINISHED, TurnStatus.SUCCEEDED, StopReason.DONE, "mended", TaskStatus.SUCCEEDED)
    silent = concluded(ENDINGS["no-change"], contract=NO_REVIEW)
    assert (silent.kind, silent.task) == (HoldKind.FINISHED, TaskStatus.SUCCEEDED)
    assert silent.reason


@pytest.mark.proves("CL-09")
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"reason": "which colour?", "summary": "I looked"}, "which colour?"),
        ({"summary": "I looked"}, "I looked"),
        ({}, "the agent did not say why"),
    ],
)
def test_a_blocked_turn_says_what_it_needs(said, told):
    """The task stays open behind the hold, and a person reads a reason even where the agent gave none."""
    ended = concluded(replace(ENDINGS["blocked"], **{"reason": "", **said}))
    assert (ended.kind, ended.task, ended.reason) == (HoldKind.BLOCKED, None, told)


# --- counting --------------------------------------------------------------------------------------------------------


@pytest.mark.proves("RT-01", "SC-11")
def test_failures_back_off_from_ten_seconds_to_the_cap():
    """10, 20, 40, 80, 160 seconds, then the cap for good."""
    limits = TurnLimits(max_attempts=99)
    delays = [
        (concluded(ENDINGS["failed"], counters=Counters(attempt), limits=limits).at - NOW).total_seconds()
        for attempt in range(1, 9)
    ]
    assert delays == [10, 20, 40, 80, 160, 300, 300, 300]


@pytest.mark.proves("RT-09")
@pytest.mark.parametrize(("asked", "waited"), [(None, 10), (3, 10), (900, 900)])
def test_a_providers_own_delay_wins_when_it_is_longer(asked, waited):
    """Retry-After lengthens the pause beyond any cap of ours, and never shortens it."""
    ended = concluded(replace(ENDINGS["failed"], retry_after_seconds=asked))
    assert ended.at == NOW + timedelta(seconds=waited)


@pytest.mark.proves("RT-02")
def test_a_turn_that_goes_on_is_looked_at_after_a_second():
    """A clean end sets the attempt back, so that the next turn is attempt 1 again, on the same session."""
    ended = concluded(ENDINGS["continue"], counters=Counters(attempt=4, turns_in_row=3))
    assert ended == Recheck(
        NOW + timedelta(seconds=1), TurnStatus.SUCCEEDED, StopReason.DONE, Counters(attempt=0, turns_in_row=3)
    )


@pytest.mark.proves("RT-10", "FS-07", "FS-08", "FS-13", "DE-11")
@pytest.mark.parametrize(
    ("ending", "counters", "kind"),
    [
        pytest.param("failed", Counters(attempt=5), StopReason.ATTEMPTS_SPENT, id="the last attempt failed"),
        pytest.param("stalled", Counters(attempt=9), StopReason.ATTEMPTS_SPENT, id="beyond a cap that was lowered"),
        pytest.param("continue", Counters(1, 20, 3), StopReason.SESSIONS_SPENT, id="the last session goes on for ever"),
    ],
)
def test_a_spent_cap_holds_and_does_not_release(ending, counters, kind):
    """A dead letter with its reason; the task stays open behind it, so that nothing can start a new one."""
    ended = concluded(ENDINGS[ending], counters=counters)
    assert (ended.kind, ended.stop, ended.task) == (HoldKind.DEAD_LETTER, kind, None)
    assert ended.reason


@pytest.mark.proves("RT-10", "FS-13")
def test_after_its_turns_in_a_row_an_item_gets_a_new_session():
    """`max_turns` in a row end the session, not the task; the next turn starts a conversation of its own."""
    ended = concluded(ENDINGS["continue"], counters=Counters(1, 20, 2))
    assert (ended.keep_session, ended.counters) == (False, Counters(attempt=0, turns_in_row=0, sessions=2))
    assert concluded(ENDINGS["continue"], counters=Counters(1, 19, 2)).keep_session


@pytest.mark.proves("RT-11", "SR-06")
@pytest.mark.parametrize("nobodys", ["deploy", "unread"])
def test_what_is_nobodys_failure_counts_for_nothing(nobodys):
    """A deploy or an unreadable card leaves every counter where it stood before the turn."""
    ended = concluded(ENDINGS[nobodys], counters=Counters(attempt=3, turns_in_row=7, sessions=2))
    assert ended.counters == Counters(attempt=2, turns_in_row=6, sessions=2)
    assert ended.turn is TurnStatus.CANCELLED


@pytest.mark.proves("CL-08", "FS-26")
def test_a_lost_turn_is_tried_again_at_once_then_backed_off_then_held():
    """A dead worker is not the agent's failure, but a turn that kills each worker must not go round for ever."""
    delays = [(turn.lost(Counters(attempt), limits=LIMITS, now=NOW).at - NOW).total_seconds() for attempt in (1, 2, 3)]
    assert delays == [0, 10, 20]
    ended = turn.lost(Counters(5), limits=LIMITS, now=NOW)
    assert (ended.kind, ended.turn, ended.task) == (HoldKind.DEAD_LETTER, TurnStatus.LOST, None)


def admitted(counters, keep_session):
    """The counters of the next turn, as admission counts them."""
    sessions = counters.sessions if keep_session else counters.sessions + 1
    return Counters(counters.attempt + 1, counters.turns_in_row + 1, sessions)


@pytest.mark.proves("RT-10", "FS-07", "FS-13", "FS-14")
@given(st.data(), st.builds(TurnLimits, st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)))
def test_no_agent_can_keep_an_item_running_for_ever(data, limits):
    """However an agent mixes failing, dying and going on, the item is held within the product of its caps."""
    counters, most = Counters(), limits.max_attempts * limits.max_turns * limits.max_sessions
    for _ in range(most):
        how = data.draw(st.sampled_from(("failed", "stalled", "lost", "continue")))
        if how == "lost":
            ended = turn.lost(counters, limits=limits, now=NOW)
        else:
            ended = concluded(ENDINGS[how], counters=counters, limits=limits)
        if isinstance(ended, Parked):
            return
        counters = admitted(ended.counters, ended.keep_session)
    pytest.fail(f"still running after {most} turns")


@pytest.mark.proves("TW-02", "FS-17")
@given(st.sampled_from(list(ENDINGS)), st.sampled_from(STATES), st.integers(1, 9))
def test_a_card_that_is_not_active_is_never_handed_off(how, state, attempt):
    """Only a card that still stands where agents work is moved, continued or held because of what an agent said."""
    ended = concluded(ENDINGS[how], state, counters=Counters(attempt))
    if not CONTRACT.is_active(state) and ENDINGS[how].stop not in {StopReason.DEPLOY, StopReason.READ_FAILED}:
        assert isinstance(ended, End)


@given(st.sampled_from(list(ENDINGS)), st.sampled_from([*STATES, None]), st.integers(1, 9))
def test_every_end_closes_its_turn_in_one_final_status(how, state, attempt):
    """No conclusion leaves the turn open, and a task's status, where one is given, is final."""
    ended = concluded(ENDINGS[how], state, counters=Counters(attempt))
    if not isinstance(ended, Handoff):
        assert ended.turn not in turn.OPEN
    final = {End: lambda: ended.status, Parked: lambda: ended.task}.get(type(ended), lambda: None)()
    assert final in {TaskStatus.SUCCEEDED, TaskStatus.CANCELLED, None}
