"""A limit that one card meets is the next one's too: the workflow rests, and a single card finds out when it ends."""

from datetime import timedelta

import pytest

from orchestrator.domain.turn import Outcome

CARDS = [f"A-{number}" for number in range(1, 6)]


def starts(world):
    """How many agents have started."""
    return sum(run.event == "start" for run in world.agents.log)


def one_round(world):
    """A tick, its turns, its write-backs."""
    world.tick()
    world.deliver()
    world.relay()


@pytest.fixture
def limited(stage):
    """The first card's agent was told by its provider to come again in an hour; four more cards wait."""
    world = stage.world(slots=1)
    world.add("A-1")
    world.script("A-1", Outcome.FAILED, retry_after_seconds=3600, reason="quota")
    one_round(world)
    for card in CARDS[1:]:
        world.add(card)
    return world


@pytest.mark.proves("RT-08", "RT-09", "FS-40", "FS-41")
def test_no_card_starts_into_a_limit_that_is_known(limited):
    """The gate reads what the provider said: an hour without a wasted run, and the reason says until when."""
    for _ in range(10):
        limited.jump(300)
        one_round(limited)
    assert (starts(limited), limited.reason("A-2")) == (1, "quota")
    assert "a provider asked to wait; until" in limited.one("select detail from wait where item_id = 'A-2'")


@pytest.mark.proves("RT-11", "FS-41", "RT-05")
def test_a_wait_that_a_provider_asked_for_is_no_failure(limited):
    """It spends no attempt, is due when the provider said, and no person is called."""
    assert limited.rows("select stop_reason, attempt from turn") == [("quota", 1)]
    waited = limited.one("select task.due_at - turn.ended_at from task join turn on turn.task_id = task.id")
    assert waited / timedelta(seconds=1) == pytest.approx(3600, abs=2)
    attempts = []
    limited.agents.during = lambda turn: attempts.append((turn.issue_id, turn.attempt))
    limited.jump(3600)
    limited.run_until_quiet()
    assert dict(attempts)["A-1"] == 1
    assert limited.rows("select count(*) from hold") == [(0,)]


@pytest.mark.proves("RT-16", "FS-40")
def test_one_card_is_tried_first_and_the_others_follow(stage):
    """Five slots are free, and one agent finds out; its clean end lets the rest go."""
    world = stage.world(slots=5)
    world.add("A-1")
    world.script("A-1", Outcome.FAILED, retry_after_seconds=600)
    one_round(world)
    for card in CARDS[1:]:
        world.add(card)
    world.jump(600)
    world.tick()
    assert len(world.queue.waiting) == 1
    assert {world.reason(card) for card in CARDS} - {None} == {"quota"}
    world.deliver()
    world.run_until_quiet()
    assert {world.state(card) for card in CARDS} == {"In Review"}


@pytest.mark.proves("RT-10", "FS-41")
def test_a_provider_that_never_lets_anybody_in_ends_with_a_person(world):
    """The second wait in a row counts as an attempt: at the cap the card is a dead letter."""
    world.add("A-1")
    world.script("A-1", *[Outcome.FAILED] * 9, retry_after_seconds=60)
    for _ in range(12):
        one_round(world)
        world.jump(1000)
    assert world.rows("select kind from hold where lifted_at is null") == [("dead_letter",)]
    assert starts(world) == 4


@pytest.mark.proves("RT-16")
def test_three_cards_that_fail_alike_make_the_workflow_rest(stage):
    """The fourth does not start; the one that is tried after a minute fails too, and the next rest is longer."""
    world = stage.world(slots=1)
    for card in CARDS:
        world.add(card)
        world.script(card, *[Outcome.FAILED] * 2)
    for _ in range(6):
        one_round(world)
    assert (starts(world), world.reason("A-4")) == (3, "quota")
    assert "3 cards in a row failed alike (agent_failed)" in world.one("select rest_why from workflow")
    world.jump(60)
    for _ in range(3):
        one_round(world)
    assert starts(world) == 4
    rest = world.one("select rest_until - stationkeeper_clock() from workflow") / timedelta(seconds=1)
    assert rest == pytest.approx(120, abs=5)
    world.run_until_quiet()
    assert {world.state(card) for card in CARDS} == {"In Review"}


@pytest.mark.proves("RT-16")
def test_failures_with_a_success_between_them_are_the_cards_own(stage):
    """Two bad cards, a good one, two bad ones: nothing rests."""
    world = stage.world(slots=1)
    for card in CARDS:
        world.add(card)
        if card != "A-3":
            world.script(card, Outcome.FAILED)
    for _ in range(5):
        one_round(world)
    assert (starts(world), world.one("select rest_until from workflow")) == (5, None)


def test_a_person_ends_a_rest(limited):
    """The quota was raised: nobody has to wait for the hour."""
    assert limited.command("world", "wake")
    assert not limited.command("world", "wake")
    one_round(limited)
    assert starts(limited) == 2


@pytest.mark.proves("RT-09", "FS-38")
def test_a_short_wait_is_a_failure_with_its_backoff(world):
    """Nobody calls five seconds a quota: it is an attempt, and the formula holds."""
    world.add("A-1")
    world.script("A-1", Outcome.FAILED, retry_after_seconds=5)
    one_round(world)
    waited = world.one("select task.due_at - turn.ended_at from task join turn on turn.task_id = task.id")
    assert waited / timedelta(seconds=1) == pytest.approx(10, abs=1)
    assert world.rows("select stop_reason from turn") == [("agent_failed",)]
