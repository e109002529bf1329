"""A colleague runs an installation of their own on our board: no card ever has agents of both for long (H30)."""

from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from orchestrator.domain.hold import HoldKind
from orchestrator.domain.serving import SERVED_SECONDS, Mark
from orchestrator.domain.turn import Outcome
from orchestrator.engine import relay
from orchestrator.trackers.memory import MemoryTracker
from tests.stage import opened_stage

pytestmark = pytest.mark.proves("H30")

HOUR = 3600.0


@pytest.fixture(scope="module")
def stages(embedded, template, tmp_path_factory):
    """Two databases, each of an installation of its own: aaaa and zzzz."""
    with ExitStack() as stack:
        folders = ((name, tmp_path_factory.mktemp(name)) for name in ("aaaa", "zzzz"))
        yield [
            stack.enter_context(opened_stage(embedded, template, folder, installation=name)) for name, folder in folders
        ]


@pytest.fixture(params=["aaaa first", "zzzz first"])
def pair(request, stages):
    """Two worlds at one board; who is first by name must not matter to who works."""
    one, two = (stage.world() for stage in stages)
    two.board = one.board
    two.hire()
    return (one, two) if request.param == "aaaa first" else (two, one)


def started(*worlds):
    """How many agents of each began."""
    return [sum(run.event == "start" for run in world.agents.log) for world in worlds]


def pass_together(pair, seconds):
    """Time passes for both; leases are renewed, write-backs posted, and the second looks at the board."""
    for world in pair:
        world.jump(seconds)
        world.process.supervisor.pulse()
        world.relay()


def test_a_card_that_another_installation_works_on_is_left_alone_and_says_so(pair):
    """Held with the other's name and the way out, while the other's turn runs; and the other never notices."""
    ours, theirs = pair
    ours.add("A-1")
    seen = []

    def meanwhile(_turn):
        ours.relay()
        theirs.tick()
        seen.append(theirs.reason("A-1"))
        theirs.settle_down()
        seen.append(theirs.reason("A-1"))

    ours.agents.during = meanwhile
    ours.run_until_quiet()
    assert seen == ["served_elsewhere", "held_item"]
    assert started(ours, theirs) == [1, 0]
    kind, reason = theirs.rows("select kind, reason from hold")[0]
    assert (kind, ours.store.installation in reason) == ("served_elsewhere", True)
    assert (ours.state("A-1"), ours.one("select count(*) from hold")) == ("In Review", 0)


def test_an_hour_of_work_keeps_the_mark_fresh_with_a_dozen_writes(pair):
    """The other looks again and again and never begins; the card is written on three times in a mark's life."""
    ours, theirs = pair
    ours.add("A-1")
    marks = set()

    def an_hour(_turn):
        ours.relay()
        for _ in range(int(HOUR / 20)):
            pass_together(pair, 20)
            marks.add(ours.board.said("A-1")[0].body)
            if theirs.clock.boot_seconds() % 60 < 20:
                theirs.settle_down()

    ours.agents.during = an_hour
    ours.tick()
    ours.deliver()
    assert started(ours, theirs) == [1, 0]
    assert len(marks) <= 2 + 3 * HOUR / SERVED_SECONDS


@pytest.mark.parametrize("hours", [-5, 5])
def test_clocks_that_are_hours_apart_change_nothing(pair, hours):
    """A mark counts by when the reader saw it change, not by what a stranger's clock says."""
    ours, theirs = pair
    ours.add("A-1")
    (theirs if hours > 0 else ours).jump(5 * HOUR)

    def meanwhile(_turn):
        ours.relay()
        theirs.settle_down()

    ours.agents.during = meanwhile
    ours.settle_down()
    assert started(ours, theirs) == [1, 0]


def test_the_mark_of_an_installation_that_died_holds_the_card_once_and_not_for_long(pair):
    """Nobody renews it: it is old after its time, the hold goes by itself, and the card is worked on."""
    ours, theirs = pair
    ours.add("A-1")
    ours.agents.during = lambda _turn: (ours.relay(), theirs.settle_down(), ours.queue.flush())
    ours.tick()
    ours.deliver()  # and its conclusion's write-back is never posted: the machine is gone
    theirs.settle_down()
    assert started(ours, theirs) == [1, 0]
    theirs.jump(SERVED_SECONDS)
    theirs.run_until_quiet()
    assert (started(ours, theirs), theirs.state("A-1")) == ([1, 1], "In Review")


def test_a_mark_of_days_ago_holds_nothing(pair):
    """Who finds the board of an installation that is long gone begins at once."""
    ours, theirs = pair
    ours.add("A-1")
    ours.agents.during = lambda _turn: ours.relay()
    ours.tick()
    ours.deliver()
    theirs.jump(48 * HOUR)
    theirs.settle_down()
    assert started(ours, theirs) == [1, 1]


def test_a_card_that_waits_for_its_next_attempt_is_left_alone_too(pair):
    """Between two turns the business is open, and the status comment goes on saying whose it is."""
    ours, theirs = pair
    ours.add("A-1")
    ours.script("A-1", Outcome.FAILED, Outcome.DONE)
    ours.settle_down()
    theirs.settle_down()
    ours.run_until_quiet()
    assert (started(ours, theirs), ours.state("A-1")) == ([2, 0], "In Review")


