"""Do the flow tests bite? One rule of the engine is broken at a time, and the story that was right must be found wrong.

Each broken engine has one story that gives it away; the same story with nothing broken is right, so it is the rule that
makes the difference. The rules of the statements are broken in `tests/store/test_flow_rules.py`.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from orchestrator.domain import effect
from orchestrator.domain.call import Answer, Part, Said
from orchestrator.domain.effect import EffectStatus
from orchestrator.engine.flows import effects, turn
from orchestrator.engine.flows.shift import Shift
from orchestrator.store.flows import concluding
from tests.flows import outcome

pytestmark = [pytest.mark.timeout(300), pytest.mark.proves("DE-08", "DE-17", "H10")]


# --- stories: what happens, and what is wrong then -------------------------------------------------------------------


def begin(world):
    """A task is started, ticked and delivered once."""
    world.start()
    world.tick()
    world.deliver()


def the_answer_is_lost(world, monkeypatch):
    """The payment was made, and whoever made it does not hear of it."""
    monkeypatch.setenv("PAYMENT_ANSWER", "lost")
    begin(world)
    monkeypatch.delenv("PAYMENT_ANSWER")
    return outcome.at_rest(world)


def the_request_is_late(world, monkeypatch):
    """The request arrives before its deadline, when others would like to have looked already."""
    monkeypatch.setenv("PAYMENT_ANSWER", "late")
    begin(world)
    monkeypatch.delenv("PAYMENT_ANSWER")
    for _ in range(3):
        world.tick(full=False)
        world.deliver()
    return arrives(world)


def its_sender_falls_silent(world, monkeypatch):
    """The sender fell silent right after it sent, and nobody saw it die; its request arrives long after."""
    monkeypatch.setenv("PAYMENT_ANSWER", "late")
    world.die_at(Part.ACT, after=True)
    begin(world)
    monkeypatch.delenv("PAYMENT_ANSWER")
    world.run_until_quiet()
    return arrives(world)


def arrives(world):
    """The late request arrives, once; then the world comes to rest. Whoever is asked now has one payment to find."""
    key = world.one("select key from effect")
    with world.outside.open("a") as log:
        log.write(f'{{"paid": "{key}", "amount": 30}}\n')
    return outcome.at_rest(world)


def it_dies_before_it_sends(world, _monkeypatch):
    """The worker is killed between the intent and the act."""
    world.believes_supervisors = True
    world.die_at(Part.ACT, after=False)
    begin(world)
    return outcome.at_rest(world)


def it_dies_after_it_sent(world, _monkeypatch):
    """The worker is killed between the act and its settling."""
    world.believes_supervisors = True
    world.die_at(Part.ACT, after=True)
    begin(world)
    return outcome.at_rest(world)


def a_step_is_asked_for_after_a_death(world, _monkeypatch):
    """The worker dies in the second step; the first one is recorded, and is not run again."""
    world.die_at(Part.DECIDE, after=True)
    begin(world)
    found = outcome.at_rest(world)
    asked = sum("asked" in line for line in world.lines())
    return [*found, *([f"the carrier was asked {asked} times"] if asked != 1 else [])]


def it_is_cancelled_with_an_open_effect(world, monkeypatch):
    """The answer was lost, and a person cancels before anybody could look."""
    monkeypatch.setenv("PAYMENT_ANSWER", "lost")
    begin(world)
    monkeypatch.delenv("PAYMENT_ANSWER")
    world.store.flows.cancel(world.one("select id from task"), turn.StopReason.CANCELLED)
    return outcome.at_rest(world)


# --- the broken engines ----------------------------------------------------------------------------------------------


def without_a_look_up(patch):
    """Whatever is not settled counts as absent."""

    def absent(shift, step, *, record):
        shift.ports.store.flows.absent(shift.admitted.ref, record.key, "surely")
        return effects._follow(shift, step, record=replace(record, status=EffectStatus.ABSENT))

    patch.setattr(effects, "_look_up", absent)


def settled_before_the_act(patch):
    """The ledger says committed, and then it is done."""
    act = effects._act

    def early(shift, step, *, intent, until):
        answer = Answer(Said.DONE, {"id": "soon", "amount": 30})
        effects._commit(shift, step, key=intent.key, answer=answer)
        return act(shift, step, intent=intent, until=until)

    patch.setattr(effects, "_act", early)


def done_before_the_intent(patch):
    """It is done, and then the ledger is told that it will be."""

    def late(shift, step, record):
        del record
        prepared = shift.perform(step, Part.PREPARE)
        intent = effects.Intent(prepared.key, step.name, prepared.parameters, 5.0, 600.0)
        answer = shift.perform(step, Part.ACT, of=intent)
        shift.ports.store.flows.intend(shift.admitted.ref, intent, lease_seconds=30.0)
        return effects._commit(shift, step, key=intent.key, answer=answer)

    patch.setattr(effects, "_intend", late)


def by_the_workers_clock(patch):
    """Each worker believes its own clock: the first is some seconds behind, those of later turns are an hour ahead."""
    now = Shift.now
    off = {1: timedelta(seconds=-6)}
    patch.setattr(Shift, "now", lambda shift: now(shift) + off.get(shift.admitted.ref.fence, timedelta(hours=1)))


def absent_at_once(patch):
    """A look-up counts whenever it is made."""
    patch.setattr(effect, "MARGIN_SECONDS", -4.5)
    patch.setattr(effects, "MARGIN_SECONDS", -4.5)


def an_exception_means_not_sent(patch):
    """What raised did not happen."""
    perform = Shift.perform

    def hopeful(shift, step, part, **more):
        answer = perform(shift, step, part, **more)
        return answer._replace(said=Said.NOT_SENT) if answer.said is Said.UNKNOWN else answer

    patch.setattr(Shift, "perform", hopeful)


def silence_is_death(patch):
    """Whoever fell silent sends nothing any more."""
    patch.setattr(
        effect, "_again", lambda record, step, now: effect.Next(effect.Move.INTEND, reason=f"{record}{step}{now}")
    )


def nothing_is_remembered(patch):
    """A turn runs every step, whatever is recorded."""
    patch.setattr(Shift, "recorded", lambda *_: None)


def an_effect_counts_as_done_when_intended(patch):
    """A row in the ledger is as good as a payment."""

    def believed(record, step, now):
        found = after(record, step, now)
        return effect.Next(effect.Move.GIVE_UP) if found.move in {effect.Move.LOOK_UP, effect.Move.WAIT} else found

    after = effect.after
    patch.setattr(effect, "after", believed)


def a_task_may_end_with_an_open_effect(patch):
    """What is intended is nobody's concern once somebody cancels."""
    careful = "stationkeeper_task_after(task_id, task, stop, flagged)"
    blind = concluding._CONCLUDE_OURS.replace(careful, "case when flagged is null then task else 'cancelled' end")
    patch.setattr(concluding, "_CONCLUDE_OURS", blind)
    patch.setattr(Shift, "is_open", lambda *_: False)


