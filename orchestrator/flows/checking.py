"""What is wrong with a definition: found when it is loaded, with the place and the reason, never during a task."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

import pydantic

from orchestrator.domain.step import SideEffect
from orchestrator.flows import signatures
from orchestrator.flows.signatures import INPUT, KEY, PROPOSAL, RESERVED, TASK, Signature
from orchestrator.flows.spelling import Agent, BadFlow, Decision, Effect, Flow, Node, Question, Step, program_of

_FLOW_NAME = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)*")
_STEP_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST_NAME = 60


def check(flow: Flow) -> None:
    """Refuse a flow that cannot be run. Raises BadFlow."""
    where = f"{flow.place}: flow {flow.name!r}"
    if not _is_named(flow.name, _FLOW_NAME):
        _refuse(where, "expected dotted words of small letters and digits as its name, say 'northstar.refund'")
    if not _is_number(flow.version, int) or flow.version < 1:
        _refuse(where, f"version {flow.version!r}; expected a whole number from 1")
    if not flow.steps:
        _refuse(where, "it has no steps; expected at least one")
    for limit in ("quantum_seconds", "max_concurrent", "deadline_seconds", "keep_days"):
        _positive(where, limit, getattr(flow, limit))
    for node in flow.steps:
        undo: object = node.compensation if isinstance(node, Effect) else None
        if undo is not None and not isinstance(undo, Effect):
            _refuse(_where(node), f"its compensation is {undo!r:.80}; expected an Effect, with a key of its own")
    types: dict[str, Any] = {INPUT: input_of(flow), TASK: str}
    for node in flow.steps:
        _check_node(flow, node, types)
        types[node.name] = output_of(node)
    for undo in flow.compensations:
        _check_compensation(flow, undo, types)


def input_of(flow: Flow) -> Any:
    """The type that the flow is started with: what its functions call `input`; an empty object when none does."""
    found = [
        (function, signatures.of(function).takes[INPUT])
        for node in (*flow.steps, *flow.compensations)
        for function in _functions(node)
        if INPUT in _signature(_where(node), function).takes
    ]
    for function, kind in found:
        if kind != found[0][1]:
            first, other = signatures.spelt(found[0][1]), signatures.spelt(kind)
            _refuse(f"{flow.place}: flow {flow.name!r}", f"{_named(function)} takes {other} as input, others {first}")
    return found[0][1] if found else dict[str, Any]


def output_of(node: Node) -> Any:
    """The type of what a checked node gives."""
    match node:
        case Step():
            return signatures.of(node.run).gives
        case Effect():
            return signatures.of(node.act).gives
        case _:
            return node.accept


def _check_node(flow: Flow, node: Node, types: dict[str, Any]) -> None:
    where = f"{node.place}: step {node.name!r} of {flow.name}"
    if not _is_named(node.name, _STEP_NAME):
        _refuse(where, "expected a small-letter word as its name, since functions ask for it by that name")
    if node.name in RESERVED:
        _refuse(where, f"the name is taken; expected another than {', '.join(sorted(RESERVED))}")
    if node.name in types:
        _refuse(where, "another step bears that name; expected names that are used once")
    _positive(where, "timeout_seconds", node.timeout_seconds)
    _positive(where, "max_attempts", node.max_attempts)
    match node:
        case Step():
            _check_call(where, node.run, types=types)
            if node.effect not in {SideEffect.READ, SideEffect.IDEMPOTENT_WRITE}:
                _refuse(
                    where, f"effect {node.effect.value}; what changes the world is written as an Effect, with a key"
                )
        case Decision():
            _check_decision(where, node, types)
        case Question():
            _check_question(where, node, types)
        case Effect():
            _check_effect(where, node, types)
    _check_authority(where, flow, node)


def _check_compensation(flow: Flow, undo: Effect, types: dict[str, Any]) -> None:
    """It has a name of its own, and asks for nothing that may never have run: the steps after what it undoes."""
    where = f"{undo.place}: compensation {undo.name!r} of {flow.name}"
    if undo.compensation is not None:
        _refuse(where, "it has a compensation itself; what undoes is not undone")
    if [*types, *(other.name for other in flow.compensations)].count(undo.name) > 1:
        _refuse(where, "another step or compensation bears that name; expected names that are used once")
    undone = next(node for node in flow.steps if isinstance(node, Effect) and node.compensation is undo)
    if undone.effect is SideEffect.IRREVERSIBLE:
        _refuse(where, f"{undone.name!r} is said to be irreversible; expected effect=WRITE, or no compensation")
    known = [INPUT, TASK, *(node.name for node in flow.steps[: flow.steps.index(undone) + 1])]
    _check_node(flow, undo, {name: types[name] for name in known})


def _check_decision(where: str, node: Decision, types: dict[str, Any]) -> None:
    program = program_of(node)
    if program is not None:
        _check_program(where, program, types)
    elif callable(node.agent):
        _check_call(where, node.agent, types=types)
    else:
        _refuse(where, f"its agent is {node.agent!r:.80}; expected a function, an Agent, or the kind of one")
    _check_judging(where, node, types)


def _check_question(where: str, node: Question, types: dict[str, Any]) -> None:
    asks: object = node.ask
    if not callable(asks) and not (isinstance(asks, str) and asks.strip()):
        _refuse(where, f"it asks {asks!r:.80}; expected a text, or a function that returns one")
    if callable(node.ask) and (gives := _check_call(where, node.ask, types=types).gives) is not str:
        _refuse(where, f"{_named(node.ask)} gives {signatures.spelt(gives)}; expected str, what a person is asked")
    _positive(where, "expires_seconds", node.expires_seconds)
    _check_judging(where, node, types)


def _check_judging(where: str, node: Decision | Question, types: dict[str, Any]) -> None:
    if not _is_model(node.accept):
        _refuse(where, f"accept is {node.accept!r}; expected a Pydantic model")
    if node.policy is not None:
        _check_call(where, node.policy, types={**types, PROPOSAL: node.accept})


def _check_program(where: str, program: Agent, types: dict[str, Any]) -> None:
    if not str(program.kind or "").strip():
        _refuse(where, f"its agent is of kind {program.kind!r}; expected a kind of agent, say 'command'")
    if not (_is_number(program.stall_seconds, int, float) and program.stall_seconds >= 0):
        _refuse(where, f"stall_seconds is {program.stall_seconds!r}; expected a number from 0")
    if program.prompt is not None and (gives := _check_call(where, program.prompt, types=types).gives) is not str:
        _refuse(
            where, f"{_named(program.prompt)} gives {signatures.spelt(gives)}; expected str, what the agent is asked"
        )


def _check_effect(where: str, node: Effect, types: dict[str, Any]) -> None:
    acting = {**types, KEY: str}
    gives = _check_call(where, node.act, types=acting).gives
    if not callable(node.key):
        _refuse(where, "it has no key function; expected one that gives the same text at every attempt")
    if node.effect not in {SideEffect.WRITE, SideEffect.IRREVERSIBLE, SideEffect.IDEMPOTENT_WRITE}:
        _refuse(where, "effect read; what only reads is written as a Step")
    _positive(where, "safe_seconds", node.safe_seconds)
    if node.lookup is not None:
        found = _check_call(where, node.lookup, types=acting).gives
        if signatures.without_none(found) != gives or found == gives:
            expected = f"{signatures.spelt(gives)} | None"
            _refuse(where, f"its lookup gives {signatures.spelt(found)}; expected {expected}, as the act does")


def _check_call(where: str, function: Callable[..., Any], *, types: dict[str, Any]) -> Signature:
    """Every parameter is something that is there by then, of the type that is asked for."""
    if not callable(function):
        _refuse(where, f"{function!r} is no function")
    signature = _signature(where, function)
    for name, kind in signature.takes.items():
        if name not in types:
            _refuse(where, f"{_named(function)} takes {name!r}; expected one of {', '.join(types)}")
        if not signatures.fits(types[name], kind):
            found, there = signatures.spelt(kind), signatures.spelt(types[name])
            _refuse(where, f"{_named(function)} takes {name} as {found}; it is {there}")
    try:
        for kind in (*signature.takes.values(), signature.gives):
            pydantic.TypeAdapter(kind)
    except pydantic.PydanticUserError as error:
        _refuse(where, f"{_named(function)}: {error.message}; expected types that Pydantic can check")
    return signature


def _check_authority(where: str, flow: Flow, node: Node) -> None:
    wanted = None if isinstance(node, Decision | Question) else node.authority
    if wanted is not None and flow.authority is not None and wanted not in flow.authority:
        known = ", ".join(sorted(flow.authority)) or "none"
        _refuse(where, f"it needs the authority {wanted!r}; its flow may be given: {known}")


def _signature(where: str, function: Callable[..., Any]) -> Signature:
    try:
        return signatures.of(function)
    except (signatures.Unannotated, ValueError, TypeError) as error:
        _refuse(where, f"{_named(function)}: {error}")


def _functions(node: Node) -> list[Callable[..., Any]]:
    match node:
        case Step():
            return [node.run]
        case Decision():
            program = program_of(node)
            asking = node.agent if program is None else program.prompt
            return [function for function in (asking, node.policy) if callable(function)]
        case Question():
            return [function for function in (node.ask, node.policy) if callable(function)]
        case Effect():
            return [node.act, *([node.lookup] if node.lookup is not None else [])]


def _positive(where: str, name: str, value: float | None) -> None:
    if value is not None and not (_is_number(value, int, float) and value > 0):
        _refuse(where, f"{name} is {value!r}; expected a number above 0")


def _where(node: Node) -> str:
    return f"{node.place}: step {node.name!r}"


def _is_named(name: object, words: re.Pattern[str]) -> bool:
    return isinstance(name, str) and words.fullmatch(name) is not None and len(name) <= _LONGEST_NAME


def _is_number(value: object, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _is_model(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, pydantic.BaseModel)


def _named(function: Callable[..., Any]) -> str:
    return f"{getattr(function, '__name__', function)}()"


def _refuse(where: str, what: str) -> NoReturn:
    raise BadFlow(f"{where}: {what}")
