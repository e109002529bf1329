"""Two operations on one task, in every order of their statements: the second comes in between, wherever it can.

`test_flow_pairs` lets both wait for rows that somebody else holds; here the first is stopped after each of its own
statements in turn, and the second is made in that gap. It either waits for the first, or what both leave is what one
after the other leaves. Between the statements of one commit there is no gap that anybody could see.
"""

import threading
from collections.abc import Callable
from itertools import count, permutations
from typing import Any

import pytest

from orchestrator.store.database import Session
from orchestrator.store.exchange import Exchange
from tests.store.flow_scene import FlowScene
from tests.store.test_flow_pairs import PAIRS, Operation, all_wait, clear
from tests.waiting import until

_here = threading.local()


class Gap:
    """A place after the nth statement of a thread, where it stays until it is let go on."""

    def __init__(self, nth: int) -> None:
        """Reached by nobody yet."""
        self._left = nth
        self.reached, self.over = threading.Event(), threading.Event()

    def made(self) -> None:
        """A statement of the thread was made."""
        self._left -= 1
        if self._left == 0:
            self.reached.set()
            assert self.over.wait(30)

    def within(self, operation: Callable[[], Any]) -> Any:
        """The operation, with this gap in it."""
        _here.gap = self
        return operation()


@pytest.fixture(autouse=True)
def gaps(monkeypatch):
    """Threads with a gap stop in it."""

    def stopping(make):
        def stepped(maker, statement, values):
            found = make(maker, statement, values)
            gap = getattr(_here, "gap", None)
            if gap is not None:
                gap.made()
            return found

        return stepped

    monkeypatch.setattr(Exchange, "_ask", stopping(Exchange._ask))
    monkeypatch.setattr(Session, "_send", stopping(Session._send))


def left(flows: FlowScene, answers: list[tuple[str, Any]]) -> Any:
    """Everything that counts: what each operation answered, the statuses, the cap slots."""
    return sorted(map(str, answers)), flows.statuses()


def after(flows: FlowScene, begin: Operation, *operations: Operation) -> Any:
    """What is left when they come one after the other."""
    clear(flows)
    begin(flows)
    return left(flows, [(operation.__name__, operation(flows)) for operation in operations])


def between(flows: FlowScene, begin: Operation, one: Operation, other: Operation, *, nth: int) -> Any:
    """What is left when the other comes after the first one's nth statement; None: it has no more than that."""
    clear(flows)
    begin(flows)
    gap = Gap(nth)
    first = flows.scene.later(lambda: gap.within(lambda: one(flows)))
    until(lambda: gap.reached.is_set() or first.done(), what=f"{one.__name__} has made {nth} statements")
    if not gap.reached.is_set():
        return None
    second = flows.scene.later(lambda: other(flows))
    until(lambda: second.done() or all_wait(flows.scene, [second]), what=f"{other.__name__} waits or is over")
    gap.over.set()
    return left(flows, [(one.__name__, first.result(20)), (other.__name__, second.result(20))])


@pytest.mark.proves("DE-04", "DE-06", "DE-13", "H4", "H11", "H12")
@pytest.mark.parametrize(("begin", "one", "other"), PAIRS, ids=lambda each: each.__name__)
def test_an_operation_in_any_gap_of_another_leaves_what_one_after_the_other_would(scene, begin, one, other):
    """Each statement of each of the two is followed by the whole of the other, or makes it wait."""
    possible = [after(FlowScene(scene), begin, *order) for order in permutations((one, other))]
    for first, second in permutations((one, other)):
        for nth in count(1):
            found = between(FlowScene(scene), begin, first, second, nth=nth)
            if found is None:
                break
            words = f"{second.__name__} after statement {nth} of {first.__name__}"
            assert found in possible, f"{words}: {found} is none of {possible}"
