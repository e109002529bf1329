"""What a function takes and gives, by its annotations: the typed input and output of a step."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pydantic

# What a function may ask for beside earlier steps.
INPUT, TASK, KEY, PROPOSAL = "input", "task", "key", "proposal"
RESERVED = frozenset({INPUT, TASK, KEY, PROPOSAL})


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters with their types in order, and the type of what comes back (None: `-> None`)."""

    takes: Mapping[str, Any]
    gives: Any


class Unannotated(TypeError):
    """A parameter or the result bears no type, or one that cannot be read."""


@functools.cache
def adapter(kind: Any) -> pydantic.TypeAdapter[Any]:
    """The judge of a type's values, made once."""
    return pydantic.TypeAdapter(kind)


@functools.cache
def of(function: Callable[..., Any]) -> Signature:
    """A function's signature. Raises Unannotated, naming what lacks a type."""
    try:
        hints = typing.get_type_hints(function)
    except Exception as error:  # a name in an annotation may be anything
        raise Unannotated(f"its annotations cannot be read: {error}") from error
    takes: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise Unannotated(f"it takes *{parameter.name}; expected named parameters")
        if parameter.name not in hints:
            raise Unannotated(f"its parameter {parameter.name!r} has no type")
        takes[parameter.name] = hints[parameter.name]
    if "return" not in hints:
        raise Unannotated("it does not say what it returns")
    return Signature(takes, hints["return"])


def spelt(kind: Any) -> str:
    """A type for people."""
    return getattr(kind, "__name__", None) or str(kind).replace("typing.", "")


def fits(given: Any, wanted: Any) -> bool:
    """Whether a value of type `given` may be passed where `wanted` is asked for."""
    if given == wanted or wanted is Any:
        return True
    return inspect.isclass(given) and inspect.isclass(wanted) and issubclass(given, wanted)


def without_none(kind: Any) -> Any:
    """`T` for `T | None`, anything else as it is."""
    options = [option for option in typing.get_args(kind) if option is not type(None)]
    return options[0] if len(options) == 1 and type(None) in typing.get_args(kind) else kind