BROKEN = [
    (without_a_look_up, the_answer_is_lost, "was paid 2 times"),
    (settled_before_the_act, it_dies_before_it_sends, "is committed and was not paid"),
    (done_before_the_intent, it_dies_after_it_sent, "was paid 2 times"),
    (by_the_workers_clock, the_request_is_late, "was paid 2 times"),
    (absent_at_once, the_request_is_late, "was paid 2 times"),
    (an_exception_means_not_sent, the_answer_is_lost, "was paid 2 times"),
    (silence_is_death, its_sender_falls_silent, "was paid 2 times"),
    (nothing_is_remembered, a_step_is_asked_for_after_a_death, "the carrier was asked 2 times"),
    (an_effect_counts_as_done_when_intended, the_answer_is_lost, "was paid, is unknown, and nobody is asked"),
    (a_task_may_end_with_an_open_effect, it_is_cancelled_with_an_open_effect, "an over task with an open effect"),
]


@pytest.mark.parametrize(("broken", "story", "wrong"), BROKEN, ids=[broken.__name__ for broken, _, _ in BROKEN])
def test_a_broken_engine_is_caught(flow_world, monkeypatch, broken, story, wrong):
    """With the rule nothing is wrong, and without it what the rule is there to prevent has happened."""
    assert story(flow_world(), monkeypatch) == []
    with monkeypatch.context() as patch:
        broken(patch)
        found = story(flow_world(), monkeypatch)
        assert any(wrong in line for line in found), found


def test_there_are_ten_broken_engines():
    """And the four rules of the statements beside them."""
    assert len({broken for broken, _, _ in BROKEN}) >= 10
