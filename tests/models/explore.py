"""Exhaustive search of a small world: every order of every step that anybody can take.

A world is a hashable value; `moves` lists what can happen next, each as a sentence and the world that it leads to.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

World = TypeVar("World", bound=Hashable)
Moves = Callable[[World], Iterable[tuple[str, World]]]


@dataclass
class Explored(Generic[World]):
    """Every world that can be reached, with the shortest way to each; `wrong` is the first one that breaks the law."""

    start: World
    came_from: dict[World, tuple[str, World] | None] = field(default_factory=dict)
    wrong: World | None = None

    def __len__(self) -> int:
        """How many worlds there are."""
        return len(self.came_from)

    def story(self, world: World) -> str:
        """The shortest way from the start to `world`, one numbered line a step."""
        steps: list[str] = []
        while (step := self.came_from[world]) is not None:
            steps.append(step[0])
            world = step[1]
        return "\n".join(f"{number:3}. {step}" for number, step in enumerate(reversed(steps), start=1))


def explore(start: World, moves: Moves[World], *, is_wrong: Callable[[World], bool]) -> Explored[World]:
    """Breadth first through everything that can happen; stops at the first world that is wrong."""
    found = Explored(start, {start: None})
    waiting = deque([start])
    while waiting:
        world = waiting.popleft()
        if is_wrong(world):
            found.wrong = world
            return found
        for sentence, following in moves(world):
            if following not in found.came_from:
                found.came_from[following] = (sentence, world)
                waiting.append(following)
    return found


def restless(worlds: Iterable[World], calm: Moves[World], *, is_quiet: Callable[[World], bool]) -> list[World]:
    """The worlds from which calm moves alone do not lead to rest, in the order of `worlds`; empty is what one hopes for.

    Rest is the largest set of quiet worlds that calm moves never leave. When every world can reach it, every fair run of
    calm moves ends in it.
    """
    known = list(worlds)
    ahead = {world: [following for _, following in calm(world)] for world in known}
    behind: dict[World, list[World]] = {world: [] for world in known}
    for world, following in ahead.items():
        for step in following:
            behind[step].append(world)
    loud = {world for world in known if not is_quiet(world)}
    disturbed = _spread(loud, behind)
    at_rest = [world for world in known if world not in disturbed]
    settling = _spread(set(at_rest), behind)
    return [world for world in known if world not in settling]


def _spread(worlds: set[World], behind: Mapping[World, list[World]]) -> set[World]:
    """These worlds and every world from which one of them can be reached."""
    reached, waiting = set(worlds), list(worlds)
    while waiting:
        for world in behind[waiting.pop()]:
            if world not in reached:
                reached.add(world)
                waiting.append(world)
    return reached
