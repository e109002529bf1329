"""A flow for people and for the record: its contract as data, as a table, as a diagram; all from the same object."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pydantic

from orchestrator.domain.step import FlowContract, NodeKind, Proposer, SideEffect, StepContract
from orchestrator.domain.workflow import AgentSettings
from orchestrator.flows import checking, signatures
from orchestrator.flows.signatures import Signature
from orchestrator.flows.spelling import Decision, Effect, Flow, Function, Node, Question, Step, program_of


def contract(flow: Flow) -> FlowContract:
    """The flow as data; `body` is its text and `digest` the fingerprint of that text."""
    undoing = {undo.name: number for number, undo in enumerate(flow.compensations, start=len(flow.steps) + 1)}
    steps = tuple(_step(node, ordinal, undoing) for ordinal, node in enumerate(flow.steps, start=1))
    body = json.dumps(_described(flow, steps), indent=2, sort_keys=True)
    both = (*steps, *(step.compensation for step in steps if step.compensation is not None))
    asked = frozenset(step.authority for step in both if step.authority is not None)
    return FlowContract(
        name=flow.name,
        version=flow.version,
        owner=flow.owner,
        takes=signatures.spelt(checking.input_of(flow)),
        steps=steps,
        authority=asked if flow.authority is None else frozenset(flow.authority),
        isolated=flow.isolated,
        deadline_seconds=flow.deadline_seconds,
        quantum_seconds=flow.quantum_seconds,
        max_concurrent=flow.max_concurrent,
        keep_days=flow.keep_days,
        digest=hashlib.sha256(body.encode()).hexdigest()[:16],
        body=body,
        place=flow.place,
    )


def mermaid(found: FlowContract) -> str:
    """The flow as a Mermaid diagram: boxes by kind, arrows in order, dotted where an outcome may be unknown."""
    return "\n".join(["flowchart TD", *(f"    {line}" for line in _lines(found))])


def _lines(found: FlowContract) -> Iterator[str]:
    yield f"start([{found.takes}])"
    before = "start"
    for step in found.steps:
        left, right = _SHAPES[step.kind]
        yield f'{step.name}{left}"{step.name}: {step.gives}<br>{step.side_effect.value}"{right}'
        yield f"{before} --> {step.name}"
        if step.kind is NodeKind.EFFECT:
            yield f"{step.name} -. unknown .-> {step.name}_found{{{how_found(step)}}}"
            yield f"{step.name}_found -. absent .-> {step.name}"
        if step.kind is NodeKind.DECISION:
            yield f"{step.name} -. refused .-> failed([failed])"
        if step.kind is NodeKind.QUESTION:
            yield f"{step.name} -. nobody answers in time .-> failed([failed])"
        if step.compensation is not None:
            undo = step.compensation
            yield f'{undo.name}[["{undo.name}: {undo.gives}<br>{undo.side_effect.value}"]]'
            yield f"{step.name} -. a later failure .-> {undo.name}"
            yield f"{undo.name} --> failed([failed])"
        if step.ends_when is not None:
            yield f"{step.name} -- {step.ends_when} --> succeeded"
        before = step.name
    yield f"{before} --> succeeded([succeeded])"


_SHAPES = {
    NodeKind.STEP: ("[", "]"),
    NodeKind.DECISION: ("{{", "}}"),
    NodeKind.EFFECT: ("[[", "]]"),
    NodeKind.QUESTION: ("[/", "/]"),
}


def how_found(step: StepContract) -> str:
    """By what an outcome that nobody knows is found out."""
    if step.looks_up:
        return "look up by key"
    return "send again, same key" if step.deduplicates else "a person"


def _step(node: Node, ordinal: int, undoing: Mapping[str, int]) -> StepContract:
    function, side_effect, kind = _called(node)
    undo = node.compensation if isinstance(node, Effect) else None
    return StepContract(
        ordinal=ordinal,
        name=node.name,
        kind=kind,
        side_effect=side_effect,
        owner=node.owner,
        takes=_spelt(signatures.of(function)) if function is not None else {},
        gives=signatures.spelt(checking.output_of(node)),
        authority=None if isinstance(node, Decision | Question) else node.authority,
        timeout_seconds=node.timeout_seconds,
        max_attempts=node.max_attempts,
        retryable=() if isinstance(node, Effect) else tuple(kind.__name__ for kind in node.retry_on),
        ends_when=_name(node.ends_when),
        looks_up=isinstance(node, Effect) and node.lookup is not None,
        deduplicates=isinstance(node, Effect) and node.deduplicates,
        safe_seconds=node.safe_seconds if isinstance(node, Effect) else 86_400.0,
        compensation=_step(undo, undoing[undo.name], undoing) if undo is not None else None,
        policy=_name(node.policy) if isinstance(node, Decision | Question) else None,
        proposer=_proposer(node),
        expires_seconds=node.expires_seconds if isinstance(node, Question) else None,
    )


def _proposer(node: Node) -> Proposer | None:
    program = program_of(node)
    if program is None:
        return None
    settings = AgentSettings(
        kind=program.kind,
        command=program.command,
        turn_timeout_ms=int(node.timeout_seconds * 1000),
        stall_timeout_ms=int(program.stall_seconds * 1000),
        env=program.env,
        options=program.options,
    )
    return Proposer(settings)


def _called(node: Node) -> tuple[Function | None, SideEffect, NodeKind]:
    match node:
        case Step():
            return node.run, node.effect, NodeKind.STEP
        case Decision():
            program = program_of(node)
            asking = program.prompt if program is not None else node.agent
            return asking if callable(asking) else None, SideEffect.READ, NodeKind.DECISION
        case Question():
            return node.ask if callable(node.ask) else None, SideEffect.READ, NodeKind.QUESTION
        case Effect():
            return node.act, node.effect, NodeKind.EFFECT


def _described(flow: Flow, steps: tuple[StepContract, ...]) -> dict[str, object]:
    """What a stored task depends on: names, order, types and promises; not the text of functions, nor their place."""
    return {
        "flow": flow.name,
        "version": flow.version,
        "input": _schema(checking.input_of(flow)),
        "steps": [_described_step(flow, step) for step in steps],
    }


def _described_step(flow: Flow, step: StepContract) -> dict[str, object]:
    asked = {"agent": step.proposer.agent.kind} if step.proposer is not None else {}
    return {
        **asked,
        "name": step.name,
        "kind": step.kind.value,
        "side_effect": step.side_effect.value,
        "takes": dict(step.takes),
        "gives": _schema(checking.output_of(flow.step(step.name))),
        "authority": step.authority,
        "looks_up": step.looks_up,
        "deduplicates": step.deduplicates,
        "policy": step.policy,
        "compensation": _described_step(flow, step.compensation) if step.compensation is not None else None,
    }


def _schema(kind: Any) -> object:
    return pydantic.TypeAdapter(kind).json_schema()


def _spelt(signature: Signature) -> dict[str, str]:
    return {name: signatures.spelt(kind) for name, kind in signature.takes.items()}


def _name(function: object) -> str | None:
    return None if function is None else str(getattr(function, "__name__", function)).strip("<>")
