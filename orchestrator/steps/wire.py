"""A call and its answer as one line of JSON, between the worker and the process that runs the function."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from orchestrator.domain.call import Answer, Call, Part, Said

# The answer is the one line of the program that bears this; whatever else it prints is log.
MARK = "stationkeeper_step"


def pack_call(call: Call, references: tuple[str, ...]) -> bytes:
    """What the program reads on its standard input, to its end."""
    told = call._asdict() | {
        "turn_id": str(call.turn_id),
        "part": call.part.value,
        "authority": sorted(call.authority),
        "outputs": dict(call.outputs),
        "parameters": dict(call.parameters),
    }
    return json.dumps({"references": references, "call": told}).encode()


def read_call(text: bytes) -> tuple[Call, tuple[str, ...]]:
    """The call, and where its flow is found."""
    said = json.loads(text)
    told: dict[str, Any] = said["call"]
    told |= {"turn_id": UUID(told["turn_id"]), "part": Part(told["part"]), "authority": frozenset(told["authority"])}
    return Call(**told), tuple(said["references"])


def pack_answer(answer: Answer) -> bytes:
    """The answer's line."""
    told = answer._asdict() | {"said": answer.said.value, "parameters": dict(answer.parameters)}
    return json.dumps({MARK: told}).encode() + b"\n"


def read_answer(line: bytes) -> Answer | None:
    """The answer that a line is, None for any other line."""
    try:
        told = json.loads(line)[MARK]
        return Answer(**{**told, "said": Said(told["said"])})
    except (ValueError, KeyError, TypeError):
        return None
