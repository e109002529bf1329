"""Calls one function of one step, and says what came of it. The only place where a user's code is called.

It runs in a process of its own, or in a thread of the worker: this file does not know. Whatever the function does short
of ending the process becomes an answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pydantic
import pydantic_core

from orchestrator.domain.call import Answer, Call, Part, Said
from orchestrator.flows import checking, proposals, signatures
from orchestrator.flows.signatures import INPUT, KEY, PROPOSAL, TASK
from orchestrator.flows.spelling import Decision, Effect, Flow, Node, NotSent, Question, Refused, Step, program_of

# An output is a row that every later step reads; what is larger belongs into a file, and its name into the output.
MOST_BYTES = 512 * 1024
_MOST_REASON = 2_000
# What takes few bytes whatever its value, and how many bits a whole number may have to do so, too.
_SMALL, _BITS = frozenset({type(None), bool, float}), 64


class State:
    """What a key is derived from: `task`, `input`, earlier outputs by name, and the input's own fields."""

    def __init__(self, task: str, given: Any, outputs: Mapping[str, Any]) -> None:
        """All values are typed already."""
        self.task, self.input, self._outputs = task, given, outputs

    def __getattr__(self, name: str) -> Any:
        """An earlier step's output, else a field of the input. Raises AttributeError."""
        if name in self._outputs:
            return self._outputs[name]
        if isinstance(self.input, Mapping) and name in self.input:
            return self.input[name]
        return getattr(self.input, name)


def perform(flow: Flow, call: Call, *, boot_seconds: Callable[[], float]) -> Answer:
    """Make the call. Never raises, whatever the function does."""
    try:
        node = flow.step(call.step)
    except LookupError as error:
        return Answer(Said.FAILED, reason=_told(error))
    known = _Known(flow, call)
    match node, call.part:
        case Step(), Part.RUN:
            return _run(node, known)
        case Decision(), Part.DECIDE if callable(node.agent):
            return _decide(node, known, call.authority)
        case Decision(), Part.PROMPT:
            return _prompt(node, known)
        case Decision(), Part.JUDGE:
            return _judge_left(node, known, call)
        case Question(), Part.QUESTION | Part.ANSWER:
            return _question(node, known, call)
        case Effect(), Part.PREPARE:
            return _prepare(node, known, call)
        case Effect(), Part.ACT:
            return _act(node, call, boot_seconds)
        case Effect(), Part.LOOK_UP if node.lookup is not None:
            return _look_up(node, known, call)
        case _:
            return Answer(Said.FAILED, reason=f"step {call.step!r} has nothing to {call.part.value}")


def _run(node: Step, known: Mapping[str, Any]) -> Answer:
    try:
        output = node.run(**_arguments(node.run, known))
    except BaseException as error:  # noqa: BLE001 -- a function may raise anything
        return _failure(node, error)
    return _output(node, output)


def _decide(node: Decision, known: _Known, authority: frozenset[str]) -> Answer:
    """A function stands for the agent."""
    assert callable(node.agent)  # noqa: S101 -- the caller has looked
    try:
        raw = node.agent(**_arguments(node.agent, known))
    except BaseException as error:  # noqa: BLE001 -- a function may raise anything
        return _failure(node, error)
    return _judge(node, raw, known, authority=authority)


def _prompt(node: Decision, known: Mapping[str, Any]) -> Answer:
    """What an agent program is asked: the flow's own words, what is known, and how to answer."""
    program = program_of(node)
    own = program.prompt if program is not None else None
    try:
        words = own(**_arguments(own, known)) if own is not None else proposals.described(_plainly(known))
        text = proposals.asked(words, pydantic.TypeAdapter(node.accept).json_schema())
        _fit(len(text.encode()))
    except BaseException as error:  # noqa: BLE001 -- a function may raise anything
        return _failure(node, error)
    return Answer(Said.DONE, text)


def _judge_left(node: Decision, known: _Known, call: Call) -> Answer:
    """What an agent program left as its proposal."""
    folder, summary = Path(str(call.parameters["folder"])), str(call.parameters["summary"])
    try:
        raw = proposals.left(folder, summary, at_most=MOST_BYTES)
    except ValueError as error:
        return Answer(Said.REFUSED, reason=f"schema: {_told(error)}")
    return _judge(node, raw, known, authority=call.authority)


