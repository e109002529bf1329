"""What may happen at a call: the process dies, the door fails, a person acts, another process goes on meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.faults.tripwire import Call, Fault
from tests.world import LONG_SECONDS, World

# The card on which a person acts.
CARD = "A-1"
# Longer than a tick may be silent, shorter than a lease.
TICK_LOST_SECONDS = 11.0


def dies_before(call: Call) -> Any:
    """The process dies, and the call was never made."""
    return call.die()


def dies_after(call: Call) -> Any:
    """The process dies once the call has been made."""
    call.do()
    return call.die()


def fails(call: Call) -> Any:
    """The door is away, and the call was never made."""
    return call.fail(sent=False)


def loses_its_answer(call: Call) -> Any:
    """The call is made, and its answer is lost."""
    if call.name == "agent.start":
        return call.fail(sent=False)  # the door's promise: who gets no session has no program running
    call.do()
    return call.fail(sent=True)


def redis_is_flushed(call: Call) -> Any:
    """FLUSHALL: every Redis lease and every message is gone."""
    call.world.flush_redis()
    return call.do()


def another_process_acts(call: Call) -> Any:
    """Another process ticks, takes turns and relays between this process's decision and its act."""
    call.meanwhile(_everything)
    return call.do()


def another_tick_begins(call: Call) -> Any:
    """The same after so long a silence that a tick of this process has lost its right."""
    call.meanwhile(lambda world: world.jump(TICK_LOST_SECONDS))
    return another_process_acts(call)


def freezes(call: Call) -> Any:
    """The process freezes for longer than any lease or claim; the others bring the world to rest; then it thaws."""
    frozen = call.process

    def meanwhile(world: World) -> None:
        world.silence(frozen, "frozen")
        world.processes.remove(frozen)
        world.hire()
        world.jump(LONG_SECONDS)
        world.run_until_quiet()
        world.processes.append(frozen)

    call.meanwhile(meanwhile)
    return call.do()


def a_person_closes(call: Call) -> Any:
    """A person says that the card is done."""
    call.world.close(CARD)
    return call.do()


def a_person_drags_away(call: Call) -> Any:
    """A person puts the card where nothing works on it."""
    call.world.drag(CARD, "Backlog")
    return call.do()


def a_person_drags_away_and_back(call: Call) -> Any:
    """A person puts the card away and, before anybody could look, back."""
    call.world.drag(CARD, "Backlog")
    call.world.drag(CARD, "Todo")
    return call.do()


def a_person_asks_for_rework(call: Call) -> Any:
    """A person puts the card in another active column."""
    call.world.drag(CARD, "Rework")
    return call.do()


def a_person_wants_it_done(call: Call) -> Any:
    """A person puts the card in the first active column, wherever it stands."""
    call.world.drag(CARD, "Todo")
    return call.do()


def a_person_deletes(call: Call) -> Any:
    """A person throws the card away."""
    call.world.delete(CARD)
    return call.do()


DEATHS: tuple[Fault, ...] = (dies_before, dies_after)
OUTAGES: tuple[Fault, ...] = (fails, loses_its_answer, redis_is_flushed)
RIVALS: tuple[Fault, ...] = (another_process_acts, another_tick_begins, freezes)
HANDS: tuple[Fault, ...] = (
    a_person_closes,
    a_person_drags_away,
    a_person_drags_away_and_back,
    a_person_asks_for_rework,
    a_person_wants_it_done,
    a_person_deletes,
)
ALL: Mapping[str, Fault] = {fault.__name__: fault for fault in (*DEATHS, *OUTAGES, *RIVALS, *HANDS)}


def _everything(world: World) -> None:
    before = world.process
    rival = world.hire()
    world.settle_down()
    world.processes.remove(rival)
    world.process = before
