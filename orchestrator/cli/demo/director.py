"""What happens during the run, and when: the hand, the lost worker, the emptied Redis, the doubled messages.

Each moment waits for something that can be seen from outside, never for a time; together they have a limit. A moment
that never came is evidence too: a demo whose trouble did not happen has shown nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from orchestrator.cli.demo import evidence, hand
from orchestrator.cli.demo.evidence import CardSeen, Outcome, Run
from orchestrator.cli.demo.hand import Moved
from orchestrator.cli.demo.scene import AGENT, Scene

# All of it takes about 40 s on two cores; a run that needs longer is broken, and a person waits no longer.
LIMIT_SECONDS = 75.0

# Between two looks: what a person would call at once.
LOOK_EVERY_SECONDS = 0.1

# So long nothing may happen after the last card is finished: two ticks, in which a doubled message could start work.
QUIET_SECONDS = 2.5

# A run is in mid-turn after this many of its steps.
MID_TURN_STEPS = 2

# Of the `scene.STEPS` that a card takes. Later than this an agent may end in the moment of the kill, before its turn is
# concluded, and its work is then rightly begun again: true, but no demonstration.
LATEST_STEP_AT_KILL = 10


class Stagehands(Protocol):
    """What can be done to the running system from outside."""

    def empty_redis(self) -> None:
        """FLUSHALL."""
        ...

    def kill_worker(self) -> str:
        """SIGKILL the worker that takes turns and start a new one; a sentence that says so."""
        ...

    def deliver_again(self, run: Run) -> None:
        """Publish the message of a turn once more."""
        ...

    def revive(self) -> Sequence[str]:
        """Start again what died by itself; a sentence for each."""
        ...


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen in one look, for whoever shows it. `said` are the sentences that are new since the last one."""

    seconds: float
    board: Mapping[str, CardSeen]
    runs: Sequence[Run]
    said: Sequence[str]