def _question(node: Question, known: _Known, call: Call) -> Answer:
    """What a person reads, or the judgement of what they answered."""
    if call.part is Part.ANSWER:
        return _judge(node, call.parameters["answer"], known, authority=call.authority)
    try:
        words = node.ask(**_arguments(node.ask, known)) if callable(node.ask) else node.ask
    except BaseException as error:  # noqa: BLE001 -- a function may raise anything
        return _failure(node, error)
    if not isinstance(words, str) or not words.strip() or len(words) > _MOST_REASON:
        return Answer(
            Said.FAILED, reason=f"it asks {words!r:.80}; expected a text of at most {_MOST_REASON} characters"
        )
    return Answer(Said.DONE, words.strip())


def _judge(node: Decision | Question, raw: object, known: _Known, *, authority: frozenset[str]) -> Answer:
    """Schema, authority, policy with the current state; the first that says no is the reason."""
    try:
        proposal = _accepted(node.accept, raw)
    except (pydantic.ValidationError, ValueError, TypeError) as error:
        return Answer(Said.REFUSED, reason=f"schema: {_told(error)}")
    try:
        needed = node.needs(proposal) if isinstance(node, Decision) and node.needs is not None else None
        if needed is not None and needed not in authority:
            given = ", ".join(sorted(authority)) or "nothing"
            return Answer(Said.REFUSED, reason=f"authority: it needs {needed!r}; the task was given {given}")
        told = known.plus(PROPOSAL, proposal)
        objection = node.policy(**_arguments(node.policy, told)) if node.policy is not None else None
    except BaseException as error:  # noqa: BLE001 -- a function may raise anything
        return _failure(node, error)
    if objection:
        return Answer(Said.REFUSED, reason=f"policy: {str(objection)[:_MOST_REASON]}")
    return _output(node, proposal)


def _prepare(node: Effect, known: Mapping[str, Any], call: Call) -> Answer:
    """The key, and the exact parameters: from here on they come from the ledger."""
    try:
        outputs = {name: value for name, value in known.items() if name not in {INPUT, TASK}}
        key: object = node.key(State(call.task, known.get(INPUT), outputs))
        takes = {name: kind for name, kind in signatures.of(node.act).takes.items() if name != KEY}
        parameters = {name: _plain(kind, known[name]) for name, kind in takes.items()}
    except BaseException as error:  # noqa: BLE001 -- a function may raise anything
        return _failure(node, error)
    if not isinstance(key, str) or not key or len(key) > _MOST_REASON:
        return Answer(Said.FAILED, reason=f"its key is {key!r:.80}; expected a text")
    if (size := len(json.dumps(parameters))) > MOST_BYTES:
        return Answer(Said.FAILED, reason=f"its parameters take {size} bytes; expected at most {MOST_BYTES}")
    return Answer(Said.DONE, key=key, parameters=parameters)


def _act(node: Effect, call: Call, boot_seconds: Callable[[], float]) -> Answer:
    """The act. Its deadline is checked right before it; whatever it raises but two words leaves the outcome unknown."""
    try:
        takes = signatures.of(node.act).takes
        arguments = {name: _typed(kind, call.parameters[name]) for name, kind in takes.items() if name != KEY}
        if KEY in takes:
            arguments[KEY] = call.key
    except Exception as error:  # noqa: BLE001 -- the ledger's parameters may not fit a changed function
        return Answer(Said.NOT_SENT, reason=_told(error))
    if call.send_before is not None and boot_seconds() >= call.send_before:
        return Answer(Said.NOT_SENT, reason="its deadline had passed before it was sent")
    try:
        output = node.act(**arguments)
    except Refused as error:
        return Answer(Said.REFUSED, reason=_told(error))
    except NotSent as error:
        return Answer(Said.NOT_SENT, reason=_told(error))
    except BaseException as error:  # noqa: BLE001 -- a function may raise anything
        return Answer(Said.UNKNOWN, reason=_told(error))
    answer = _output(node, output)
    return answer if answer.said is Said.DONE else Answer(Said.UNKNOWN, reason=answer.reason)


