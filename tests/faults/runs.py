"""Tells a story with faults in it, lets the world come to rest, and says what is wrong then."""

from __future__ import annotations

from collections.abc import Mapping

from tests.faults import stable, stories
from tests.faults.tripwire import Fault, Tripwire
from tests.stage import Stage
from tests.world import NeverQuiet, World


def golden(stage: Stage, name: str) -> list[str]:
    """The calls of a story in which nothing goes wrong; the world at its end is checked as well."""
    world, wire = begin(stage, name, {})
    story = stories.STORIES[name]
    story.tell(world)
    calls = list(wire.calls)
    assert rest(world) == []
    assert {card: world.state(card) for card in story.ends} == dict(story.ends)
    return calls


def begin(stage: Stage, name: str, faults: Mapping[int, Fault], *, word: bool = False) -> tuple[World, Tripwire]:
    """A world with a wire across its doors, before the story. `word`: a supervisor tells of its worker's death."""
    wire = Tripwire(faults)
    workflow = stories.workflow_of(stories.STORIES[name])
    world = stage.world(workflow=workflow, wrap=wire.wrap, believes_supervisors=word)
    wire.world = world
    return world, wire


def play(stage: Stage, name: str, faults: Mapping[int, Fault], *, word: bool = False) -> list[str]:
    """What is wrong with the world after a story with faults; empty: nothing."""
    world, _ = begin(stage, name, faults, word=word)
    stories.STORIES[name].tell(world)
    return rest(world)


def rest(world: World) -> list[str]:
    """Let it come to rest, and look."""
    try:
        world.run_until_quiet()
    except NeverQuiet as restless:
        return [str(restless), *stable.violations(world)]
    return stable.violations(world)
