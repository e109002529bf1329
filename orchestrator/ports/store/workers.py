"""The workers as they tell of themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


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

    def beat(self, row: WorkerRow) -> None:
        """Say that the worker is alive."""
        ...

    def leave(self, worker_id: UUID) -> None:
        """Say that it has ended."""
        ...
