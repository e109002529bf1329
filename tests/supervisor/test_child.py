"""A program's end: whatever it started, nothing of it is left; and its exit code is its own."""

import random

import pytest

from orchestrator.ports.supervisor import EndedBy, Exit
from tests.supervisor.station import marked, running
from tests.waiting import until

# Each is a way to get out of the reach of a signal to the group. `{sleep}` is a command that this test alone runs.
HIDING = {
    "a plain child": "{sleep} &",
    "a session of its own": "setsid {sleep} &",
    "deaf to what can be ignored": "(trap '' INT TERM HUP; while :; do {sleep}; done) &",
    "an orphan in a session of its own": "(setsid sh -c '{sleep} & {sleep}' &) ;",
    "without the marker": "env -i {sleep} &",
    "without the marker in a session of its own": "env -i setsid {sleep} &",
}


@pytest.fixture
def sleep():
    """A command that nobody else on this machine runs."""
    return f"sleep 300.{random.randrange(10**9)}"


@pytest.mark.proves("RT-13", "HK-06", "FS-16", "FS-64", "H5")
@pytest.mark.parametrize("hiding", HIDING.values(), ids=HIDING.keys())
def test_a_cancel_leaves_no_process(shared, sleep, hiding):
    """After a stop nothing is left: no child, no session of its own, nothing that is deaf to signals."""
    program = shared.run(f"{hiding.format(sleep=sleep)} wait; {sleep}")
    until(lambda: running(sleep))
    program.stop()
    assert program.wait().ended_by is EndedBy.CANCELLED
    assert running(sleep) == set()


def test_a_program_that_ends_is_followed_by_what_it_left(shared, sleep):
    """A program is gone when everything that it started is; its own exit code is what is reported."""
    ref = shared.adopt()
    program = shared.client.spawn(shared.order(ref, f"setsid {sleep} & exit 3"))
    assert program.wait() == Exit(3, None, EndedBy.EXITED)
    assert (running(sleep), marked(ref)) == (set(), {})


def test_what_escaped_its_program_dies_when_none_runs(shared, sleep):
    """A process without marker, session and parent belongs to no program; it is killed when none is under way."""
    shared.run(f"(env -i setsid {sleep} &) ; exit 0").wait()
    until(lambda: not running(sleep))


def test_an_agent_may_say_goodbye_at_the_interrupt(shared):
    """The first signal is SIGINT, so that an agent program can write down its session."""
    program = shared.run("trap 'echo goodbye; exit 0' INT; echo ready; while :; do sleep 0.05; done")
    until(lambda: "ready" in shared.said())
    program.stop()
    assert program.wait() == Exit(0, None, EndedBy.CANCELLED)
    assert "goodbye" in shared.said()


@pytest.mark.proves("H5", "RT-17")
def test_the_exit_code_of_one_is_not_taken_by_another(shared):
    """Orphans that the supervisor inherits are reaped by their own pids: an exit of 7 stays 7 among them."""
    orphans = "for n in 1 2 3 4 5; do (setsid sh -c 'sleep 0.01' &) ; done"
    noise = shared.run(f"while :; do {orphans}; sleep 0.02; done")
    codes = [shared.run("sleep 0.1; exit 7").wait().code for _ in range(5)]
    noise.stop()
    noise.wait()
    assert codes == [7] * 5


@pytest.mark.proves("RT-12")
def test_a_silent_program_is_stalled(shared):
    """A program that says nothing for its stall time is ended, and only then."""
    program = shared.run("for n in 1 2 3 4 5 6; do echo; sleep 0.2; done; echo last; sleep 300", stall_seconds=0.8)
    assert program.wait().ended_by is EndedBy.STALLED
    assert "last" in shared.said()


@pytest.mark.proves("RT-14")
def test_a_talking_program_times_out(shared):
    """The time-out counts from the start, however much the program says."""
    program = shared.run("while :; do echo; sleep 0.05; done", timeout_seconds=0.5, stall_seconds=300)
    assert program.wait().ended_by is EndedBy.TIMED_OUT


def test_a_program_that_a_signal_ended_has_no_exit_code(shared):
    """A signal is reported as a signal, never as a code."""
    assert shared.run("kill -9 $$").wait() == Exit(None, 9, EndedBy.EXITED)


def test_a_stopping_worker_ends_every_program_as_a_deploy(here):
    """`stop_all` ends what runs, and what is started after it, with the reason that counts against nobody."""
    early = here.run("sleep 300")
    here.client.stop_all()
    late = here.run("sleep 300")
    assert {early.wait().ended_by, late.wait().ended_by} == {EndedBy.SHUTDOWN}


@pytest.mark.proves("FS-16")
def test_a_released_turn_owns_no_process(shared):
    """What still runs when its turn is over is ended."""
    ref = shared.adopt()
    program = shared.client.spawn(shared.order(ref, "sleep 300"))
    shared.client.release(ref.turn_id)
    program.wait()
    assert marked(ref) == {}
