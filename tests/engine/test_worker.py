"""A worker's slots: counted by us, without waiting, and never all of its threads."""

import threading
import time

import pytest

from orchestrator.engine.worker import SPARE_THREADS, Lane, Slots, turn_slots


@pytest.mark.proves("H19", "H32")
@pytest.mark.parametrize("threads", range(1, 40))
def test_turns_never_take_the_last_thread_of_a_shared_worker(threads: int) -> None:
    """A worker that also ticks keeps threads for it, however small; only one thread alone has to serve both."""
    taken = turn_slots(10, threads=threads, shared=True)
    assert 1 <= taken <= 10
    assert threads - taken >= min(SPARE_THREADS, threads - 1)


def test_a_worker_of_turns_alone_takes_what_was_wanted() -> None:
    """Nothing has to be spared where nothing else is served, and more threads than wanted turns are left idle."""
    assert turn_slots(10, threads=14, shared=False) == 10
    assert turn_slots(10, threads=6, shared=False) == 6


@pytest.mark.proves("H19")
def test_who_finds_no_slot_goes_away_at_once() -> None:
    """Slots do not queue: the message is dropped, and the row waits for the tick."""
    slots = Slots(1)
    with slots.slot() as first, slots.slot() as second:
        assert (first, second) == (True, False)
    with slots.slot() as again:
        assert again


def test_closed_slots_let_the_running_finish_and_nobody_in() -> None:
    """A worker that is being stopped takes no turn, and still counts what it has."""
    slots = Slots(2)
    with slots.slot():
        slots.close()
        with slots.slot() as late:
            assert not late
        assert slots.busy == 1
    assert slots.busy == 0


def test_as_many_threads_as_slots_get_one() -> None:
    """Ten threads at once for three slots: three get one."""
    slots, got, hold = Slots(3), [], threading.Event()
    everyone = threading.Barrier(11)

    def reach() -> None:
        with slots.slot() as free:
            got.append(free)
            everyone.wait()
            hold.wait()

    threads = [threading.Thread(target=reach) for _ in range(10)]
    for thread in threads:
        thread.start()
    everyone.wait()
    hold.set()
    for thread in threads:
        thread.join()
    assert sorted(got) == [False] * 7 + [True] * 3


def test_a_lane_lets_in_so_many_and_the_next_when_one_has_left() -> None:
    """A third turn waits outside until one of the two that make ready is done."""
    lane, inside, leave = Lane(2, patience_seconds=60.0), threading.Semaphore(0), threading.Semaphore(0)

    def pass_through() -> None:
        with lane.entered():
            inside.release()
            leave.acquire()

    threads = [threading.Thread(target=pass_through) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert inside.acquire(timeout=10)
    assert inside.acquire(timeout=10)
    assert not inside.acquire(timeout=0.1)
    leave.release()
    assert inside.acquire(timeout=10)
    leave.release(2)
    for thread in threads:
        thread.join(timeout=10)
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.proves("H19")
def test_a_turn_that_is_slow_to_begin_stops_no_other() -> None:
    """While one hangs in its checkout, the next goes in after its patience; only who had the place gives it back."""
    lane = Lane(1, patience_seconds=0.01)
    with lane.entered():
        for _ in range(3):
            with lane.entered():
                pass
    with lane.entered():
        pass


def test_while_others_come_nobody_goes_in_and_not_for_ever() -> None:
    """Of a burst all are taken before the first makes ready; one without an end keeps nobody beyond its patience."""
    lane = Lane(1, patience_seconds=0.05, calm_seconds=60.0)
    with lane.entered():  # nobody has come
        pass
    lane.notice()
    began = time.monotonic()
    with lane.entered():
        assert time.monotonic() - began >= 0.05
