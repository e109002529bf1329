"""Three times as many long turns as slots on one plain worker: turns that wait hold no thread, and ticks go on."""

from time import monotonic

import psycopg
import pytest

from tests.e2e.conftest import MakeFleet
from tests.e2e.fleet import Fleet
from tests.waiting import until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

SLOTS = 4
# A ring comes each second, so a listing is up to a second older than this.
INTERVAL_SECONDS = 4.0
# As long as several listings take: an hour would show no more.
WATCHED_SECONDS = 20.0
# Noticed by the next listing, carried out by the supervisor's next renewal, and then the signals' own pauses.
DEATH_SECONDS = INTERVAL_SECONDS + 6.0

SLEEPER = r"""
say() { printf '{"item":"%s","turn":"%s","fence":%s,"pid":%s,"event":"%s"}\n' "$STATIONKEEPER_ISSUE_IDENTIFIER" \
    "$STATIONKEEPER_TURN" "$STATIONKEEPER_FENCE" "$$" "$1" >> "$WITNESS"; }
cat > /dev/null
say start
exec sleep 3600
"""
AGE = "select extract(epoch from clock_timestamp() - list_began_at)::float8 from reconciler"


def oldest_listing(fleet: Fleet) -> float:
    """The greatest age of the last listing, in seconds, while we watch."""
    ages, end = [0.0], monotonic() + WATCHED_SECONDS
    with psycopg.connect(fleet.database_url.replace("+psycopg", ""), autocommit=True) as look:

        def is_over() -> bool:
            ages.extend(age for (age,) in look.execute(AGE).fetchall())
            return monotonic() > end

        until(is_over, timeout_seconds=WATCHED_SECONDS + 10, what="the end of the watch")
    return max(ages)


@pytest.mark.proves("H19", "H3", "H32")
def test_long_turns_beyond_the_slots_delay_no_tick_and_no_cancel(make_fleet: MakeFleet) -> None:
    """No listing is older than two intervals, a moved card's agent dies within its bound, and the next card starts."""
    cards = 3 * SLOTS
    fleet = make_fleet(cards, interval_ms=int(INTERVAL_SECONDS * 1000), max_agents=cards)
    (fleet.folder / "agent.sh").write_text(SLEEPER)
    fleet.worker("w1", STATIONKEEPER_TURN_SLOTS=str(SLOTS))
    fleet.beat()
    # On a busy machine beat took ten seconds to start, and nothing rang meanwhile: that is no tick's delay.
    until(lambda: "Sending due task" in fleet.log("beat"), timeout_seconds=60, what="beat at work")

    def running() -> list[int]:
        return [number for number in range(1, cards + 1) if fleet.agents(number)]

    until(lambda: len(running()) == SLOTS, timeout_seconds=60, what="an agent in every slot")
    assert oldest_listing(fleet) < 2 * INTERVAL_SECONDS
    moved = running()[0]
    fleet.drag(moved, "Done")
    until(lambda: not fleet.agents(moved), timeout_seconds=DEATH_SECONDS, what="the moved card's agent dead")
    until(lambda: len(running()) == SLOTS, timeout_seconds=20, what="the next card in the free slot")
    assert len(fleet.lines()) == SLOTS + 1