@dataclass(slots=True)
class Told:
    """The story so far."""

    moved: list[Moved] = field(default_factory=list)
    doubled: set[tuple[str, int]] = field(default_factory=set)
    killed_at: float | None = None
    cut_short: set[int] = field(default_factory=set)
    waiting: list[Moment] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happens once, when its condition holds and every moment before it has happened."""

    name: str
    due: Callable[[Look], bool]
    act: Callable[[], str]


def direct(scene: Scene, stagehands: Stagehands, show: Callable[[Look], None]) -> Outcome:
    """Run the story to its end or its limit, showing every look; bounded by `LIMIT_SECONDS`."""
    told = Told()
    told.waiting = moments(scene, stagehands, told)
    began, quiet_since = time.monotonic(), None
    while (seconds := time.monotonic() - began) < LIMIT_SECONDS:
        look = take_look(scene, seconds, [*stagehands.revive(), *_double(told, stagehands, scene)])
        happened = _next_moment(told, look)
        ends_badly = _cut_short(told, look)
        show(Look(seconds, look.board, look.runs, [*look.said, *happened]))
        if ends_badly:
            break
        if told.waiting or not finished(scene, look, told.moved):
            quiet_since = None
        elif quiet_since is None:
            quiet_since = seconds
        elif seconds - quiet_since > QUIET_SECONDS:
            return Outcome(told.moved, told.killed_at)
        time.sleep(LOOK_EVERY_SECONDS)
    late = () if told.waiting else ("all cards finished",)
    return Outcome(told.moved, told.killed_at, [*(moment.name for moment in told.waiting), *late])


def moments(scene: Scene, stagehands: Stagehands, told: Told) -> list[Moment]:
    """The story: a person, then a person again, then Redis, then the worker."""
    closed, dragged, *others = [card.id for card in scene.board.cards]
    columns = scene.board.columns

    def by_hand(item: str, status: str) -> str:
        told.moved.append(hand.move(scene.board, item, status))
        return f"a person moves {item} to {status!r} in mid-turn"

    def emptied() -> str:
        stagehands.empty_redis()
        return "Redis is emptied (FLUSHALL)"

    def killed() -> str:
        told.killed_at = time.time()
        return stagehands.kill_worker()

    return [
        Moment(
            "a person closes a card",
            lambda look: in_mid_turn(look, [closed]),
            lambda: by_hand(closed, columns.terminal),
        ),
        Moment(
            "a person drags a card", lambda look: in_mid_turn(look, [dragged]), lambda: by_hand(dragged, columns.aside)
        ),
        Moment(
            "Redis is emptied", lambda look: stopped(look, [closed, dragged]) and in_mid_turn(look, others), emptied
        ),
        Moment(
            "the worker is killed",
            lambda look: in_mid_turn(look, others) and not any_is_ending(look, others, columns.handoff),
            killed,
        ),
    ]


def take_look(scene: Scene, seconds: float, said: Sequence[str]) -> Look:
    """The board's files and the agents' log as they are now."""
    lines = scene.witness.read_text(encoding="utf-8").splitlines()
    return Look(seconds, evidence.board(scene), evidence.runs(lines), said)


def in_mid_turn(look: Look, items: Sequence[str]) -> bool:
    """Whether an agent is in the middle of its work on one of `items`."""
    return any(run.item in items and run.steps >= MID_TURN_STEPS and not run.ended and alive(run) for run in look.runs)


def any_is_ending(look: Look, items: Sequence[str], handoff: str) -> bool:
    """Whether an agent on one of `items` is near its end, or has ended and its card does not show it yet."""
    for run in look.runs:
        card = look.board.get(run.item)
        is_shown = card is not None and card.status.casefold() == handoff.casefold()
        if run.item in items and not is_shown and (run.ended or (alive(run) and run.steps > LATEST_STEP_AT_KILL)):
            return True
    return False


def stopped(look: Look, items: Sequence[str]) -> bool:
    """Whether no agent is on any of `items`."""
    return not any(run.item in items and alive(run) for run in look.runs)


def alive(run: Run) -> bool:
    """Whether the run's process is still there: its number may be another's by now, its command line is not."""
    try:
        return AGENT.encode() in Path(f"/proc/{run.pid}/cmdline").read_bytes()
    except OSError:
        return False


def finished(scene: Scene, look: Look, moved: Sequence[Moved]) -> bool:
    """Whether every card that is left to the fleet stands in review with a comment, and no agent is at work."""
    taken = {move.item for move in moved}
    for card in scene.board.cards:
        seen = look.board.get(card.id)
        if card.id not in taken and not (seen and seen.status == scene.board.columns.handoff and seen.comments):
            return False
    return not any(alive(run) for run in look.runs)


def _double(told: Told, stagehands: Stagehands, scene: Scene) -> list[str]:
    """Deliver the message of every turn in its middle a second time."""
    lines = scene.witness.read_text(encoding="utf-8").splitlines()
    fresh = [run for run in evidence.runs(lines) if run.steps >= 1 and (run.turn, run.fence) not in told.doubled]
    for run in fresh:
        stagehands.deliver_again(run)
        told.doubled.add((run.turn, run.fence))
    return [f"{run.item}: the message of turn {run.turn[:8]} fence {run.fence} is delivered again" for run in fresh]


def _cut_short(told: Told, look: Look) -> bool:
    """Whether an agent is gone that nobody stopped; seen twice, since one may have ended between two readings."""
    taken = {move.item for move in told.moved}
    gone = (run for run in look.runs if run.item not in taken and not alive(run))
    fallen = {run.pid for run in evidence.cut_short(gone, told.killed_at)}
    seen_before, told.cut_short = told.cut_short, fallen
    return not told.waiting and bool(fallen & seen_before)


def _next_moment(told: Told, look: Look) -> list[str]:
    if told.waiting and told.waiting[0].due(look):
        return [told.waiting.pop(0).act()]
    return []
