"""A fleet of real processes on a Backlog.md board, whose agents say that they started and then sleep."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from bench.ground import Ground
from tests.e2e.fleet import Fleet
from tests.waiting import until

# As an installation runs by default; the fleet of the tests has shorter ones.
DEFAULT_CLOCKS = {
    "STATIONKEEPER_LEASE_SECONDS": "30",
    "STATIONKEEPER_RENEWAL_SECONDS": "2",
    "STATIONKEEPER_GRACE_SECONDS": "5",
    "STATIONKEEPER_REQUEUE_SECONDS": "10",
}
# Longer than any benchmark; the supervisor ends it.
_AGENT = """
cat > /dev/null
echo "$STATIONKEEPER_ISSUE_IDENTIFIER $$" >> "$WITNESS"
exec sleep 3600
"""
_PATIENCE_SECONDS = 60.0


@contextlib.contextmanager
def fleet(ground: Ground, cards: int, *, max_agents: int) -> Iterator[Fleet]:
    """A fleet with so many cards, of which so many may be worked on at once; no process of it is started yet."""
    made = Fleet(ground.folder(), ground.database_url(), ground.redis_url(), max_agents=max_agents)
    made.set_up(cards)
    (made.folder / "agent.sh").write_text(_AGENT)
    try:
        yield made
    finally:
        made.stop()


def started(of: Fleet, number: int) -> list[int]:
    """The pids of a card's agents, in the order in which they started."""
    lines = (line.split() for line in of.witness.read_text().splitlines())
    return [int(words[1]) for words in lines if words[0].lower() == f"t-{number}"]


def nth(of: Fleet, place: int) -> tuple[int, int]:
    """The agent that started as number `place` of all, from 1: its card and its pid."""
    until(
        lambda: len(of.witness.read_text().splitlines()) >= place,
        timeout_seconds=_PATIENCE_SECONDS,
        what=f"agent number {place}",
    )
    name, pid = of.witness.read_text().splitlines()[place - 1].split()
    return int(name.lower().removeprefix("t-")), int(pid)


def newest(of: Fleet, number: int, *, at_least: int = 1) -> int:
    """The pid of a card's newest agent, once so many have started."""
    until(
        lambda: len(started(of, number)) >= at_least,
        timeout_seconds=_PATIENCE_SECONDS,
        what=f"agent {at_least} of card {number}",
    )
    return started(of, number)[-1]
