"""Celery's application with a tripwire across every door: `celery -A tests.faults.app worker`.

Production code holds no hook: the wiring that opens the doors is wrapped here, before any process asks for it. What
is to happen stands in the file that FAULT names: `{"id": …, "seam": "flows.intend", "nth": 1, "mode": "after"}`. It
happens once, in whichever process meets the seam first; with a `record` beside it, every seam that is met is written
down there instead.
"""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orchestrator import wiring
from orchestrator.celery import app
from orchestrator.domain.call import Answer, Part, Said
from orchestrator.ports import Ports
from orchestrator.ports.store import StoreUnavailable

__all__ = ["app"]

ROOMS = ("reconciler", "items", "turns", "flows")


@dataclass(slots=True)
class Wire:
    """Counts the calls of this process by name, from the moment at which a fault was ordered."""

    order: Path
    ordered: str = ""
    counts: Counter[str] = field(default_factory=Counter)

    def pass_through(self, name: str, do: Callable[[], Any], *, lost: Callable[[], Any]) -> Any:
        """One call, and what was ordered for it."""
        fault = self._fault()
        if fault is None:
            return do()
        if fault["id"] != self.ordered:
            self.ordered = fault["id"]
            self.counts.clear()
        self.counts[name] += 1
        if "record" in fault:
            with Path(fault["record"]).open("a", encoding="utf-8") as log:
                log.write(f"{name} {self.counts[name]}\n")
            return do()
        if (name, self.counts[name]) != (fault["seam"], fault["nth"]) or not self._take():
            return do()
        if fault["mode"] != "before":
            do()
        if fault["mode"] == "lost":
            return lost()
        os.kill(os.getpid(), signal.SIGKILL)
        return signal.pause()

    def _fault(self) -> dict[str, Any] | None:
        try:
            return json.loads(self.order.read_text())  # type: ignore[no-any-return]
        except (OSError, ValueError):
            return None

    def _take(self) -> bool:
        """Whether it is ours to do: of all processes one renames the order."""
        try:
            self.order.rename(self.order.with_suffix(".done"))
        except FileNotFoundError:
            return False
        return True


@dataclass(slots=True)
class Wired:
    """A door with the wire across it; what is no method passes."""

    wire: Wire
    name: str
    behind: Any

    def __getattr__(self, attribute: str) -> Any:
        """The door's own attribute, a method with the wire across it."""
        found = getattr(self.behind, attribute)
        if not callable(found) or attribute.startswith("_"):
            return found

        def call(*values: Any, **named: Any) -> Any:
            name = f"{self.name}.{attribute}"
            return self.wire.pass_through(name, lambda: found(*values, **named), lost=lambda: _lost(self.name, values))

        return call


@dataclass(slots=True)
class WiredStore:
    """The store, some of its rooms wired."""

    wire: Wire
    behind: Any

    def __getattr__(self, attribute: str) -> Any:
        """A room, or anything else of the store."""
        found = getattr(self.behind, attribute)
        return Wired(self.wire, attribute, found) if attribute in ROOMS else found


def _lost(door: str, values: tuple[Any, ...]) -> Any:
    """The answer is lost: a service is away, or of an act nobody knows."""
    if door == "steps":
        unknown = values[0].part in {Part.ACT, Part.LOOK_UP}
        return Answer(Said.UNKNOWN if unknown else Said.TRY_AGAIN, reason="the answer was lost")
    raise StoreUnavailable("the answer was lost")


def _wired(ports: Ports, order: Path) -> Ports:
    wire = Wire(order)
    return replace(
        ports,
        store=WiredStore(wire, ports.store),  # type: ignore[arg-type]
        queue=Wired(wire, "queue", ports.queue),  # type: ignore[arg-type]
        steps=Wired(wire, "steps", ports.steps),  # type: ignore[arg-type]
    )


if "FAULT" in os.environ:
    _open = wiring.open_ports
    wiring.open_ports = lambda *values, **named: _wired(_open(*values, **named), Path(os.environ["FAULT"]))
