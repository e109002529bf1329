"""A bad definition is refused when it is loaded: the line where it stands, what was found, what was expected."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from orchestrator.domain.call import FlowUnknown
from orchestrator.flows import READ, WRITE, BadFlow, Decision, Effect, Flow, Question, Step, loading, printing
from tests.flows import inquiring, refund


class Thing(BaseModel):
    """A thing."""

    n: int


class Other(BaseModel):
    """Another thing."""

    n: int


def read(input: Thing) -> Thing:  # noqa: A002
    """A step."""
    return input


def read_other(input: Other) -> Thing:  # noqa: A002
    """A step that wants another input."""
    return Thing(n=input.n)


def untyped(input) -> Thing:  # noqa: A002
    """A step without a type."""
    return input


def silent(input: Thing):  # noqa: A002
    """A step that does not say what it gives."""
    return input


def misspelt(lookpu: Thing) -> Thing:
    """A step that asks for something that is not there."""
    return lookpu


def wrong_kind(first: Other) -> Thing:
    """A step that takes an earlier output for something else."""
    return Thing(n=first.n)


def everything(*things: Thing) -> Thing:
    """A step that takes anything."""
    return things[0]


def act(key: str, input: Thing) -> Thing:  # noqa: A002
    """An effect."""
    assert key
    return input


def find_other(key: str) -> Other | None:
    """A look-up of something else."""
    assert key


def find_always(key: str) -> Thing:
    """A look-up that cannot say no."""
    return Thing(n=len(key))


def flow(*steps, name="test.flow", **more):
    """A flow of these steps."""
    return Flow(name, **{"version": 1, "steps": steps, **more})


BAD = {
    "expected dotted words": lambda: flow(Step("a", read), name="Bad Name"),
    "version 0; expected a whole number": lambda: flow(Step("a", read), version=0),
    "it has no steps": flow,
    "keep_days is 0; expected a number above 0": lambda: flow(Step("a", read), keep_days=0),
    "quantum_seconds is 0; expected a number above 0": lambda: flow(Step("a", read), quantum_seconds=0),
    "expected a small-letter word": lambda: flow(Step("A-b", read)),
    "the name is taken": lambda: flow(Step("input", read)),
    "another step bears that name": lambda: flow(Step("a", read), Step("a", read)),
    "timeout_seconds is -1": lambda: flow(Step("a", read, timeout_seconds=-1)),
    "max_attempts is 0": lambda: flow(Step("a", read, max_attempts=0)),
    "'lookpu'; expected one of input, task, first": lambda: flow(Step("first", read), Step("b", misspelt)),
    "takes first as Other; it is Thing": lambda: flow(Step("first", read), Step("b", wrong_kind)),
    "parameter 'input' has no type": lambda: flow(Step("a", untyped)),
    "does not say what it returns": lambda: flow(Step("a", silent)),
    "takes *things; expected named parameters": lambda: flow(Step("a", everything)),
    "takes Other as input, others Thing": lambda: flow(Step("a", read), Step("b", read_other)),
    "written as an Effect, with a key": lambda: flow(Step("a", read, effect=WRITE)),
    "what only reads is written as a Step": lambda: flow(Effect("a", act, key=str, effect=READ)),
    "expected a Pydantic model": lambda: flow(Decision("a", read, accept=dict)),
    "it asks ' '; expected a text": lambda: flow(Question("a", " ", accept=Thing)),
    "gives Thing; expected str, what a person is asked": lambda: flow(Question("a", read, accept=Thing)),
    "accept is <class 'int'>; expected a Pydantic model": lambda: flow(Question("a", "which?", accept=int)),
    "expires_seconds is 0; expected a number above 0": lambda: flow(
        Question("a", "which?", accept=Thing, expires_seconds=0)
    ),
    "expected Thing | None": lambda: flow(Effect("a", act, key=str, lookup=find_other)),
    "its lookup gives Thing; expected Thing | None": lambda: flow(Effect("a", act, key=str, lookup=find_always)),
    "it needs the authority 'x:y'; its flow may be given: none": lambda: flow(
        Step("a", read, authority="x:y"), authority=frozenset()
    ),
}


@pytest.mark.proves("DE-07")
@pytest.mark.parametrize("said", BAD)
def test_a_bad_definition_is_refused_with_its_place_and_reason(said):
    """The message begins with the file and line of the definition."""
    with pytest.raises(BadFlow, match=re.escape(said)) as refused:
        BAD[said]()
    assert re.match(rf"{re.escape(__file__)}:\d+: (step|flow) '", str(refused.value))


@pytest.mark.proves("DE-07")
def test_a_contract_names_everything_that_a_step_declares():
    """Inputs, outputs, owner, effect class, authority, time-out, retries, attempts, what happens if unknown."""
    step = printing.contract(refund.FLOW).steps[2]
    assert (step.name, step.kind.value, step.side_effect.value) == ("refund", "effect", "write")
    assert dict(step.takes) == {"key": "str", "assess": "Proposal"}
    assert (step.gives, step.authority, step.timeout_seconds, step.max_attempts) == ("Receipt", "refunds:write", 5, 3)
    assert step.looks_up
    assert printing.how_found(step) == "look up by key"


@pytest.mark.proves("DE-15")
def test_the_manifest_changes_with_what_stored_tasks_depend_on():
    """A name, a type, an order; not a time-out."""
    digest = printing.contract(flow(Step("a", read))).digest
    assert printing.contract(flow(Step("a", read, timeout_seconds=3))).digest == digest
    assert printing.contract(flow(Step("b", read))).digest != digest
    assert printing.contract(flow(Step("a", read), Step("b", read))).digest != digest


def test_the_diagram_shows_every_step_and_what_an_unknown_outcome_leads_to():
    """Printed from the same object as the contract."""
    drawn = printing.mermaid(printing.contract(refund.FLOW))
    assert all(f"{name}" in drawn for name in ("lookup", "assess", "refund"))
    assert "refund -. unknown .-> refund_found{look up by key}" in drawn
    assert "assess -. refused .-> failed" in drawn


def test_a_question_is_part_of_the_contract_and_of_the_diagram():
    """What a person is asked for, by what it is judged, and where nobody answers."""
    found = printing.contract(inquiring.HURRIED)
    step = found.steps[1]
    assert (step.kind.value, step.gives, step.owner, step.expires_seconds) == ("question", "Address", "a person", 600)
    drawn = printing.mermaid(found)
    assert 'address[/"address: Address<br>read"/]' in drawn
    assert "address -. nobody answers in time .-> failed([failed])" in drawn
    assert printing.contract(inquiring.FLOW).steps[0].policy == "known_city"


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("nowhere", "names no flow; expected module:NAME"),
        ("no_such_module_of_ours:FLOW", "cannot be loaded"),
        ("missing.py:FLOW", "no such file"),
        (f"{refund.__file__}:NOTHING", "has no NOTHING"),
        (f"{refund.__file__}:Order", "expected a Flow"),
    ],
)
def test_a_reference_that_leads_to_no_flow_says_what_was_found(reference, said):
    """The words are for the person who wrote the setting."""
    with pytest.raises(FlowUnknown, match=re.escape(said)):
        loading.load(reference)


def test_a_bad_file_is_refused_with_its_own_line(tmp_path: Path):
    """The place is the user's file, not ours."""
    path = tmp_path / "bad.py"
    path.write_text(
        "from orchestrator.flows import Flow, Step\n\ndef f(what: int) -> int:\n    return what\n\n"
        "FLOW = Flow('a.b', version=1, steps=[Step('s', f)])\n"
    )
    with pytest.raises(FlowUnknown, match=rf"{re.escape(str(path))}:6: step 's' of a.b: f\(\) takes 'what'"):
        loading.load(f"{path}:FLOW")
