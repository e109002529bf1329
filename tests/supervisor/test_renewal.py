"""The renewing thread: it asks for exactly what it is told to, and its word is never better than its question."""

import threading
from uuid import uuid4

import pytest

from orchestrator.ports.leases import LeasesUnavailable
from orchestrator.ports.store import Renewal, TurnRef
from orchestrator.supervisor.clock import boot_seconds
from orchestrator.supervisor.renewal import Doors, Renewer
from orchestrator.supervisor.trust import Config, Term
from tests.waiting import until


class SlowPostgres:
    """Answers when the test lets it, and knows when it was asked what."""

    def __init__(self):
        self.asked, self.may_answer, self.unknown = [], threading.Event(), set()

    def renew(self, refs, *, lease_seconds):
        """Ours, but for what was locked."""
        self.asked.append((boot_seconds(), [ref.turn_id for ref in refs], lease_seconds))
        self.may_answer.wait()
        return {ref.turn_id: Renewal(ours=True) for ref in refs if ref.turn_id not in self.unknown}

    def lost_among(self, refs):
        """Nothing is in doubt here."""
        raise AssertionError(refs)

    def lose(self, refs, death):
        """Nobody is lost here."""
        raise AssertionError(refs, death)

    def orphans(self, host, boot_id):  # noqa: ARG002 - the door's signature
        """Nobody is an orphan here."""
        return {}


class LostRedis:
    """Every lease is refused; counts the tries."""

    def __init__(self):
        self.tries = 0

    def renew(self, key, turn_id, fence, *, seconds):  # noqa: ARG002 - the door's signature
        """No answer."""
        self.tries += 1
        raise LeasesUnavailable("away")


@pytest.fixture
def postgres():
    """A Postgres that answers at once."""
    door = SlowPostgres()
    door.may_answer.set()
    return door


@pytest.fixture
def renewing(postgres):
    """Start to renew `terms`; ended with the test."""
    started = []

    def start(terms, *, redis=None, wake=lambda: None):
        config = Config("i", "h", renewal_seconds=0.02, sweep_seconds=0.02)
        renewer = Renewer(Doors(postgres, redis or LostRedis()), config, wake)
        renewer.watch(terms)
        renewer.start()
        started.append(renewer)
        return renewer

    yield start
    for renewer in started:
        renewer.stop()


def terms(count):
    """Turns to renew."""
    return [Term(TurnRef(uuid4(), 1, uuid4()), "key", 0, 100) for _ in range(count)]


def test_an_answer_counts_from_before_its_question(renewing, postgres):
    """`sent_at` is read before the renewal is sent: however slow the answer, it promises nothing more."""
    postgres.may_answer.clear()
    renewer = renewing(terms(1))
    asked_at = until(lambda: postgres.asked)[0][0]
    postgres.may_answer.set()
    assert renewer.answers.get().sent_at <= asked_at


@pytest.mark.proves("H5")
def test_all_turns_are_renewed_in_one_statement(renewing, postgres):
    """However many turns: one question, in the order of their ids."""
    many = terms(40)
    renewing(many)
    asked = until(lambda: postgres.asked)[0]
    assert asked[1] == sorted(term.ref.turn_id for term in many)


def test_what_is_watched_no_more_is_asked_no_more(renewing, postgres):
    """A turn that was released is in no question that begins later."""
    first, second = terms(2)
    renewer = renewing([first, second])
    until(lambda: postgres.asked)
    renewer.watch([second])
    under_way = len(postgres.asked) + 1
    until(lambda: len(postgres.asked) > under_way)
    assert [turns for _, turns, _ in postgres.asked[under_way:] if turns != [second.ref.turn_id]] == []


@pytest.mark.proves("H2")
def test_a_lost_redis_is_tried_once_a_round(renewing, postgres):
    """When Redis does not answer for one item, the others are not tried: the next renewal must not wait for it."""
    redis = LostRedis()
    renewer = renewing(terms(30), redis=redis)
    until(lambda: renewer.answers.qsize() > 3)
    assert redis.tries <= len(postgres.asked)


def test_the_lease_of_an_unknown_turn_is_left_alone(renewing, postgres):
    """Redis is told only of turns that this renewal confirmed."""
    redis, unknown = LostRedis(), terms(1)
    postgres.unknown = {unknown[0].ref.turn_id}
    renewer = renewing(unknown, redis=redis)
    until(lambda: renewer.answers.qsize() > 2)
    assert redis.tries == 0
