"""Exhaustive search of a small world: every order of every step that anybody can take.

A world is a hashable value. What can happen next comes in two kinds: calm moves, which go on by themselves, and
disturbances (a person's hand, a fault), which need not happen. Each is a sentence and the world that it leads to.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

World = TypeVar("World", bound=Hashable)
Moves = Callable[[World], Iterable[tuple[str, World]]]


@dataclass
class Explored(Generic[World]):
    """Every world that can be reached, nearest first. A world's number is its place in `worlds`.

    `came_from` is the step that first led to each; `calm` the numbers of the worlds that calm moves lead to; `wrong`
    the first world that breaks the law, after which nothing was looked at.
    """

    worlds: list[World] = field(default_factory=list)
    came_from: list[tuple[str, int]] = field(default_factory=list)
    calm: list[list[int]] = field(default_factory=list)
    wrong: int | None = None

    def story(self, number: int) -> str:
        """The shortest way from the start to a world, one numbered line a step."""
        steps: list[str] = []
        while number:
            step, number = self.came_from[number]
            steps.append(step)
        return "\n".join(f"{place:3}. {step}" for place, step in enumerate(reversed(steps), start=1))

    def restless(self, is_quiet: Callable[[World], bool]) -> list[int]:
        """The worlds from which calm moves alone do not lead to rest; none is what one hopes for.

        Rest is the largest set of quiet worlds that calm moves never leave. When it can be reached from everywhere,
        every fair run of calm moves ends in it.
        """
        behind: list[list[int]] = [[] for _ in self.worlds]
        for number, ahead in enumerate(self.calm):
            for following in ahead:
                behind[following].append(number)
        disturbed = _spread((number for number, world in enumerate(self.worlds) if not is_quiet(world)), behind)
        settling = _spread((number for number in range(len(self.worlds)) if not disturbed[number]), behind)
        return [number for number, settles in enumerate(settling) if not settles]


def explore(
    start: World, calm: Moves[World], disturbances: Moves[World] | None = None, *, is_wrong: Callable[[World], bool]
) -> Explored[World]:
    """Breadth first through everything that can happen, up to the first world that is wrong."""
    found = Explored([start], [("", 0)])
    numbers = {start: 0}

    def number_of(step: tuple[str, World], before: int) -> int:
        sentence, world = step
        if world not in numbers:
            numbers[world] = len(found.worlds)
            found.worlds.append(world)
            found.came_from.append((sentence, before))
        return numbers[world]

    for number, world in enumerate(found.worlds):  # the list grows while we walk along it
        if is_wrong(world):
            found.wrong = number
            return found
        found.calm.append([number_of(step, number) for step in calm(world)])
        for step in disturbances(world) if disturbances is not None else ():
            number_of(step, number)
    return found


def _spread(numbers: Iterable[int], behind: Sequence[Sequence[int]]) -> list[bool]:
    """For each world whether it is one of `numbers`, or one of them can be reached from it."""
    reached = [False] * len(behind)
    waiting = list(numbers)
    for number in waiting:
        reached[number] = True
    while waiting:
        for number in behind[waiting.pop()]:
            if not reached[number]:
                reached[number] = True
                waiting.append(number)
    return reached
