"""One run: a story with several mischiefs at calls that a seed chooses, then rest, then everything is looked at."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.faults import stable, stories
from tests.faults.tripwire import Call, Fault, Tripwire
from tests.stage import Stage
from tests.stale import mischief
from tests.stale.mischief import Trouble
from tests.stale.stamps import Show, Shown, exact
from tests.world import NeverQuiet, World

# About as many calls of the tracker as the longest story makes, rest included.
LONGEST_STORY = 45
MOST_MISCHIEFS = 4

_TEXTS = """
    select distinct on (item.item_id, outbox.key) item.item_id, outbox.key, outbox.body
    from outbox join item on item.key = outbox.item_key
    where outbox.act = 'comment' and outbox.status = 'sent' order by item.item_id, outbox.key, outbox.seq desc
"""
# A comment that nobody will send any more: no person was asked, and nothing stands on the card instead.
_LOST = """
    select item.item_id, lost.body from outbox lost join item on item.key = lost.item_key
    where lost.act = 'comment' and lost.status = 'parked'
"""


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its seed has it; the same for ever."""

    seed: int
    story: str
    at: Mapping[int, str]

    @staticmethod
    def of(seed: int) -> Run:
        """The run of a seed."""
        chance = random.Random(seed)
        calls = sorted(chance.sample(range(LONGEST_STORY), chance.randint(1, MOST_MISCHIEFS)))
        kinds = sorted(mischief.ALL)
        return Run(seed, chance.choice(sorted(stories.STORIES)), {call: chance.choice(kinds) for call in calls})


@dataclass(slots=True)
class TrackerWire(Tripwire):
    """A wire across the tracker alone; it remembers the board at each call."""

    trouble: Trouble | None = None
    show: Show = exact
    compares: bool = True

    def wrap(self, pid: int, name: str, door: Any) -> Any:
        """Other doors are as they are."""
        if name != "tracker":
            return door
        return Shown(Tripwire.wrap(self, pid, name, door), self.show, compares=self.compares)

    def done(self) -> int:
        """How many of its mischiefs have happened."""
        return sum(call < len(self.calls) for call in self.faults)

    def pass_through(self, pid: int, name: str, do: Callable[[], Any], on: Callable[[Any], Any]) -> Any:
        """Remember the board, and let happen what the plan says."""
        if self.trouble is not None:
            self.trouble.past.look()
        return Tripwire.pass_through(self, pid, name, do, on)


def play(stage: Stage, run: Run, show: Show = exact, *, compares: bool = True) -> list[str]:
    """What is wrong with the world after it; empty: nothing.

    `show`: what its tracker's stamps say; without `compares` it promises no compare-and-set, and is read back.
    """
    world, wire = _begin(stage, run, show, compares=compares)
    trouble = wire.trouble
    assert trouble is not None
    stories.STORIES[run.story].tell(world)
    trouble.end()
    try:
        _come_to_rest(world, trouble, wire)
    except NeverQuiet as restless:
        return [str(restless), *judge(world, trouble)]
    return judge(world, trouble)


def looks(stage: Stage, story: str, at: Mapping[int, str] | None = None) -> list[int]:
    """The numbers of the calls of a story, rest included, that look at cards by id, when no more than that happens."""
    world, wire = _begin(stage, Run(0, story, at or {}))
    stories.STORIES[story].tell(world)
    world.run_until_quiet()
    return [number for number, name in enumerate(wire.calls) if name == mischief.BY_ID]


def _begin(stage: Stage, run: Run, show: Show = exact, *, compares: bool = True) -> tuple[World, TrackerWire]:
    wire = TrackerWire(show=show, compares=compares)
    workflow = stories.workflow_of(stories.STORIES[run.story])
    world = stage.world(workflow=workflow, wrap=wire.wrap, believes_supervisors=bool(run.seed % 2))
    wire.world, wire.trouble = world, mischief.begin(world)
    wire.faults = {call: _fault(kind, wire.trouble) for call, kind in run.at.items()}
    return world, wire


def _come_to_rest(world: World, trouble: Trouble, wire: TrackerWire) -> None:
    """A column that is renamed on the way is named back, and a world is not at rest by a look that lied."""
    done = -1
    while trouble.undo or done != wire.done():
        trouble.end()
        done = wire.done()
        try:
            world.run_until_quiet()
        except NeverQuiet:
            if not trouble.undo:
                raise


def _fault(kind: str, trouble: Trouble) -> Fault:
    def fault(call: Call) -> Any:
        return mischief.ALL[kind](call, trouble)

    return fault


def judge(world: World, trouble: Trouble) -> list[str]:
    """Overwritten decisions, doubled comments, lost writes, and whatever keeps the world from what its board asks."""
    found = [what for what in stable.violations(world) if not _excused(what, trouble)]
    return [*found, *_lost_writes(world, trouble)]


def _excused(what: str, trouble: Trouble) -> bool:
    """What nobody could know or keep.

    The present, where the tracker shows the past by id; that a card was not taken away, where it does so twice, or is
    there, where it twice does not show it; a comment that a person threw away; that a card went out and in between two
    looks, when it stands where its run began.
    """
    if trouble.went_out_and_in and "where a person put it during the run" in what:
        return True
    if trouble.comments_deleted and "says none of" in what:
        return True
    if trouble.lies_by_id and "before its admission" in what:
        return True
    if trouble.times_hidden > 1 and ("although nobody touched the card" in what or "turns finished it" in what):
        return True
    return trouble.lies_by_id > 1 and "although nobody took the card away" in what


def _lost_writes(world: World, trouble: Trouble) -> Iterator[str]:
    for item_id, body in world.rows(_LOST):
        if world.state(item_id) is not None:
            yield f"{item_id}: a comment was given up: {body!r}"
    for item_id, key, body in world.rows(_TEXTS):
        if world.state(item_id) is None or (trouble.comments_deleted and item_id == mischief.CARD):
            continue
        said = [comment.body for comment in world.board.said(item_id) if comment.key == key]
        if len(said) != 1:
            yield f"{item_id}: {len(said)} comments under {key}, after one was sent: {body!r}"
