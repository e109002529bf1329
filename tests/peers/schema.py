"""As much of JSON Schema as the schemas need that Codex prints of its protocol: whether a message is one of theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "null": lambda value: value is None,
}


def fits(value: Any, schema: Any, whole: Mapping[str, Any]) -> bool:
    """Whether the value fits the schema; references are looked up in the whole document."""
    if isinstance(schema, bool):
        return schema
    if "$ref" in schema and not fits(value, _found(schema["$ref"], whole), whole):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "type" in schema and not _is_typed(value, schema["type"]):
        return False
    if not all(fits(value, each, whole) for each in schema.get("allOf", [])):
        return False
    for some in ("anyOf", "oneOf"):
        if some in schema and not any(fits(value, each, whole) for each in schema[some]):
            return False
    if isinstance(value, list):
        return all(fits(each, schema.get("items", True), whole) for each in value)
    return not isinstance(value, dict) or _object_fits(value, schema, whole)


def _object_fits(value: Mapping[str, Any], schema: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:
    known, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
    return all(name in value for name in schema.get("required", [])) and all(
        fits(each, known.get(name, rest), whole) for name, each in value.items()
    )


def _is_typed(value: Any, types: str | list[str]) -> bool:
    return any(TYPES[name](value) for name in ([types] if isinstance(types, str) else types))


def _found(reference: str, whole: Mapping[str, Any]) -> Any:
    found: Any = whole
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found
