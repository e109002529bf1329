"""Names derived from an item: folders, branches, comment keys. Never random, never with a fence or an attempt."""

from __future__ import annotations

import hashlib
import re

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
# ext4 and APFS allow 255 bytes for a name; the rest is left for a suffix such as `.lock`.
MAX_KEY_BYTES = 200
# 16 hex digits are the 64 bits that Symphony's rule asks for (WS-02).
_HASH_DIGITS = 16


class UnsafeIdentifier(ValueError):
    """An identifier cannot name a folder: it must not be empty, `.`, `..` or longer than 200 bytes."""


def workspace_key(identifier: str) -> str:
    """The folder name of an item's workspace (WS-01 to WS-03).

    An identifier that needs no cleaning keeps its plain name; any other gets a hash of the original behind it, so that
    two which collapse to one text still get two folders. Raises UnsafeIdentifier.
    """
    if identifier in {"", ".", ".."} or len(identifier.encode()) > MAX_KEY_BYTES:
        raise UnsafeIdentifier(identifier)
    safe = _UNSAFE.sub("_", identifier)
    return safe if safe == identifier else f"{safe}-{_digest(identifier)}"


def branch_name(pattern: str, identifier: str) -> str:
    """The item's branch: `pattern` (say `stationkeeper/{key}`) with the workspace key put in."""
    return pattern.replace("{key}", workspace_key(identifier))


def status_comment_key(installation: str) -> str:
    """The hidden key of the one status comment that this installation keeps on a card."""
    return f"{installation}:status"


def hold_comment_key(installation: str, hold_id: str) -> str:
    """The hidden key of the one comment that announces a hold."""
    return f"{installation}:hold:{hold_id}"


def lease_key(scope: str, item_id: str) -> str:
    """The Redis key of an item's lease."""
    return f"stationkeeper:lease:{_digest(scope)}:{item_id}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]
