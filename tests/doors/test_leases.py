"""The suite of the lease's door, on Redis and on its twin in memory: it saves work, and decides nothing."""

import socket
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID, uuid4

import pytest
import redis

from orchestrator.leases import RedisLeases
from orchestrator.ports.leases import Claim, LeasesUnavailable
from tests.memory.leases import MemoryLeases
from tests.waiting import until

KEY = "stationkeeper:lease:board:1"
LONG, SHORT = 60.0, 0.05


class Redis:
    """The leases of a real Redis, and a hand that may empty it."""

    def __init__(self, url):
        self.url = url
        self.leases = RedisLeases(url)

    def another(self):
        """The leases of another process."""
        return RedisLeases(self.url)

    def flush(self):
        """FLUSHALL."""
        with redis.Redis.from_url(self.url) as client:
            client.flushall()


class Memory:
    """The twin in memory; there all processes are one."""

    def __init__(self):
        self.leases = MemoryLeases()

    def another(self):
        """The same leases."""
        return self.leases

    def flush(self):
        """Forget everything."""
        self.leases.flush()


@pytest.fixture(params=[pytest.param("redis", marks=pytest.mark.services), "memory"])
def place(request):
    """Where leases are kept."""
    return Redis(request.getfixturevalue("redis_url")) if request.param == "redis" else Memory()


def is_free(place, fence):
    """Whether a turn with this fence gets the lease now; one that gets it gives it back."""
    probe = uuid4()
    taken = place.another().take([Claim(KEY, probe, fence)], seconds=LONG)[0]
    if taken:
        place.another().release(KEY, probe, fence)
    return taken


@pytest.mark.proves("CL-03")
def test_of_ten_at_once_one_gets_the_lease(place):
    """Check and write are one: ten turns that reach for an item at the same moment are one holder and nine who skip."""
    start = Barrier(10)

    def reach(leases):
        start.wait()
        return leases.take([Claim(KEY, uuid4(), 1)], seconds=LONG)[0]

    with ThreadPoolExecutor(10) as pool:
        taken = list(pool.map(reach, [place.another() for _ in range(10)]))
    assert taken.count(True) == 1


def test_a_holder_takes_its_own_lease_again(place):
    """A take whose answer was lost can be asked for again."""
    turn = uuid4()
    assert place.leases.take([Claim(KEY, turn, 1)], seconds=LONG)[0]
    assert place.leases.take([Claim(KEY, turn, 1)], seconds=LONG)[0]


def test_leases_that_are_taken_together_are_answered_one_by_one(place):
    """One of three is somebody's already: the other two are had."""
    mine, theirs = uuid4(), uuid4()
    place.another().take([Claim("b", theirs, 1)], seconds=LONG)
    assert list(place.leases.take([Claim(key, mine, 1) for key in "abc"], seconds=LONG)) == [True, False, True]


def test_only_a_later_fence_replaces_a_holder(place):
    """The holder of a smaller fence is over; one of the same fence or a larger one is not."""
    place.leases.take([Claim(KEY, uuid4(), 9)], seconds=LONG)
    assert not place.leases.take([Claim(KEY, uuid4(), 8)], seconds=LONG)[0]
    assert not place.leases.take([Claim(KEY, uuid4(), 9)], seconds=LONG)[0]
    assert place.leases.take([Claim(KEY, uuid4(), 10)], seconds=LONG)[0]
    assert not is_free(place, 10)


def test_a_lease_runs_out_by_itself(place):
    """Nobody has to be alive to give it back."""
    place.leases.take([Claim(KEY, uuid4(), 1)], seconds=SHORT)
    until(lambda: is_free(place, 1), what="a free lease")


@pytest.mark.proves("H2", "CL-06")
def test_a_renewal_sets_a_lost_lease_again(place):
    """After FLUSHALL the next renewal of the turn that runs puts its lease back; nobody had to stop for it."""
    turn = uuid4()
    place.leases.take([Claim(KEY, turn, 1)], seconds=LONG)
    place.flush()
    assert is_free(place, 1)
    place.leases.renew(KEY, turn, 1, seconds=LONG)
    assert not is_free(place, 1)


def test_a_renewal_extends_what_is_ours(place):
    """A short lease that is renewed for long does not run out after the short time."""
    turn, other = uuid4(), "stationkeeper:lease:board:2"
    place.leases.take([Claim(KEY, turn, 1)], seconds=SHORT)
    place.leases.renew(KEY, turn, 1, seconds=LONG)
    place.leases.take([Claim(other, turn, 1)], seconds=2 * SHORT)
    until(
        lambda: place.another().take([Claim(other, uuid4(), 1)], seconds=LONG)[0], what="the end of a later short lease"
    )
    assert not is_free(place, 1)


@pytest.mark.proves("H2")
def test_a_late_owner_takes_nothing_from_its_successor(place):
    """Renewal and release of a turn that is over leave the lease of the next one alone."""
    old, new = uuid4(), uuid4()
    place.leases.take([Claim(KEY, old, 1)], seconds=LONG)
    place.leases.take([Claim(KEY, new, 2)], seconds=LONG)
    place.leases.renew(KEY, old, 1, seconds=SHORT)
    place.leases.release(KEY, old, 1)
    assert not is_free(place, 2)
    place.leases.release(KEY, new, 2)
    assert is_free(place, 1)


def test_a_value_of_another_form_binds_nobody(redis_url):
    """What somebody set by hand, without an end, does not stop an item for ever."""
    with redis.Redis.from_url(redis_url) as client:
        client.set(KEY, "me")
    assert RedisLeases(redis_url).take([Claim(KEY, uuid4(), 1)], seconds=LONG)[0]


def test_the_value_is_turn_and_fence(redis_url):
    """Who looks into Redis sees whose lease it is, and that it ends."""
    turn = UUID(int=7)
    RedisLeases(redis_url).take([Claim(KEY, turn, 41)], seconds=LONG)[0]
    with redis.Redis.from_url(redis_url) as client:
        assert client.get(KEY) == f"{turn}:41".encode()
        assert 0 < client.pttl(KEY) <= LONG * 1000


@pytest.mark.proves("H25")
def test_a_silent_redis_is_unavailable_not_waited_for():
    """A server that takes the connection and never answers ends the call with an error of the door."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        leases = RedisLeases(f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
        with pytest.raises(LeasesUnavailable):
            leases.take([Claim(KEY, uuid4(), 1)], seconds=LONG)


def test_a_redis_that_is_gone_is_unavailable():
    """Every method says so in the door's own words."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"redis://127.0.0.1:{closed.getsockname()[1]}/0"
    leases, turn = RedisLeases(url), uuid4()
    with pytest.raises(LeasesUnavailable):
        leases.take([Claim(KEY, turn, 1)], seconds=LONG)
    with pytest.raises(LeasesUnavailable):
        leases.renew(KEY, turn, 1, seconds=LONG)
    with pytest.raises(LeasesUnavailable):
        leases.release(KEY, turn, 1)
