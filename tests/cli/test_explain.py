"""Why a card is where it is: one sentence for each thing that stands in its way, the strongest first."""

from dataclasses import replace

import pytest

from orchestrator.cli import explain
from orchestrator.store.views import Explanation
from tests.cli import views


def said(told: Explanation) -> str:
    """All sentences as one text."""
    return "\n".join(explain.sentences(told))


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (replace(views.EMPTY, turn=views.RUNNING), "turn 2 (fence 2) is running on ship, begun 90 s ago"),
        (replace(views.EMPTY, turn=replace(views.RUNNING, cancel="terminal_seen")), "being stopped: terminal_seen"),
        (replace(views.EMPTY, turn=views.QUEUED), "was queued 100 s ago, and no worker has it yet"),
        (replace(views.EMPTY, holds=(views.HOLD,)), "a hold stands on it (blocked, placed 60 s ago): needs a key"),
        (replace(views.EMPTY, retired=True), "its workflow is retired: nothing of it starts until its file is edited"),
        (replace(views.EMPTY, writes=(views.WRITE,)), "is pending, tried 2 times: no answer"),
        (
            replace(views.EMPTY, workspaces=(views.ROOM,)),
            "its workspace is /rooms/BACK-7 on ship on branch work/BACK-7",
        ),
        (
            replace(views.EMPTY, workspaces=(replace(views.ROOM, removed_at=views.before(90), kept="refs/kept"),)),
            "its workspace on ship was removed 90 s ago; unfinished work is kept: refs/kept",
        ),
        (replace(views.EMPTY, wait=views.WAIT), "left it out: blocked_by (BACK-6), since 10 min ago"),
        (replace(views.EMPTY, task=views.TASK), "its task is running, the next turn due at"),
        (replace(views.EMPTY, turns=(views.LOST,)), "turn 1 ended lost (lost_worker, known by lease) 3 min ago"),
    ],
)
def test_each_obstacle_has_its_sentence(told: Explanation, expected: str):
    """What stands in the way is named with its reason and its age."""
    assert expected in said(told)


def test_a_card_in_another_column_is_told_as_of_when_the_board_was_read_whole():
    """A listing may not have shown it; of any other reason the last tick knows."""
    away = replace(views.WAIT, reason="not_active", detail="Done")
    told = replace(views.EMPTY, wait=away, whole_at=views.before(300))
    assert "left it out: not_active (Done), since 10 min ago; its whole board was read last 5 min ago" in said(told)
    assert "whole board" not in said(replace(told, wait=views.WAIT)) + said(replace(told, whole_at=None))


def test_a_card_that_no_record_bears_is_told_board_by_board():
    """Since when it was not there; a board that nobody has read to its end proves nothing."""
    seen = replace(views.WORKFLOW, whole_at=views.before(300))
    unread = replace(views.WORKFLOW, name="other", scope="roundup:https://issues.example/")
    told = explain.unseen("FOO-1", (seen, unread), views.NOW).splitlines()
    assert told[0].startswith("FOO-1: no record of it")
    assert told[1].startswith("  demo: it was not on the board backlog:/board as of 2026-03-04")
    assert told[1].endswith("(5 min ago)")
    assert told[2].startswith("  other: its board roundup:https://issues.example/ was not read whole yet")
    assert "no workflow is in force" in explain.unseen("FOO-1", (), views.NOW)


def test_the_strongest_reason_comes_first():
    """A hold before the tick's reason, and the past last."""
    told = replace(views.EMPTY, holds=(views.HOLD,), wait=views.WAIT, turns=(views.LOST,))
    lines = said(told).splitlines()
    assert lines[0] == "BACK-7: last seen in 'In Progress', workflow demo"
    assert ["a hold" in lines[1], "left it out" in lines[2], "ended lost" in lines[3]] == [True, True, True]


def test_an_open_turn_needs_no_other_reason():
    """That it is running is why the tick left it out; saying so twice would read like two obstacles."""
    told = replace(views.EMPTY, turn=views.RUNNING, wait=replace(views.WAIT, reason="running", detail="running"))
    assert "left it out" not in said(told)


def test_an_item_that_never_had_a_turn_says_so():
    """A candidate that was only ever left out has a reason, and no row of its own."""
    told = replace(views.EMPTY, item=None, wait=views.WAIT)
    assert said(told).splitlines()[0] == "BACK-7: no turn of it was ever opened"
