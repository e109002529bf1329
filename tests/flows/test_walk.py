"""A flow's task from its start to its end, and each way in which it stops on the way."""

import pytest

from orchestrator.domain.effect import EffectStatus
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import StopReason
from tests.flows import outcome, refund

REFUND = refund.__file__ + ":{}"


def finish(world):
    """Everything that is due, once."""
    world.tick()
    world.deliver()


@pytest.mark.proves("DE-01", "DE-06", "H31")
def test_a_task_without_a_card_is_worked_off_from_its_rows(world):
    """No tracker is asked: the tick opens its turn, the turn runs its steps, the effect is done once."""
    task = world.start()
    finish(world)
    assert world.status(task) == "succeeded"
    assert world.paid() == [f"refund:{task}:A7"]
    assert outcome.at_rest(world) == []


@pytest.mark.proves("DE-09")
def test_a_start_with_a_known_key_finds_the_first_task(world):
    """A doubled request is one task."""
    assert world.start("order-7") == world.start("order-7")
    finish(world)
    assert len(world.paid()) == 1


@pytest.mark.proves("DE-06", "DE-08")
def test_a_recorded_step_never_runs_again(world):
    """A turn that goes on after others finds what they recorded."""
    world.start()
    wire = world.process.supervisor
    wire.boot_seconds = world.clock.boot_seconds
    object.__setattr__(world.flows.contract("northstar.refund"), "quantum_seconds", -1.0)
    finish(world)
    assert world.rows("select status, stop_reason from turn") == [("succeeded", "yielded")]
    object.__setattr__(world.flows.contract("northstar.refund"), "quantum_seconds", 60.0)
    assert outcome.at_rest(world) == []
    assert [line for line in world.lines() if "asked" in line] == [{"asked": "A7"}]


@pytest.mark.proves("DE-13", "H11")
def test_a_cancel_before_the_first_turn_ends_the_task_at_once(world):
    """Nothing was begun, so nothing is to be waited for."""
    task = world.start()
    assert world.store.flows.cancel(task, StopReason.CANCELLED) is TaskStatus.CANCELLED
    assert outcome.at_rest(world) == []
    assert world.lines() == []


@pytest.mark.proves("DE-13", "H11")
def test_a_cancel_with_an_open_effect_waits_until_it_is_settled(flow_world, monkeypatch):
    """The task stays unknown until the look-up has found the payment; then it is cancelled, and nothing more begins."""
    world = flow_world(references=(REFUND.format("NOTIFIED"),))
    task = world.start(name="northstar.notified", order="A7")
    monkeypatch.setenv("PAYMENT_ANSWER", "lost")
    finish(world)
    assert (world.status(task), world.effect()) == ("unknown", "unknown")
    assert world.store.flows.cancel(task, StopReason.CANCELLED) is TaskStatus.UNKNOWN
    assert outcome.at_rest(world) == []
    assert (world.status(task), world.effect(), len(world.paid())) == ("cancelled", "committed", 1)
    assert [line for line in world.lines() if "told" in line] == []


@pytest.mark.proves("DE-13")
def test_a_cancel_that_finds_every_step_done_comes_too_late(world, monkeypatch):
    """The last step's effect turns out to have happened: the task succeeded, whatever was asked meanwhile."""
    task = world.start()
    monkeypatch.setenv("PAYMENT_ANSWER", "lost")
    finish(world)
    world.store.flows.cancel(task, StopReason.CANCELLED)
    assert outcome.at_rest(world) == []
    assert (world.status(task), len(world.paid())) == ("succeeded", 1)


@pytest.mark.proves("DE-08", "H10")
def test_a_lost_answer_is_looked_up_before_anything_is_sent_again(world, monkeypatch):
    """The payment happened, its answer was lost: the next turn asks by key, and pays nothing."""
    task = world.start()
    monkeypatch.setenv("PAYMENT_ANSWER", "lost")
    finish(world)
    assert outcome.at_rest(world) == []
    assert (world.status(task), world.effect(), len(world.paid())) == ("succeeded", "committed", 1)


