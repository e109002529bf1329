"""`$VAR`, `~` and relative paths: what stands in the file as written is resolved here, where it is used.

A value that came from the environment is never looked at again: a secret may hold a dollar sign.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

# Only at the start: `https://host/$path` and the shell's own variables in a command are not ours to touch.
_LEADING = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
# A token is often put together from parts, and holds nothing but itself.
_EXPANDED_WHOLE = frozenset({"api_key"})


class Unresolved(Exception):
    """What a workflow names cannot be found on this host; the message says what, and what to do."""


def resolve(value: str, environment: Mapping[str, str]) -> str:
    """The value, with a variable at its start replaced. Raises Unresolved."""
    found = _LEADING.match(value)
    return _of(found, environment) + value[found.end() :] if found else value


def resolve_options(options: Mapping[str, object], environment: Mapping[str, str]) -> dict[str, object]:
    """An adapter's options, ready for its `connect`: every text resolved, the API key throughout. Raises Unresolved."""
    return {name: _option(name, value, environment) for name, value in options.items()}


def resolve_path(value: str, environment: Mapping[str, str], *, folder: Path) -> Path:
    """An absolute path: `$VAR` or `~` at its start replaced, a relative one seen from `folder`. Raises Unresolved."""
    named = resolve(value, environment)
    try:
        return (folder / Path(named).expanduser()).resolve()
    except (RuntimeError, ValueError, OSError) as error:  # nobody's home, a NUL byte, a circle of links
        raise Unresolved(f"{named!r} is not a path on this host ({error}); write one that is") from error


def _option(name: str, value: object, environment: Mapping[str, str]) -> object:
    if not isinstance(value, str):
        return value
    try:
        if name in _EXPANDED_WHOLE:
            return _LEADING.sub(lambda found: _of(found, environment), value)
        return resolve(value, environment)
    except Unresolved as error:
        raise Unresolved(f"{name}: {error}") from error


def _of(found: re.Match[str], environment: Mapping[str, str]) -> str:
    name = found[1] or found[2]
    value = environment.get(name)
    if not value:
        raise Unresolved(
            f"${name} is not set or is empty in this process's environment; set it, or write the value out"
        )
    return value
