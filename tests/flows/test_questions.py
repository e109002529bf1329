"""A flow that asks a person: it waits without a worker, goes on with the answer, and ends where nobody gives one."""

import pytest

from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import Recorded
from orchestrator.store.flows import showing
from tests.faults import faults
from tests.faults.tripwire import Tripwire
from tests.flows import inquiring, outcome

pytestmark = [pytest.mark.timeout(600), pytest.mark.proves("DE-02", "DE-03")]

PARCEL, HURRIED, PLAIN = "northstar.parcel", "northstar.hurried", "northstar.plain"
REFERENCES = tuple(f"{inquiring.__file__}:{name}" for name in inquiring.NAMES)
LISBON = Recorded({"city": "Lisbon"})


@pytest.fixture
def asking(flow_world):
    """A world in which flows ask."""
    return flow_world(references=REFERENCES)


def ask(world, name=PARCEL, **more):
    """A task that has come to its question."""
    task = world.start(name=name, parcel="P1", **more)
    finish(world)
    return task


def finish(world):
    """Everything that is due, once."""
    world.tick()
    world.deliver()


def answer(world, task, said=LISBON):
    """A person's answer."""
    return world.store.flows.answer(task, "address", said=said, by="ann")


def asked(world):
    """How often a person was put the question's words."""
    return sum("asks" in line for line in world.lines())


def line(world, task):
    """The task as `task list` has it."""
    return showing.story(world.store.slow, str(task)).line


@pytest.mark.proves("DE-06", "H31")
def test_a_task_that_asks_waits_without_a_turn_and_goes_on_with_the_answer(asking):
    """No slot, no lease, no retry meanwhile; the words are put once, and the answer is what later steps take."""
    task = ask(asking)
    assert outcome.at_rest(asking) == []
    assert asking.status(task) == "waiting_input"
    assert line(asking, task).waits_for == "support: address: Where does P1 go?"
    assert asking.rows("select status, stop_reason from turn") == [("succeeded", "input_asked")]
    assert answer(asking, task)
    assert outcome.at_rest(asking) == []
    assert asking.status(task) == "succeeded"
    assert [sent["city"] for sent in asking.lines() if "paid" in sent] == ["Lisbon"]
    assert asked(asking) == 1
    assert asking.rows("select answered_by from question") == [("ann",)]


@pytest.mark.proves("DE-04")
def test_a_question_is_answered_once_and_only_while_somebody_waits(asking):
    """Before it is put, a second time, for another step, and after the end: nothing is recorded."""
    task = asking.start(name=PARCEL, parcel="P1")
    assert not answer(asking, task)
    finish(asking)
    assert not asking.store.flows.answer(task, "send", said=LISBON, by="ann")
    assert answer(asking, task)
    assert not answer(asking, task, Recorded({"city": "Oslo"}))
    assert outcome.at_rest(asking) == []
    assert not answer(asking, task, Recorded({"city": "Oslo"}))
    assert [sent["city"] for sent in asking.lines() if "paid" in sent] == ["Lisbon"]


@pytest.mark.proves("DE-05", "DE-10")
def test_a_question_that_nobody_answers_in_time_fails_its_task_and_what_was_done_is_undone(asking):
    """Past its expiry no answer counts any more, even before a tick has seen it; the fee that was paid comes back."""
    task = ask(asking, HURRIED)
    assert "(until " in line(asking, task).waits_for
    asking.jump(590.0)
    finish(asking)
    assert asking.status(task) == "waiting_input"
    asking.jump(15.0)
    assert not answer(asking, task)
    assert outcome.at_rest(asking) == []
    assert asking.rows("select status, stop_reason from task") == [("failed", "expired")]
    assert asking.paid() == [f"fee:{task}", f"back:{task}"]


@pytest.mark.proves("DE-05")
def test_an_answer_at_the_last_moment_counts(asking):
    """It was in time, and so the tick that comes after the expiry goes on with it."""
    task = ask(asking, HURRIED)
    asking.jump(590.0)
    assert answer(asking, task)
    asking.jump(60.0)
    assert outcome.at_rest(asking) == []
    assert asking.status(task) == "succeeded"


@pytest.mark.proves("DE-03", "DE-13")
def test_a_task_that_waits_for_input_is_cancelled_at_once(asking):
    """Nothing runs, so nothing is waited for; a later answer changes nothing."""
    task = ask(asking)
    assert asking.store.flows.cancel(task, StopReason.CANCELLED) is TaskStatus.CANCELLED
    assert not answer(asking, task)
    assert outcome.at_rest(asking) == []
    assert (asking.status(task), asking.paid()) == ("cancelled", [])