def _look_up(node: Effect, known: Mapping[str, Any], call: Call) -> Answer:
    """What the target says about the key; whoever cannot be read has said nothing."""
    assert node.lookup is not None  # noqa: S101 -- the caller has looked
    try:
        takes = signatures.of(node.lookup).takes
        there = {
            **known,
            **{name: _typed(takes[name], call.parameters[name]) for name in takes if name in call.parameters},
        }
        found = node.lookup(**_arguments(node.lookup, {**there, KEY: call.key}))
    except BaseException as error:  # noqa: BLE001 -- a function may raise anything
        return Answer(Said.UNKNOWN, reason=_told(error))
    if found is None:
        return Answer(Said.ABSENT)
    answer = _output(node, found)
    return answer if answer.said is Said.DONE else Answer(Said.UNKNOWN, reason=answer.reason)


class _Known(Mapping[str, Any]):
    """Everything that a function may ask for, as its types have it: made when it is asked for, since few ask for all.

    Raises what a type says of a stored value that does not fit.
    """

    __slots__ = ("_call", "_flow", "_more")

    def __init__(self, flow: Flow, call: Call, more: Mapping[str, Any] | None = None) -> None:
        self._flow, self._call, self._more = flow, call, more or {}

    def plus(self, name: str, value: object) -> _Known:
        """The same, and this."""
        return _Known(self._flow, self._call, {**self._more, name: value})

    def __getitem__(self, name: str) -> Any:
        if name in self._more:
            return self._more[name]
        if name == TASK:
            return self._call.task
        if name == INPUT:
            return _typed(self._flow.takes, self._call.input)
        if name not in self._call.outputs:
            raise KeyError(name)
        return _typed(checking.output_of(self._flow.step(name)), self._call.outputs[name])

    def __iter__(self) -> Iterator[str]:
        yield from (TASK, INPUT, *self._more)
        yield from (node.name for node in self._flow.steps if node.name in self._call.outputs)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _arguments(function: Callable[..., Any], known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: known[name] for name in signatures.of(function).takes}


def _accepted(model: Any, raw: object) -> Any:
    """A model's words as a proposal. Raises ValueError or pydantic.ValidationError."""
    if isinstance(raw, str | bytes):
        if len(raw) > MOST_BYTES:
            raise ValueError(f"{len(raw)} characters; expected at most {MOST_BYTES}")
        return pydantic.TypeAdapter(model).validate_json(raw)
    return _typed(model, raw)


def _output(node: Node, output: object) -> Answer:
    """A value as declared, or what is wrong with it."""
    try:
        judge = signatures.adapter(checking.output_of(node))
        value: object = judge.serializer.to_python(judge.validator.validate_python(output), mode="json")
        if not _is_small(value):
            _fit(len(json.dumps(value)))
        ends = node.ends_when(judge.validator.validate_python(output)) if node.ends_when is not None else None
    except BaseException as error:  # noqa: BLE001 -- a validator or `ends_when` may raise anything
        return Answer(Said.FAILED, reason=f"it did not return what it declared: {_told(error)}")
    return Answer(Said.DONE, value, ends=str(ends)[:_MOST_REASON] if ends else None)


def _is_small(value: object) -> bool:
    """Whether it is seen at a glance that it fits."""
    return type(value) in _SMALL or (type(value) is int and value.bit_length() <= _BITS)


def _fit(size: int) -> None:
    if size > MOST_BYTES:
        raise ValueError(f"{size} bytes; expected at most {MOST_BYTES}: keep it in a file and return its name")


def _failure(node: Node, error: BaseException) -> Answer:
    retried = () if isinstance(node, Effect) else node.retry_on
    return Answer(Said.TRY_AGAIN if isinstance(error, retried) else Said.FAILED, reason=_told(error))


def _plainly(known: Mapping[str, Any]) -> dict[str, object]:
    return {name: pydantic_core.to_jsonable_python(value) for name, value in known.items()}


def _typed(kind: Any, value: object) -> Any:
    return signatures.adapter(kind).validator.validate_python(value)


def _plain(kind: Any, value: object) -> object:
    return signatures.adapter(kind).serializer.to_python(value, mode="json")


def _told(error: BaseException) -> str:
    """An exception for people, short: its kind and its words."""
    if isinstance(error, pydantic.ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return f"{place + ': ' if place else ''}{first['msg']}"[:_MOST_REASON]
    return f"{type(error).__name__}: {error}"[:_MOST_REASON]