@pytest.mark.proves("DE-08", "H10")
def test_absent_does_not_count_before_the_acts_deadline(world, monkeypatch):
    """A request that is late arrives after an early look-up would have found nothing: it is not sent twice."""
    world.start()
    monkeypatch.setenv("PAYMENT_ANSWER", "late")
    finish(world)
    assert world.paid() == []
    world.jump(5.0)
    finish(world)  # within deadline and margin: nobody asks yet
    assert world.effect() == "unknown"
    monkeypatch.delenv("PAYMENT_ANSWER")
    key = world.one("select key from effect")
    with world.outside.open("a") as log:
        log.write(f'{{"paid": "{key}", "amount": 30}}\n')  # it arrives
    assert outcome.at_rest(world) == []
    assert (world.effect(), len(world.paid())) == ("committed", 1)


@pytest.mark.proves("DE-08")
def test_only_what_is_absent_is_sent_again(world, monkeypatch):
    """The request never arrived: after the deadline the look-up finds nothing, and it is sent once more."""
    task = world.start()
    monkeypatch.setenv("PAYMENT_ANSWER", "late")
    finish(world)
    monkeypatch.delenv("PAYMENT_ANSWER")
    assert outcome.at_rest(world) == []
    assert (world.status(task), world.effect(), len(world.paid())) == ("succeeded", "committed", 1)
    assert world.rows("select sends from effect") == [(2,)]


@pytest.mark.proves("DE-08", "DE-11")
def test_what_nobody_can_look_up_is_asked_of_a_person(flow_world, monkeypatch):
    """The target cannot be asked by key: the task waits with an owner, and goes on by the person's word."""
    world = flow_world(references=(REFUND.format("BLIND"),))
    task = world.start(name="northstar.blind", order="A7")
    monkeypatch.setenv("PAYMENT_ANSWER", "lost")
    assert outcome.at_rest(world) == []
    assert world.rows("select kind, owner from hold where lifted_at is null") == [("unknown_effect", "payments team")]
    assert world.status(task) == "unknown"
    key = world.one("select key from effect")
    told = {"id": "seen in the bank's list", "amount": 30}
    assert world.store.flows.decide(task, key, verdict=EffectStatus.COMMITTED, word=told)
    assert outcome.at_rest(world) == []
    assert (world.status(task), len(world.paid())) == ("succeeded", 1)


@pytest.mark.proves("DE-08", "DE-11", "H12")
def test_a_persons_word_is_not_taken_while_a_turn_looks_at_the_same_effect(flow_world, monkeypatch):
    """The turn has read that nobody knows, and would ask about what is settled by then, with nobody left to answer."""
    world = flow_world(references=(REFUND.format("BLIND"),))
    task = world.start(name="northstar.blind", order="A7")
    monkeypatch.setenv("PAYMENT_ANSWER", "lost")
    assert outcome.at_rest(world) == []
    world.store.slow.change("update hold set lifted_at = stationkeeper_clock(), lifted_by = 'a release'")
    world.store.slow.change("update task set due_at = stationkeeper_clock()")
    world.tick()
    message, load, said = world.queue.take(), world.store.flows.load, []
    key, word = world.one("select key from effect"), {"id": "seen", "amount": 30}

    def decided():
        return world.store.flows.decide(task, key, verdict=EffectStatus.COMMITTED, word=word)

    def and_then(ref):
        found = load(ref)
        world.store.flows.load = load
        said.append(decided())
        return found

    world.store.flows.load = and_then
    world.deliver_one(*message)
    assert outcome.at_rest(world) == []
    assert (said, world.status(task)) == ([False], "unknown")
    assert decided()
    assert outcome.at_rest(world) == []
    assert world.status(task) == "succeeded"


@pytest.mark.proves("DE-05", "H11")
def test_a_deadline_ends_the_task_and_begins_nothing_more(world):
    """A task past its deadline fails as expired, from wherever it waits."""
    task = world.start(deadline_seconds=30.0)
    world.jump(31.0)
    assert outcome.at_rest(world) == []
    assert world.rows("select status, stop_reason from task") == [("failed", "expired")]
    assert world.paid() == []
    assert world.status(task) == "failed"


