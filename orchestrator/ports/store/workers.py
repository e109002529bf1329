"""The workers as they tell of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from orchestrator.ports.store.operators import Hand


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker as it tells of itself each second."""

    id: UUID
    host: str
    boot_id: str
    pid: int
    slots: int
    busy: int
    queues: tuple[str, ...]


class WorkerStore(Protocol):
    """The workers' rows: who is there, with how many free turn slots."""

    def beat(self, row: WorkerRow) -> bool:
        """Say that the worker is alive; True when a person wants it to hand its turns back and take no more."""
        ...

    def drain(self, name: str | None, hand: Hand) -> Mapping[UUID, str]:
        """Ask the live workers of that name (HOST or HOST:PID; None: all) to drain; returns who was asked."""
        ...

    def leave(self, worker_id: UUID) -> None:
        """Say that it has ended."""
        ...
