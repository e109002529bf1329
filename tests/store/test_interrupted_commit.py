"""An exception out of a commit says nothing about it: it may have been made, or not. Whoever asks again is told.

A signal raises at random moments of a call, spread over the time that such a call takes on this machine. What the
database has then is looked at from another connection, before anybody asks again: both answers have to be among them,
or the signal was never inside a commit.
"""

import random
import signal
import statistics
import time
from contextlib import contextmanager

import pytest

from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import StoreUnavailable
from tests.store.flow_scene import FlowScene

# As many interruptions as it takes to see both answers, and no more than this many tries.
MOST_TRIES, ENOUGH = 1_000, 4
# A call after an interruption has a new connection, which knows no prepared statement: it takes some times as long.
LONGEST = 4.0


class Interrupted(BaseException):
    """What a signal's handler raises, at any bytecode."""


@pytest.fixture
def flows(scene):
    """A flow in force."""
    return FlowScene(scene)


@contextmanager
def interrupting(seconds):
    """A signal that raises after so long, wherever the block is by then; it may come too late."""

    def interrupt(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)


def is_interrupted(call, seconds):
    """Whether a call ended with somebody else's exception."""
    try:
        with interrupting(seconds):
            call()
    except (Interrupted, StoreUnavailable):
        return True
    return False


def duration(calls):
    """How long such a call takes here, in the middle; it is made for that."""

    def timed(call):
        began = time.perf_counter()
        call()
        return time.perf_counter() - began

    return statistics.median(timed(call) for call in calls)


def interrupt_until_both(prepare, call, is_made):
    """Interrupt one call after another until each answer has been found often enough; returns how often each was.

    `prepare(n)` makes the nth case, `call(n)` is what is interrupted, `is_made(n)` looks from outside. What follows an
    interruption is the caller's: this is a generator of the cases that were interrupted.
    """
    chance, found = random.Random(7), {True: 0, False: 0}
    for number in range(20):
        prepare(number)
    typical = duration([lambda n=number: call(n) for number in range(20)])
    for number in range(20, MOST_TRIES):
        prepare(number)
        if is_interrupted(lambda n=number: call(n), typical * chance.uniform(0.02, LONGEST)):
            made = is_made(number)
            found[made] += 1
            yield number, made
        if min(found.values()) >= ENOUGH:
            break
    assert min(found.values()) >= ENOUGH, f"never seen inside a commit: {found}"


@pytest.mark.proves("S1")
def test_an_interrupted_checkpoint_is_asked_again_and_told_the_truth(flows):
    """Made or not, the second asking makes it once and says that it counts."""
    flows.run()

    def is_made(number):
        return flows.scene.one("select count(*) from step where name = %s", f"step_{number}") == 1

    def step(number):
        return flows.step(number + 1, f"step_{number}")

    for number, _ in interrupt_until_both(lambda _: None, step, is_made):
        again = step(number)
        assert (again.ours, again.kept) == (True, True)
        assert is_made(number)


@pytest.mark.proves("S1", "DE-08")
def test_an_interrupted_intent_is_asked_again_and_sent_once(flows):
    """The ledger is never wrong about whether it was intended."""
    flows.run()

    def is_made(number):
        return flows.scene.one("select count(*) from effect where key = %s", f"key-{number}") == 1

    def intend(number):
        return flows.intend(f"key-{number}", f"node_{number}")

    for number, _ in interrupt_until_both(lambda _: None, intend, is_made):
        assert intend(number) is True
        assert flows.scene.one("select sends from effect where key = %s", f"key-{number}") == 1


@pytest.mark.proves("S1", "DE-04")
def test_an_interrupted_transaction_is_made_whole_or_not_at_all(flows):
    """A cancel is several statements and one `commit()`: after a signal, all of it is there or none."""
    tasks = {}

    def prepare(number):
        tasks[number] = flows.start()

    def cancel(number):
        return flows.flows.cancel(tasks[number], StopReason.CANCELLED)

    def is_made(number):
        status = flows.scene.one("select status from task where id = %s", tasks[number])
        told = flows.scene.one(
            "select count(*) from history where detail->>'task' = %s and kind = 'task_ended'", str(tasks[number])
        )
        assert (status, told) in {("cancelled", 1), ("accepted", 0)}
        return status == "cancelled"

    for number, made in interrupt_until_both(prepare, cancel, is_made):
        assert cancel(number) is (None if made else TaskStatus.CANCELLED)
        assert is_made(number)