@pytest.mark.proves("DE-07")
def test_an_effect_outside_the_tasks_authority_is_refused(world):
    """The task was not given what the step asks for: a stored reason, and nothing is paid."""
    task = world.start(authority=frozenset())
    assert outcome.at_rest(world) == []
    assert (world.status(task), world.paid()) == ("failed", [])
    assert "refunds:write" in world.one("select reason from task")


@pytest.mark.proves("DE-15")
def test_a_task_of_another_manifest_is_held_and_not_guessed_at(world):
    """The worker has another version of the flow than the task was started with."""
    task = world.start()
    world.store.slow.change("update workflow_version set digest = 'another' where workflow like 'flow%'")
    assert outcome.at_rest(world) == []
    assert world.status(task) == "running"
    assert "bound to manifest 1" in world.one("select reason from hold where lifted_at is null")


@pytest.mark.proves("H3", "H31")
def test_a_task_that_is_due_and_not_opened_has_one_stored_reason(world):
    """No slot, or a hold: the reason is stored, and goes when the task is opened."""
    held = world.start("held")
    world.tick()
    world.queue.flush()
    world.store.slow.change("update worker set slots = 1")
    waiting = world.start("waiting")
    world.store.flows.open_due("flow:northstar.refund", cap=100)
    assert world.rows("select item_id, reason from wait") == [("waiting", "no_worker_slot")]
    world.store.flows.open_due("flow:northstar.refund", cap=1)
    assert world.rows("select item_id, reason from wait") == [("waiting", "no_slot_total")]
    world.store.slow.change(
        "insert into hold (scope, kind, lift, reason, owner) values ('fleet', 'operator', 'person', 'stop', 'me')"
    )
    world.store.flows.open_due("flow:northstar.refund", cap=1)
    assert world.rows("select item_id, reason from wait") == [("waiting", "held_fleet")]
    world.store.slow.change("update hold set lifted_at = now()")
    assert outcome.at_rest(world) == []
    assert (world.status(held), world.status(waiting)) == ("succeeded", "succeeded")
    assert world.rows("select 1 from wait") == []


@pytest.mark.proves("CL-07", "DE-09")
def test_a_message_that_comes_a_hundred_times_is_one_turn(world):
    """The first delivery is admitted; the others find no row, during the turn and after it."""
    task = world.start()
    world.tick()
    message = world.queue.take()
    for _ in range(100):
        world.deliver_one(*message)
    assert (world.status(task), len(world.paid())) == ("succeeded", 1)
    assert [line for line in world.lines() if "asked" in line] == [{"asked": "A7"}]
    assert outcome.at_rest(world) == []


@pytest.mark.proves("DE-08", "DE-11")
@pytest.mark.parametrize(
    ("verdict", "status", "payments"),
    [(EffectStatus.ABSENT, "succeeded", 1), (EffectStatus.REFUSED, "failed", 0)],
)
def test_a_person_may_say_that_it_did_not_happen(flow_world, monkeypatch, verdict, status, payments):
    """Absent: it is sent again, once. Refused: it is given up, and the task fails with that reason."""
    world = flow_world(references=(REFUND.format("BLIND"),))
    task = world.start(name="northstar.blind", order="A7")
    monkeypatch.setenv("PAYMENT_ANSWER", "late")
    assert outcome.at_rest(world) == []
    monkeypatch.delenv("PAYMENT_ANSWER")
    key = world.one("select key from effect")
    assert world.store.flows.decide(task, key, verdict=verdict, word="the bank says so")
    assert outcome.at_rest(world) == []
    assert (world.status(task), len(world.paid())) == (status, payments)


@pytest.mark.proves("DE-07", "DE-11")
def test_a_refused_proposal_fails_the_task_with_the_stored_reason(flow_world):
    """What the model proposed is more than policy allows: nothing is done, and the reason is in the records."""
    world = flow_world(references=(REFUND.format("GREEDY"),))
    task = world.start(name="northstar.greedy", order="A7")
    assert outcome.at_rest(world) == []
    assert world.rows("select status, stop_reason from task") == [("failed", "proposal_refused")]
    assert world.one("select reason from task") == "assess: policy: 60 is more than the 30 paid"
    assert world.rows("select step, kind from step_failure") == [("assess", "refused")]
    assert (world.status(task), world.paid()) == ("failed", [])
