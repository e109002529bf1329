"""Whatever a user's function or a model does, the call gives an answer, and the answer says no more than is known."""

import json
import sys
from uuid import UUID

import pytest
from pydantic import BaseModel

from orchestrator.domain.call import Call, Part, Said
from orchestrator.flows import Decision, Effect, Flow, NotSent, Question, Refused, Step, performing
from orchestrator.steps import wire


class Order(BaseModel):
    """An order."""

    paid: int


class Proposal(BaseModel):
    """A proposal."""

    amount: int
    action: str = "refund"


class Receipt(BaseModel):
    """A receipt."""

    id: str


def within(proposal: Proposal, input: Order) -> str | None:  # noqa: A002
    """Never more than was paid."""
    return None if proposal.amount <= input.paid else f"{proposal.amount} is more than {input.paid}"


def needs(proposal):
    """What carrying it out takes."""
    return f"{proposal.action}s:write"


def call(flow, part, *, step="s", **more):
    """One call with an order of 30."""
    named = {"input": {"paid": 30}, "authority": frozenset({"refunds:write"}), **more}
    order = Call(UUID(int=0), 1, flow.name, step, part, task="t", timeout_seconds=5, **named)
    return performing.perform(flow, order, boot_seconds=lambda: 100.0)


def decision(said):
    """A flow with an agent that says this."""

    def agent(input: Order) -> object:  # noqa: A002
        assert input
        return said() if callable(said) else said

    return Flow(
        "a.b",
        version=1,
        steps=[Decision("s", agent, accept=Proposal, policy=within, needs=needs)],
    )


MODEL_OUTPUTS = {
    "no JSON": ("I would refund 30.", "schema: Invalid JSON"),
    "half of it": ('{"amount": 3', "schema: Invalid JSON"),
    "another schema": ('{"price": 3}', "schema: amount: Field required"),
    "another type": ('{"amount": "much"}', "schema: amount: Input should be a valid integer"),
    "50 MB": (
        lambda: '{"amount": ' + "1" * 50_000_000 + "}",
        "schema: ValueError: 50000012 characters; expected at most",
    ),
    "nothing": (None, "schema: Input should be a valid dictionary"),
    "bytes that are no text": (b"\xff\xfe", "schema: Invalid JSON"),
    "more than policy allows": ('{"amount": 31}', "policy: 31 is more than 30"),
    "outside its authority": (
        '{"amount": 3, "action": "deletion"}',
        "authority: it needs 'deletions:write'; the task was given refunds:write",
    ),
    "nested without end": ('{"amount":' + "[" * 100_000, "schema: Invalid JSON"),
}


@pytest.mark.proves("DE-07")
@pytest.mark.parametrize("kind", MODEL_OUTPUTS)
def test_a_proposal_is_refused_with_a_reason(kind):
    """By schema, authority, policy and current state, in that order; the reason is short enough to be stored."""
    said, reason = MODEL_OUTPUTS[kind]
    answer = call(decision(said), Part.DECIDE)
    assert answer.said is Said.REFUSED
    assert answer.reason.startswith(reason)
    assert len(answer.reason) < 2_100


@pytest.mark.proves("DE-07")
def test_a_proposal_that_passes_is_the_output():
    """As the model of the flow has it."""
    answer = call(decision('{"amount": 30, "chat": "sure!"}'), Part.DECIDE)
    assert (answer.said, answer.value) == (Said.DONE, {"amount": 30, "action": "refund"})


def question(ask, **more):
    """A flow with one question."""
    return Flow("a.b", version=1, steps=[Question("s", ask, accept=Proposal, policy=within, **more)])


def of_the_paid(input: Order) -> str:  # noqa: A002
    """What a person reads."""
    return "" if input.paid == 0 else f"How much of {input.paid}?"


@pytest.mark.proves("DE-07")
def test_a_question_has_words_of_its_own_or_of_a_function():
    """Words, or a stored reason why there are none."""
    assert call(question("How much?"), Part.QUESTION).value == "How much?"
    assert call(question(of_the_paid), Part.QUESTION).value == "How much of 30?"
    nothing = call(question(of_the_paid), Part.QUESTION, input={"paid": 0})
    assert (nothing.said, "expected a text" in nothing.reason) == (Said.FAILED, True)


@pytest.mark.proves("DE-07")
@pytest.mark.parametrize("kind", [kind for kind in MODEL_OUTPUTS if kind != "outside its authority"])
def test_an_answer_is_judged_like_a_proposal(kind):
    """A person mistypes too: schema and policy refuse, with the reason."""
    said, reason = MODEL_OUTPUTS[kind]
    answer = call(question("?"), Part.ANSWER, parameters={"answer": said() if callable(said) else said})
    assert (answer.said, answer.reason.startswith(reason)) == (Said.REFUSED, True)


