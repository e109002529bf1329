"""The stories that are told again and again, each time with something else going wrong at another call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.domain.turn import Outcome
from orchestrator.ports.agent import AgentTurn
from tests.memory.workflows import workflow
from tests.world import World

# After a failure the first retry is due after ten seconds, and so is a message that nobody answered.
SOON_SECONDS = 11.0


@dataclass(frozen=True, slots=True)
class Story:
    """What happens when all goes well, and where each card stands in the end."""

    tell: Callable[[World], None]
    ends: Mapping[str, str]
    limits: Mapping[str, Any]


def one_card(world: World) -> None:
    """A card is worked on; the board is looked at and written to while the agent works."""
    world.add("A-1")
    world.agents.during = _once(lambda: (world.relay(), world.tick()))
    world.tick()
    world.deliver()
    world.relay()
    world.tick()


def two_cards_one_slot(world: World) -> None:
    """The first card fails once, so the second has its turn in between; write-backs are late."""
    world.add("A-1")
    world.add("A-2")
    world.script("A-1", Outcome.FAILED)
    world.tick()
    world.deliver()
    world.tick()
    world.deliver()
    world.relay()
    world.jump(SOON_SECONDS)
    world.tick()
    world.deliver()
    world.relay()


def closed_in_the_middle(world: World) -> None:
    """A person closes the card while its agent works."""
    world.add("A-1")
    world.agents.during = _once(lambda: (world.relay(), world.close("A-1"), world.tick()))
    world.tick()
    world.deliver()
    world.relay()
    world.tick()


def asked_again(world: World) -> None:
    """The agent goes on for a second turn; then a person wants the reviewed card done once more."""
    world.add("A-1")
    world.script("A-1", Outcome.CONTINUE)
    world.tick()
    world.deliver()
    world.relay()
    world.jump(1)
    world.tick(full=False)
    world.deliver()
    world.relay()
    if world.state("A-1") == "In Review":
        world.drag("A-1", "Todo")
    world.tick()
    world.deliver()
    world.relay()


def lost_and_doubled(world: World) -> None:
    """The first message is lost; the second offer and the first one are both delivered."""
    world.add("A-1")
    world.tick()
    world.queue.flush()
    world.jump(SOON_SECONDS)
    world.tick()
    world.deliver()
    for turn_id, fence in tuple(world.queue.published):
        world.deliver_one(turn_id, fence)
    world.relay()


STORIES: Mapping[str, Story] = {
    "one card": Story(one_card, {"A-1": "In Review"}, {}),
    "two cards": Story(two_cards_one_slot, {"A-1": "In Review", "A-2": "In Review"}, {"max_concurrent": 1}),
    "closed": Story(closed_in_the_middle, {"A-1": "Done"}, {}),
    "again": Story(asked_again, {"A-1": "In Review"}, {}),
    "doubled": Story(lost_and_doubled, {"A-1": "In Review"}, {}),
}


def workflow_of(story: Story) -> Any:
    """The workflow under which the story happens."""
    return workflow(**story.limits)


def _once(act: Callable[[], object]) -> Callable[[AgentTurn], None]:
    """Something that happens in the first run only."""
    left = [act]

    def during(_turn: AgentTurn) -> None:
        while left:
            left.pop()()

    return during
