"""Calls that threads make at the same time share one exchange, and nobody pays for another's mistake."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestrator.ports.store import StoreUnavailable
from orchestrator.store.combining import Combiner
from orchestrator.store.database import RowLocked
from tests.waiting import until


class Desk:
    """Doubles numbers, and remembers which of them were asked together; shut, it lets nobody out."""

    def __init__(self):
        self.alone, self.together = [], []
        self.opened, self.stop, self.left_out = threading.Event(), None, ()
        self.combiner = Combiner(self.ask, self.ask_together, key=lambda number: number % 100)
        self.threads = ThreadPoolExecutor(20)
        self.opened.set()

    def ask(self, number):
        """One."""
        self.alone.append(number)
        assert self.opened.wait(20)
        if number < 0:
            raise ValueError(number)
        return 2 * number

    def ask_together(self, numbers):
        """Several."""
        self.together.append(tuple(numbers))
        if self.stop is not None:
            raise self.stop
        if min(numbers) < 0:
            raise ValueError(numbers)
        return [None if number in self.left_out else 2 * number for number in numbers]

    def later(self, number):
        """A call on a thread of its own."""
        return self.threads.submit(self.combiner.ask, number)

    def line_up(self, *numbers):
        """These wait while 1 is being asked; then the desk lets everybody go on. Returns what became of them."""
        self.opened.clear()
        first = self.later(1)
        until(lambda: self.alone == [1])
        self.combiner._since += 1_000.0  # however long this machine takes: what is slow has a test of its own
        lined = []
        for number in numbers:
            lined.append(self.later(number))
            until(lambda: len(self.combiner._waiting) == len(lined))
        self.opened.set()
        assert first.result() == 2
        return lined


@pytest.fixture
def desk():
    """Open."""
    desk = Desk()
    yield desk
    desk.opened.set()
    desk.threads.shutdown()


def test_who_calls_alone_asks_alone(desk):
    """At once, and with the statement for one."""
    assert [desk.combiner.ask(number) for number in (1, 2, 3)] == [2, 4, 6]
    assert (desk.alone, desk.together) == ([1, 2, 3], [])


def test_those_who_call_meanwhile_go_together(desk):
    """One exchange for all of them, and each has its own answer."""
    assert [call.result() for call in desk.line_up(2, 3, 4, 5)] == [4, 6, 8, 10]
    assert (desk.alone, desk.together) == ([1], [(2, 3, 4, 5)])


def test_two_calls_of_one_turn_never_go_together(desk):
    """The second one goes after the first."""
    assert [call.result() for call in desk.line_up(2, 102, 3)] == [4, 204, 6]
    assert desk.together == [(2, 3)]
    assert desk.alone == [1, 102]


def test_who_was_left_out_asks_alone(desk):
    """A row that somebody holds keeps its own turn waiting and no other."""
    desk.left_out = (3,)
    assert [call.result() for call in desk.line_up(2, 3, 4)] == [4, 6, 8]
    assert desk.alone == [1, 3]


@pytest.mark.parametrize("locked", [False, True])
def test_what_was_refused_for_all_is_asked_by_each(desk, locked):
    """Only the one whose fault it was hears of it; a locked row is nobody's fault."""
    desk.stop = RowLocked("held") if locked else None
    fine, wrong = desk.line_up(2, 3 if locked else -3)
    assert fine.result() == 4
    if locked:
        assert wrong.result() == 6
    else:
        with pytest.raises(ValueError, match="-3"):
            wrong.result()


@pytest.mark.proves("S1")
def test_an_unknown_outcome_is_unknown_to_everybody(desk):
    """Nobody asks again as if nothing had been written."""
    desk.stop = StoreUnavailable("gone")
    for call in desk.line_up(2, 3):
        with pytest.raises(StoreUnavailable, match="gone"):
            call.result()
    assert desk.alone == [1]


def test_an_interrupted_exchange_is_unknown_to_the_others_and_the_line_goes_on(desk):
    """The interruption is the asker's own; whoever comes next is served."""
    desk.stop = KeyboardInterrupt()
    asker, other = desk.line_up(2, 3)
    with pytest.raises(KeyboardInterrupt):
        asker.result()
    with pytest.raises(StoreUnavailable, match="interrupted"):
        other.result()
    assert desk.combiner.ask(4) == 8


@pytest.mark.proves("H25")
def test_nobody_waits_for_an_exchange_that_waits_for_a_lock(desk):
    """One that is under way for longer than it should keeps its own caller only."""
    desk.opened.clear()
    stuck = desk.later(1)
    until(lambda: desk.alone == [1])
    others = [desk.later(number) for number in (2, 3)]
    until(lambda: len(desk.alone) + sum(map(len, desk.together)) == 3)
    assert not stuck.done()
    desk.opened.set()
    assert [call.result() for call in (stuck, *others)] == [2, 4, 6]


def test_many_threads_have_their_own_answers(desk):
    """Two thousand calls of twenty threads, in whatever company."""
    assert list(desk.threads.map(desk.combiner.ask, range(2_000))) == [2 * number for number in range(2_000)]
    assert sorted([*desk.alone, *(number for each in desk.together for number in each)]) == list(range(2_000))