@pytest.mark.proves("DE-07")
def test_an_answer_that_passes_is_the_output_and_may_end_the_flow():
    """As its model has it."""
    ends = question("?", ends_when=lambda answer: "nothing to do" if answer.amount == 0 else None)
    some, none = (call(ends, Part.ANSWER, parameters={"answer": json.dumps({"amount": n})}) for n in (30, 0))
    assert (some.said, some.value, some.ends) == (Said.DONE, {"amount": 30, "action": "refund"}, None)
    assert (none.said, none.ends) == (Said.DONE, "nothing to do")


def step(does, **more):
    """A flow with one step that does this."""

    def run(input: Order) -> Receipt:  # noqa: A002
        assert input
        return does()

    return Flow("a.b", version=1, steps=[Step("s", run, **more)])


def raising(error):
    """A function that raises."""

    def does(*_):
        raise error

    return does


def forever():
    """A function that calls itself."""
    return forever()


STEPS = {
    "returns what it did not declare": (lambda: {"price": 3}, Said.FAILED, "it did not return what it declared: id:"),
    "returns nothing": (lambda: None, Said.FAILED, "it did not return what it declared"),
    "returns too much": (
        lambda: {"id": "x" * 600_000},
        Said.FAILED,
        "it did not return what it declared: ValueError: 6",
    ),
    "raises": (raising(KeyError("k")), Said.FAILED, "KeyError: 'k'"),
    "raises what may pass": (raising(ConnectionError("reset")), Said.TRY_AGAIN, "ConnectionError: reset"),
    "exits": (lambda: sys.exit(3), Said.FAILED, "SystemExit: 3"),
    "interrupts": (raising(KeyboardInterrupt()), Said.FAILED, "KeyboardInterrupt"),
    "recurses without end": (forever, Said.FAILED, "RecursionError"),
}


@pytest.mark.proves("DE-07")
@pytest.mark.parametrize("kind", STEPS)
def test_a_step_that_misbehaves_has_a_reason(kind):
    """What it declared, it gives, or it failed."""
    does, said, reason = STEPS[kind]
    answer = call(step(does), Part.RUN)
    assert answer.said is said
    assert answer.reason.startswith(reason)


def effect(does, **more):
    """A flow with one effect that does this."""

    def act(key: str, input: Order) -> Receipt:  # noqa: A002
        assert key
        assert input
        return does()

    return Flow("a.b", version=1, steps=[Effect("s", act, key=lambda s: f"{s.task}:{s.paid}", **more)])


ACTS = {
    "it happened": (lambda: Receipt(id="1"), Said.DONE),
    "the target said no": (raising(Refused("no")), Said.REFUSED),
    "it was not sent": (raising(NotSent("no route")), Said.NOT_SENT),
    "it raised": (raising(ConnectionError("reset")), Said.UNKNOWN),
    "it exited": (lambda: sys.exit(1), Said.UNKNOWN),
    "it returned what it did not declare": (lambda: 7, Said.UNKNOWN),
}


@pytest.mark.proves("DE-08", "S1")
@pytest.mark.parametrize("kind", ACTS)
def test_only_two_words_of_an_act_say_that_nothing_happened(kind):
    """Anything else that goes wrong leaves open what happened."""
    does, said = ACTS[kind]
    given = {"key": "k", "parameters": {"input": {"paid": 30}}}
    assert call(effect(does), Part.ACT, send_before=101.0, **given).said is said


@pytest.mark.proves("H10")
def test_the_deadline_is_checked_right_before_the_send():
    """A worker that thaws after its act's deadline does not send."""
    sent = []
    flow = effect(lambda: sent.append(1) or Receipt(id="1"))
    answer = call(flow, Part.ACT, send_before=99.0, key="k", parameters={"input": {"paid": 30}})
    assert (answer.said, sent) == (Said.NOT_SENT, [])


@pytest.mark.proves("DE-08", "H24")
def test_a_key_is_derived_and_the_parameters_are_exact():
    """From the task and its input; nothing random, no attempt, no fence."""
    answer = call(effect(lambda: None), Part.PREPARE)
    assert (answer.key, answer.parameters) == ("t:30", {"input": {"paid": 30}})


@pytest.mark.parametrize("said", [Said.DONE, Said.UNKNOWN])
def test_a_call_and_its_answer_pass_a_pipe_whole(said):
    """As lines of JSON; any other line is log."""
    order = Call(UUID(int=3), 2, "a.b", "s", Part.ACT, "t", 5, authority=frozenset({"x"}), key="k", send_before=1.5)
    assert wire.read_call(wire.pack_call(order, ("m:F",))) == (order, ("m:F",))
    answer = performing.Answer(said, {"id": "1"}, "because", ends=None, key="k")
    assert wire.read_answer(wire.pack_answer(answer)) == answer
    for line in (b"{}", b"log", b"[1]", json.dumps({wire.MARK: 3}).encode()):
        assert wire.read_answer(line) is None
