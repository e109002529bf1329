"""A flow whose functions run beside the turn's thread; one of them waits at a gate."""

import threading

from orchestrator.flows import Flow, Step

OPEN = threading.Event()
calls: list[str] = []


def first() -> int:
    """Says which thread it is called on."""
    calls.append("first")
    return threading.get_ident()


def second(first: int) -> int:
    """Waits until the gate is opened."""
    calls.append(f"second after {first}")
    OPEN.wait()
    return threading.get_ident()


FLOW = Flow(
    "test.beside",
    version=1,
    isolated=False,
    steps=[Step("first", first, timeout_seconds=30), Step("second", second, timeout_seconds=0.2, max_attempts=1)],
)
