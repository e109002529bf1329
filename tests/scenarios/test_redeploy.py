"""A deploy: the worker hands its turns back, and the next one goes on where it stopped."""

import pytest


@pytest.mark.proves("RT-11", "SR-06")
def test_a_turn_that_is_handed_back_costs_no_attempt(world):
    """The turn ends as `deploy`; the next one is attempt 1 again, with the same session."""
    world.add("A-1")
    attempts = []

    def first_is_deployed(turn):
        attempts.append((turn.attempt, turn.session))
        if len(attempts) == 1:
            world.process.worker.turns.close()
            world.process.supervisor.stop_all()

    world.agents.during = first_is_deployed
    world.tick()
    world.deliver()
    world.processes.remove(world.process)
    world.hire()
    world.run_until_quiet()
    assert world.state("A-1") == "In Review"
    assert attempts == [(1, None), (1, "session of A-1")]
    assert world.rows("select stop_reason from turn order by fence") == [("deploy",), ("done",)]


def test_a_worker_that_is_stopping_takes_no_new_turn(world):
    """Its messages are dropped; the turn stays queued, and a later tick offers the same one again."""
    world.add("A-1")
    world.tick()
    world.process.worker.turns.close()
    world.deliver()
    assert world.rows("select status from turn") == [("queued",)]
    world.processes.remove(world.process)
    world.hire()
    world.run_until_quiet()
    assert world.rows("select fence, attempt, status from turn") == [(1, 1, "succeeded")]
