"""A retry is a column: the newest due time counts, and what is due is read by id and goes where its card says."""

import pytest

from orchestrator.domain.turn import Outcome


@pytest.fixture
def failed(stage):
    """A card whose agent failed; it is due again in ten seconds."""
    world = stage.world(slots=1)
    world.add("A-1")
    world.script("A-1", Outcome.FAILED)
    world.tick()
    world.deliver()
    world.relay()
    return world


def starts(world):
    """How many agents have started."""
    return sum(run.event == "start" for run in world.agents.log)


def due(world):
    """What is due, served without a listing."""
    world.tick(full=False)
    world.deliver()
    world.relay()


@pytest.mark.proves("RT-06")
def test_a_due_card_that_is_wanted_starts(failed):
    """No listing is needed for it."""
    failed.jump(11)
    due(failed)
    assert (starts(failed), failed.state("A-1")) == (2, "In Review")


@pytest.mark.proves("RT-06", "FS-52")
@pytest.mark.parametrize(
    ("to", "stop"), [("Done", "terminal_seen"), ("Cancelled", "terminal_seen"), ("Backlog", "moved_away")]
)
def test_a_due_card_that_is_not_wanted_any_more_ends(failed, to, stop):
    """Closed or moved away: no agent, and the task ends with the reason."""
    failed.drag("A-1", to)
    failed.jump(11)
    due(failed)
    assert starts(failed) == 1
    assert failed.rows("select status, stop_reason from task") == [("cancelled", stop)]


@pytest.mark.proves("RT-06", "RT-07")
def test_a_due_card_without_a_slot_waits_and_loses_nothing(failed):
    """The reason says so, the attempt is the second one still when a slot is free, and no backoff begins anew."""
    failed.process.worker.turns.count = 0
    failed.jump(11)
    due(failed)
    assert (starts(failed), failed.reason("A-1")) == (1, "no_worker_slot")
    attempts = []
    failed.agents.during = lambda turn: attempts.append(turn.attempt)
    failed.process.worker.turns.count = 1
    failed.jump(6)
    due(failed)
    assert attempts == [2]


@pytest.mark.proves("RT-06", "RC-05", "RC-06")
def test_a_due_card_that_is_missing_is_let_go_of_at_the_second_look(failed):
    """One answer without it may be a cut page."""
    failed.delete("A-1")
    failed.jump(11)
    due(failed)
    assert failed.rows("select ended_at is null from task") == [(True,)]
    failed.jump(6)
    due(failed)
    assert failed.rows("select status, stop_reason from task") == [("cancelled", "not_visible")]


@pytest.mark.proves("RT-04", "CL-11")
def test_a_new_due_time_replaces_the_old_one(failed):
    """Two due times never start two turns: there is one column, and a hold in between moves it nowhere."""
    failed.jump(2)
    failed.command("A-1", "hold")
    failed.command("A-1", "release")
    failed.script("A-1", Outcome.FAILED)
    failed.jump(9)
    due(failed)
    assert starts(failed) == 2
    for _ in range(3):
        failed.jump(4)
        due(failed)
    assert starts(failed) == 2  # the second failure waits its twenty seconds, whatever was due before
    failed.jump(12)
    due(failed)
    assert starts(failed) == 3
