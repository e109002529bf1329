"""From a card that a person moves away, by writing its file, to its agent's death: with polling alone, and with a hint.

The clocks are those of an installation: the board is read with each second's ring, a worker's supervisor looks for
cancels every two seconds. The hint is what a webhook or `celery call tasks.reconcile` sends, without a program's start.
The moves come at random moments, so that none is in step with a clock. Nothing stands beside it that reads a board.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

from celery import Celery

from bench import measure, processes, sleepers
from bench.ground import Ground
from bench.measure import Line
from tests.e2e.fleet import Fleet

TITLE = "cancel: card moved to agent dead; ratio: with a hint against polling alone"
# Agents at work at any time: more than three, so that one move is never most of the fleet.
_AT_WORK = 4
_LONGEST_PAUSE_SECONDS = 1.0
_LOOK_EVERY_SECONDS = 0.005
_PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Size:
    """How many moves of each kind."""

    moves: int


FULL = Size(moves=30)
QUICK = Size(moves=2)


def run(size: Size, ground: Ground) -> list[Line]:
    """Move the cards one after another, every second one with a hint."""
    polled: list[float] = []
    hinted: list[float] = []
    with sleepers.fleet(ground, 2 * size.moves + _AT_WORK, max_agents=_AT_WORK) as fleet:
        app = Celery("bench", broker=fleet.redis_url)
        fleet.worker("turns", "--queues=turns", **sleepers.DEFAULT_CLOCKS)
        fleet.worker("control", "--queues=control,relay", **sleepers.DEFAULT_CLOCKS)
        fleet.beat()
        for place in range(1, 2 * size.moves + 1):
            hint = app if place % 2 == 0 else None
            (hinted if hint else polled).append(_measured(fleet, place, hint))
    return [_line(f"p{percent}", percent, hinted=hinted, polled=polled) for percent in (50, 99)]


def _line(name: str, percent: int, *, hinted: Sequence[float], polled: Sequence[float]) -> Line:
    ours, theirs = measure.percentile(hinted, percent), measure.percentile(polled, percent)
    return Line(
        f"{name} of {len(hinted)} moves",
        f"{measure.shown(ours)} with a hint",
        beside=f"{measure.shown(theirs)} polling",
        ratio=f"{ours / theirs:.2f}",
    )


def _measured(fleet: Fleet, place: int, hint: Celery | None) -> float:
    """Seconds from the move of the card that was begun as number `place` to its agent's death."""
    number, agent = sleepers.nth(fleet, place)
    time.sleep(random.uniform(0, _LONGEST_PAUSE_SECONDS))
    began = time.perf_counter()
    fleet.drag(number, "On Hold")
    if hint is not None:
        hint.send_task("tasks.reconcile", queue="control")
    while processes.lives(agent):
        assert time.perf_counter() - began < _PATIENCE_SECONDS, f"the agent of card {number} is still there"
        time.sleep(_LOOK_EVERY_SECONDS)
    return time.perf_counter() - began
