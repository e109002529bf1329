"""Several hosts in one world: whose worker acts, whose queue a message is in, and what it is when one falls silent."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from tests.world import World


def take(world: World) -> tuple[UUID, int] | None:
    """The oldest message that anybody consumes, with a worker of its queue at the desk; what nobody takes stays."""
    for message in world.queue.waiting:
        if turn_to(world, world.queue.hosts.get(message[0])):
            world.queue.waiting.remove(message)
            return message
    return None


def turn_to(world: World, host: str | None) -> bool:
    """Let a process of this host act, the one that does already where it is one; False when there is none."""
    here = [process for process in world.processes if host in {None, process.worker.identity.host}]
    if here and world.process not in here:
        world.process = here[-1]
    return bool(here)


def vanish(world: World, host: str) -> None:
    """A host falls silent with all its processes, and nobody says that they are dead."""
    for process in [each for each in world.processes if each.worker.identity.host == host]:
        world.processes.remove(process)
        world.silence(process, "frozen")
