"""The store as one process sees it: each room may have something round it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Rooms:
    """The rooms, by the names that the Store door gives them."""

    installation: str
    reconciler: Any
    workflows: Any
    items: Any
    turns: Any
    outbox: Any
    workers: Any
    workspaces: Any
    flows: Any = None
