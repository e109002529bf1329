"""A worker's signs of life, each second: to its supervisor, to the health check's file, and to its row in Postgres.

Two threads, because the row may have to wait for a silent database while the supervisor must not take the worker for
frozen. Both are threads and not timers of Celery's loop: that loop stands still while it looks for a lost broker, and a
broker that is away must stop no agent.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from orchestrator import telemetry
from orchestrator.ports.store import StoreUnavailable
from orchestrator.supervisor.orphans import LOOK_EVERY_SECONDS, Orphans


class Pulse:
    """Runs until it is stopped; one beat that fails is followed by the next."""

    def __init__(
        self, *, seconds: float, supervisor: Callable[[], None], row: Callable[[], None], heartbeat: Path | None
    ) -> None:
        """`supervisor` and `row` are called each `seconds`; `heartbeat` is touched with the supervisor's beat."""
        self._seconds = seconds
        self._supervisor = supervisor
        self._row = row
        self._heartbeat = heartbeat
        self._stopped = threading.Event()

    def start(self) -> None:
        """Beat from now on."""
        for name, beat in (("pulse", self._beat), ("pulse-row", self._tell)):
            threading.Thread(target=self._repeat, args=(beat,), name=name, daemon=True).start()

    def stop(self) -> None:
        """Beat no more."""
        self._stopped.set()

    def _repeat(self, beat: Callable[[], None]) -> None:
        beat()
        while not self._stopped.wait(self._seconds):
            beat()

    def _beat(self) -> None:
        self._supervisor()
        if self._heartbeat is not None:
            self._heartbeat.touch()

    def _tell(self) -> None:
        try:
            self._row()
        except StoreUnavailable as error:
            telemetry.service_failed("postgres", error=error)


class Round:
    """Does one thing again and again in a thread, beside the pulse, which must not wait for it."""

    def __init__(self, name: str, act: Callable[[], object], *, seconds: float) -> None:
        """`act` is called each `seconds` and raises nothing that it knows."""
        self._name = name
        self._act = act
        self._seconds = seconds
        self._stopped = threading.Event()

    def start(self) -> None:
        """Do it once, and from then on in a thread that ends with the process."""
        self._act()
        threading.Thread(target=self._repeat, name=self._name, daemon=True).start()

    def stop(self) -> None:
        """Once more at the most."""
        self._stopped.set()

    def _repeat(self) -> None:
        while not self._stopped.wait(self._seconds):
            self._act()


def reap_orphans() -> None:
    """As pid 1 of a container without an init: reap whoever has nobody else, for as long as this process lives."""
    if os.getpid() == 1:
        Round("orphans", Orphans().look, seconds=LOOK_EVERY_SECONDS).start()