def test_a_card_that_is_done_is_nobodys(pair):
    """Dragged back by a person after the hand-off, it bears no mark: whoever looks first may take it."""
    ours, theirs = pair
    ours.add("A-1")
    ours.run_until_quiet()
    ours.drag("A-1", "Rework")
    theirs.run_until_quiet()
    assert started(ours, theirs) == [1, 1]


def test_a_person_who_releases_the_card_is_believed(pair):
    """The mark still stands there, and is renewed; the person knows that nobody works there any more."""
    ours, theirs = pair
    ours.add("A-1")
    ours.agents.during = lambda _turn: (ours.relay(), theirs.settle_down())
    ours.tick()
    ours.deliver()
    assert theirs.command("A-1", "release") == [HoldKind.SERVED_ELSEWHERE]
    theirs.run_until_quiet()
    assert (started(ours, theirs), theirs.state("A-1")) == ([1, 1], "In Review")


def test_no_move_of_another_installation_ends_a_hold_of_ours(pair):
    """It takes the card that waits for a person here, moves it, and gives it up as well: nobody has looked yet."""
    ours, theirs = pair
    ours.add("A-1")
    ours.script("A-1", Outcome.BLOCKED)
    ours.tick()
    ours.deliver()
    theirs.script("A-1", *[Outcome.FAILED] * 3)
    theirs.agents.during = lambda _turn: (theirs.relay(), ours.settle_down())
    theirs.run_until_quiet()
    assert ours.state("A-1") == "In Progress"
    ours.run_until_quiet()
    standing = "select kind from hold where lifted_at is null"
    assert (ours.rows(standing), theirs.rows(standing)) == ([("blocked",)], [("dead_letter",)])
    assert started(ours, theirs) == [1, 3]
    ours.drag("A-1", "Rework")  # a person's hand ends both
    theirs.run_until_quiet()
    ours.run_until_quiet()
    assert (ours.rows(standing), theirs.rows(standing)) == ([], [])


def test_what_an_agent_says_is_no_mark(pair):
    """A summary with the very line in it stands below the second line of the comment."""
    ours, theirs = pair
    ours.add("A-1")
    forged = Mark("x", datetime(2026, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)).line()
    ours.script("A-1", Outcome.DONE, summary=f"{forged}\n{forged}")
    ours.run_until_quiet()
    ours.drag("A-1", "Rework")
    theirs.run_until_quiet()
    assert started(ours, theirs) == [1, 1]


class Between:
    """A tracker at which something happens right after the first look at a card's comments."""

    def __init__(self, tracker, act):
        self.tracker, self.act = tracker, act

    def __getattr__(self, name):
        return getattr(self.tracker, name)

    def comments(self, item_id):
        """What stands there before it happens."""
        found, act, self.act = self.tracker.comments(item_id), self.act, lambda: None
        act()
        return found


def begin_together(pair, inside):
    """Both open a turn before either has told the card; `inside` happens while both agents work."""
    ours, theirs = pair
    ours.add("A-1")

    def their_agent(_turn):
        inside()
        theirs.process.supervisor.pulse()

    def our_agent(_turn):
        ours.jump(5)
        theirs.jump(10)
        theirs.agents.during = their_agent
        theirs.tick()
        theirs.deliver()
        ours.process.supervisor.pulse()

    ours.agents.during = our_agent
    ours.tick()
    ours.deliver()


def ends(world):
    """How its agents ended."""
    return [run.event for run in world.agents.log if run.event != "start"]


def test_of_two_that_begin_in_one_tick_the_one_that_tells_the_card_later_stops(pair):
    """Its agent is ended as soon as its write-back finds the other's mark, and the card says why it is held there."""
    ours, theirs = pair
    begin_together(pair, lambda: (ours.relay(), theirs.relay()))
    assert (ends(ours), ends(theirs)) == (["done"], ["stopped:served_elsewhere"])
    assert theirs.rows("select stop_reason, status from task") == [("served_elsewhere", "cancelled")]
    theirs.relay()
    assert any("another installation works on the card" in said.body for said in ours.board.said("A-1"))
    theirs.settle_down()
    assert theirs.reason("A-1") == "held_item"


def relay_with(world, act):
    """The world's relay, with `act` happening between its first look at the comments and what it writes then."""
    tracker = Between(MemoryTracker(world.board), act)
    relay.drain(replace(world.process.ports, tracker=lambda _workflow: tracker))


def test_of_two_that_write_at_one_moment_the_later_turn_stops(pair):
    """Neither saw the other before it wrote; who reads its own mark back finds the other's, which is older."""
    ours, theirs = pair
    begin_together(pair, lambda: relay_with(theirs, ours.relay))
    assert (ends(ours), ends(theirs)) == (["done"], ["stopped:served_elsewhere"])


def test_one_that_could_see_nobody_finds_the_other_within_a_minute(pair):
    """The first to begin was the last to write, and stays: the other finds its mark at the next look, and stops."""
    ours, theirs = pair

    def a_minute_later():
        relay_with(ours, theirs.relay)
        pass_together(pair, 20)
        assert ends(ours) == ends(theirs) == []
        for _ in range(3):
            pass_together(pair, 20)

    begin_together(pair, a_minute_later)
    assert (ends(ours), ends(theirs)) == (["done"], ["stopped:served_elsewhere"])