@pytest.mark.proves("DE-03", "DE-13")
def test_a_task_that_is_being_stopped_takes_no_answer(asking):
    """What was paid has to come back first: the task still waits, and nobody may send it on."""
    task = ask(asking, HURRIED)
    assert asking.store.flows.cancel(task, StopReason.TAKEN_BACK) is TaskStatus.WAITING_INPUT
    assert not answer(asking, task)
    assert outcome.at_rest(asking) == []
    assert asking.rows("select status, stop_reason from task") == [("failed", "taken_back")]
    assert asking.paid() == [f"fee:{task}", f"back:{task}"]


@pytest.mark.proves("DE-03", "DE-05")
def test_the_deadline_ends_a_task_that_waits_for_input(asking):
    """A deadline is the task's, whatever it waits for; and an answer after it is too late."""
    task = ask(asking, deadline_seconds=60.0)
    asking.jump(61.0)
    assert not answer(asking, task)
    assert outcome.at_rest(asking) == []
    assert asking.rows("select status, stop_reason from task") == [("failed", "expired")]


@pytest.mark.proves("H31")
def test_a_task_that_is_woken_without_an_answer_waits_on_with_the_same_question(asking):
    """A released hold wakes it: it finds its question standing, with its words and its time, and asks nobody anew."""
    task = ask(asking, HURRIED)
    before = asking.rows("select words, asked_at, expires_at from question")
    asking.store.slow.change("update task set due_at = stationkeeper_clock()")
    finish(asking)
    assert asking.status(task) == "waiting_input"
    assert asking.rows("select words, asked_at, expires_at from question") == before
    assert asking.one("select due_at = (select expires_at from question) from task")
    assert asked(asking) == 1


@pytest.mark.proves("DE-07", "DE-11")
def test_a_question_that_finds_no_words_is_tried_again_and_then_parked(asking, monkeypatch):
    """Its function is a read like any other step's."""
    monkeypatch.setenv("WORDS", "none")
    task = ask(asking)
    assert outcome.at_rest(asking) == []
    assert asking.status(task) == "running"
    assert line(asking, task).waits_for.startswith("support: address: 3 attempts failed; the last: ConnectionError")
    assert asking.rows("select 1 from question") == []


@pytest.mark.proves("DE-07")
def test_an_answer_may_end_the_flow(asking):
    """The sentence of `ends_when` is recorded with the answer."""
    task = ask(asking, PLAIN)
    assert answer(asking, task, Recorded({"city": "here"}, ends="it stays here"))
    assert outcome.at_rest(asking) == []
    assert (asking.status(task), asking.paid()) == ("succeeded", [])
    assert line(asking, task).reason == "it stays here"


@pytest.mark.proves("H11", "H12")
def test_an_answer_that_comes_while_a_turn_looks_is_not_lost(asking):
    """The turn has loaded its task, and then the answer is recorded: it is found before the task is parked again."""
    task = ask(asking)
    asking.store.slow.change("update task set due_at = stationkeeper_clock()")
    asking.tick()
    message = asking.queue.take()
    load = asking.store.flows.load

    def late(ref):
        found = load(ref)
        asking.store.slow.change("update task set status = 'waiting_input' where status = 'running'")
        assert answer(asking, task)
        asking.store.slow.change("update task set status = 'running' where status = 'waiting_input'")
        asking.store.flows.load = load
        return found

    asking.store.flows.load = late
    asking.deliver_one(*message)
    assert asking.status(task) == "succeeded"


# --- with faults -----------------------------------------------------------------------------------------------------


def play(flow_world, at):
    """The calls of the story with faults, and what is wrong after it: a person answers as soon as they are asked."""
    wire = Tripwire(at)
    world = flow_world(references=REFERENCES, wrap=wire.wrap)
    wire.world = world
    task = world.start(name=PARCEL, parcel="P1")
    wrong = outcome.at_rest(world)
    if world.status(task) == "waiting_input":
        assert answer(world, task)
        wrong += outcome.at_rest(world)
    cities = {line["city"] for line in world.lines() if "paid" in line}
    parked = world.rows("select 1 from hold where lifted_at is null")
    if not parked and (world.status(task), cities) != ("succeeded", {"Lisbon"}):
        wrong.append(f"{world.status(task)}, sent to {cities}")
    return wire.calls, wrong


@pytest.mark.proves("DE-17")
@pytest.mark.parametrize("kind", [*faults.DEATHS, *faults.OUTAGES, *faults.RIVALS], ids=lambda kind: kind.__name__)
def test_a_fault_at_any_call_round_a_question_loses_neither_question_nor_answer(flow_world, kind):
    """Whatever happens at whichever call: it is asked, answered once, and sent once, where the person said."""
    calls, wrong = play(flow_world, {})
    assert wrong == []
    assert {"flows.asked", "flows.ask"} <= set(calls)
    points = [number for number, name in enumerate(calls) if name.startswith(("flows.", "steps.", "turns."))]
    found = [f"{at} {calls[at]}: {bad}" for at in points if (bad := play(flow_world, {at: kind})[1])]
    assert not found, "\n".join(found)
