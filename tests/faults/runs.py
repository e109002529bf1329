"""Tells a story with faults in it, lets the world come to rest, and says what is wrong then."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from tests.faults import faults, stable, stories
from tests.faults.tripwire import Fault, Tripwire
from tests.stage import Stage
from tests.world import NeverQuiet, World

# About as many calls as the longest story makes.
LONGEST_STORY = 110


def golden(stage: Stage, name: str) -> list[str]:
    """The calls of a story in which nothing goes wrong; the world at its end is checked as well."""
    world, wire = begin(stage, name, {})
    story = stories.STORIES[name]
    story.tell(world)
    calls = list(wire.calls)
    assert rest(world) == []
    assert {card: world.state(card) for card in story.ends} == dict(story.ends)
    return calls


def begin(
    stage: Stage, name: str, at: Mapping[int, Fault], *, word: bool = False, left_out: frozenset[str] = frozenset()
) -> tuple[World, Tripwire]:
    """A world with a wire across its doors, before the story. `word`: a supervisor tells of its worker's death."""
    wire = Tripwire(at)
    workflow = stories.workflow_of(stories.STORIES[name])
    world = stage.world(left_out=left_out, workflow=workflow, wrap=wire.wrap, believes_supervisors=word)
    wire.world = world
    return world, wire


def play(
    stage: Stage, name: str, at: Mapping[int, Fault], *, word: bool = False, left_out: frozenset[str] = frozenset()
) -> list[str]:
    """What is wrong with the world after a story with faults; empty: nothing."""
    world, _ = begin(stage, name, at, word=word, left_out=left_out)
    stories.STORIES[name].tell(world)
    return rest(world)


def rest(world: World) -> list[str]:
    """Let it come to rest, and look."""
    try:
        world.run_until_quiet()
    except NeverQuiet as restless:
        return [str(restless), *stable.violations(world)]
    return stable.violations(world)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two faults in one story, as a seed chose them."""

    seed: int
    story: str
    first: tuple[int, str]
    second: tuple[int, str]
    word: bool

    def faults(self) -> dict[int, Fault]:
        """By the number of the call. A second fault may lie beyond the story, where the world comes to rest."""
        return {number: faults.ALL[kind] for number, kind in (self.first, self.second)}


def pair(seed: int) -> Pair:
    """The pair of a seed."""
    chance = random.Random(seed)
    kinds = sorted(faults.ALL)
    first = chance.randrange(LONGEST_STORY)
    second = first + chance.randint(1, LONGEST_STORY // 2)
    story = chance.choice(sorted(stories.STORIES))
    return Pair(seed, story, (first, chance.choice(kinds)), (second, chance.choice(kinds)), chance.random() < 1 / 2)


def play_pair(stage: Stage, chosen: Pair, *, costly: bool = False) -> list[str]:
    """What is wrong with the world after a pair. `costly`: on a board whose whole listing costs."""
    world, _ = begin(stage, chosen.story, chosen.faults(), word=chosen.word)
    world.board.costly = costly
    stories.STORIES[chosen.story].tell(world)
    return rest(world)
