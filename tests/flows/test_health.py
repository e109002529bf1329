"""The figures that show whether durable tasks are well: each moves when, and only when, what it counts happens."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from orchestrator import metrics
from orchestrator.domain.call import Part
from orchestrator.domain.turn import StopReason
from tests.flows import asking, outcome, refund

ROW = "flow:northstar.refund"


def numbers(world, row=ROW):
    """Every sample of a flow's row, by its name and status."""
    text = metrics.exposition(world.store.queries.overview(), world.store.queries.health())
    return {
        (sample.name.removeprefix("stationkeeper_"), *filter(None, [sample.labels.get("status")])): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels.get("workflow") == row
    }


def changed(before, after):
    """What is not as it was, without what only time changes."""
    return {name: after[name] for name in after if before[name] != after[name] and "age" not in name[0]}


@pytest.mark.proves("DE-16")
def test_a_success_is_counted_with_its_steps(world):
    """One of one, in three steps, with one effect that was sent once."""
    before = numbers(world)
    world.start()
    assert outcome.at_rest(world) == []
    assert changed(before, numbers(world)) == {
        ("tasks", "succeeded"): 1,
        ("tasks_ended", "succeeded"): 1,
        ("effects", "committed"): 1,
        ("steps_per_success",): 3,
    }


@pytest.mark.proves("DE-16")
def test_a_recovery_and_an_effect_that_was_sent_again_are_counted(world):
    """The worker died before it sent: looked up, absent, sent again; the task had lost a turn and succeeded."""
    world.believes_supervisors = True
    world.die_at(Part.ACT, after=False)
    world.start()
    assert outcome.at_rest(world) == []
    told = numbers(world)
    assert (told["tasks_recovered", "succeeded"], told["effects_sent_again",]) == (1, 1)


@pytest.mark.proves("DE-16")
def test_the_age_of_an_unknown_effect_grows_until_it_is_known(world, monkeypatch):
    """Zero when there is none."""
    monkeypatch.setenv("PAYMENT_ANSWER", "lost")
    world.start()
    world.tick()
    world.deliver()
    told = numbers(world)
    assert (told["tasks", "unknown"], told["effects", "unknown"]) == (1, 1)
    world.jump(300)
    age = ("effect_unknown_oldest_age_seconds",)
    assert numbers(world)[age] - told[age] == pytest.approx(300, abs=5)
    monkeypatch.delenv("PAYMENT_ANSWER")
    assert outcome.at_rest(world) == []
    assert numbers(world)[age] == 0


@pytest.mark.proves("DE-16")
def test_what_a_success_cost_is_told_whatever_an_agent_says_of_it(flow_world):
    """Tokens in and out of the turns of a task that succeeded; a word where a number belongs counts nothing."""
    world = flow_world(references=(asking.__file__ + ":FLOW",))
    world.agents.during = lambda turn: (turn.workspace / "proposal.json").write_text('{"amount": 30}')
    world.start(name="northstar.asking", order="A7")
    assert outcome.at_rest(world) == []
    assert numbers(world, "flow:northstar.asking")["tokens_per_success",] == 2
    world.store.slow.change("""update turn set usage = '{"input_tokens": "many", "output_tokens": 5}'""")
    assert numbers(world, "flow:northstar.asking")["tokens_per_success",] == 5


@pytest.mark.proves("DE-16")
def test_a_refused_proposal_is_counted(flow_world):
    """A model that proposed what policy forbids."""
    world = flow_world(references=(refund.__file__ + ":GREEDY",))
    world.start(name="northstar.greedy", order="A7")
    assert outcome.at_rest(world) == []
    assert numbers(world, "flow:northstar.greedy")["proposals_refused",] == 1


@pytest.mark.proves("DE-16")
def test_a_task_that_nothing_will_wake_is_stuck(world):
    """It cannot come to be by itself; the figure sees it all the same. A hold is no such thing."""
    world.start()
    assert numbers(world)["tasks_stuck",] == 0
    world.store.slow.change("update task set due_at = null")
    assert numbers(world)["tasks_stuck",] == 1
    world.command(world.one("select item_id from item"), "hold")
    assert numbers(world)["tasks_stuck",] == 0


@pytest.mark.proves("DE-16", "DE-13")
def test_the_time_from_a_cancel_to_the_end_of_a_flows_turn_is_measured(world):
    """The step under way took seven seconds to end after the person had said stop."""
    task = world.start()

    def cancelled(call):
        world.store.flows.cancel(task, StopReason.CANCELLED)
        world.jump(7)
        return call()

    world.hooks[Part.DECIDE] = cancelled
    assert outcome.at_rest(world) == []
    [seconds] = world.store.queries.overview().cancels
    assert seconds == pytest.approx(7, abs=1)
